"""What a joint predictor reads, drawn: skeletons over frames that it has not learned from, and how far off they are."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from orcalign.costs.predicted.fitting import held_out
from orcalign.costs.predicted.joints import JointPredictor
from orcalign.encoders.resize import resize
from orcalign.envs import find_suite, find_task
from orcalign.report.explainer.document import PagePart, render_document
from orcalign.report.explainer.embedding import embed_frames, image_tags

if TYPE_CHECKING:
    from orcalign.envs.posed_data import PosedData

SHOWN, SIDE = 15, 256
TRUE, READ = (255, 255, 255), (213, 94, 0)
STYLE = """
.frames { display: grid; grid-template-columns: repeat(auto-fill, minmax(200px, 1fr)); gap: 6px; }
.frames img { width: 100%; height: auto; border-radius: 4px; } td, th { padding: 0 1rem 0 0; text-align: left; }
"""


def draw_skeleton(
    picture: npt.NDArray[np.uint8],
    places: npt.NDArray[Any],
    projection: npt.NDArray[np.float64],
    bones: tuple[tuple[int, int], ...],
    colour: tuple[int, int, int] = READ,
) -> None:
    """Draw bones between places [K, 3] in metres into a picture [S, S, 3]; `projection` as of `camera_projection`.

    >>> picture = np.zeros((8, 8, 3), np.uint8)
    >>> flat = np.array([[1.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
    >>> draw_skeleton(picture, np.array([[0.1, 0.5, 0], [0.9, 0.5, 0]]), flat, ((0, 1),))
    >>> int((picture[..., 0] > 0).sum(axis=1).argmax())
    4
    """
    side = len(picture)
    seen = np.column_stack([places, np.ones(len(places))]) @ projection.T
    at = seen[:, :2] / np.where(np.abs(seen[:, 2:]) > 1e-6, seen[:, 2:], np.nan) * side
    width = max(1, side // 128)
    for a, b in bones:
        if not np.isfinite(at[[a, b]]).all():
            continue
        steps = int(min(4 * side, np.abs(at[b] - at[a]).max() * 2 + 2))
        line = np.floor(at[a] + np.linspace(0, 1, steps)[:, None] * (at[b] - at[a])).astype(int)
        for dx in range(width):
            for dy in range(width):
                x, y = line[:, 0] + dx, line[:, 1] + dy
                inside = (x >= 0) & (x < side) & (y >= 0) & (y < side)
                picture[y[inside], x[inside]] = colour


def scene_projection(task: str) -> npt.NDArray[np.float64]:
    """[3, 4] From metres to where that is in the task's pictures."""
    from orcalign.envs.rendering.projection import camera_projection

    spec = find_task(task)
    suite = find_suite(spec.suite)
    env, _ = suite.build(spec, False, None)
    world: Any = env.unwrapped
    assert spec.camera is not None
    return camera_projection(world.model, world.data, spec.camera, flip=spec.camera in suite.upside_down)


def over_frames(
    predictor: JointPredictor, frames: npt.NDArray[np.uint8], truth: npt.NDArray[Any] | None = None, side: int = SIDE
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[Any]]:
    """Frames [T, side, side, 3] with what is read drawn over them (and, in white, the true places [T, K, 3]); and the
    confidence [T]."""
    task = str(predictor.about["task"])
    bones = find_suite(find_task(task).suite).bones
    projection, features = scene_projection(task), predictor(frames)
    pictures = resize(np.ascontiguousarray(frames), side).copy()
    for t, places in enumerate(predictor.places(features)):
        if truth is not None:
            draw_skeleton(pictures[t], truth[t], projection, bones, TRUE)
        draw_skeleton(pictures[t], places, projection, bones)
    return pictures, features[:, -1]


def draw_curve(errors: Sequence[float]) -> str:
    """Errors in metres, one an epoch, as an SVG from 0 up.

    >>> "0.20 m at first, 0.10 m in the end" in draw_curve([0.2, 0.1])
    True
    """
    top = max(*errors, 1e-9)
    places = (f"{1000 * k / max(len(errors) - 1, 1):.0f},{120 - 115 * one / top:.1f}" for k, one in enumerate(errors))
    words = f"{errors[0]:.2f} m at first, {errors[-1]:.2f} m in the end, {min(errors):.2f} m at best"
    return (
        f'<figure><svg viewBox="0 0 1000 120" width="100%" role="img" aria-label="{words}"><polyline fill="none" '
        f'stroke="#d55e00" stroke-width="2" points="{" ".join(places)}"/></svg>'
        f"<figcaption>{words}</figcaption></figure>"
    )


def skeleton_page(predictor: JointPredictor, data: PosedData, errors: Mapping[str, tuple[float, float]]) -> str:
    """One self-contained HTML page of frames that were held out."""
    rows = np.flatnonzero(held_out(len(data), data.groups))
    rows = rows[np.linspace(0, len(rows) - 1, min(SHOWN, len(rows))).astype(int)]
    K = len(predictor.joints)
    truth = data.entities.read(data.states[rows])[:, : 3 * K].reshape(len(rows), K, 3) / 100
    pictures, trust = over_frames(predictor, data.frames[rows], truth)
    words = [f"confidence {one:.2f}" for one in trust]
    tags = "".join(
        f"<figure>{image_tags(embed_frames(pictures[k : k + 1]), [word])}<figcaption>{word}</figcaption></figure>"
        for k, word in enumerate(words)
    )
    lines = "".join(
        f"<tr><td>{html.escape(name)}</td><td>{median:.2f}</td><td>{most:.2f}</td></tr>"
        for name, (median, most) in errors.items()
    )
    table = f"<table><tr><th></th><th>median</th><th>90%</th></tr>{lines}</table>"
    said = (
        f"Rollouts held out from {len(data):,} frames, {predictor.name}. White: where the joints are. Orange: where "
        "they are read. Errors in centimetres."
    )
    curve = predictor.about.get("curve", ())
    drawn = f"<h2>Mean error after each epoch</h2>{draw_curve(curve)}" if curve else ""
    part = PagePart(f'<div class="frames">{tags}</div><h2>How far off</h2>{table}{drawn}', style=STYLE)
    return render_document("joints", "Joints as they are read", said, [part])
