"""Both modes side by side, for the eye and for the encoder."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from orcalign.encoders import make_encoder
from orcalign.encoders.protocol import Features
from orcalign.encoders.resize import resize
from orcalign.envs.rendering import RENDER_MODES, make_renderer
from orcalign.files import atomic_file, require_writable

Frames = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Comparison:
    """How alike a task's pictures are in both modes; similarities are cosines of encoder features."""

    task: str
    frames: dict[str, Frames]
    """By mode, [T,S,S,3] of the same moments of one expert episode, all at the size of `fast`."""
    same: float
    """Mean similarity of `paper` and `fast` at the same moment."""
    other: float
    """Mean similarity of `paper` frames of different moments: what a real change of the scene costs."""
    agreement: float
    """Correlation of the distances between moments in `paper` with those in `fast`: 1 is the same metric."""
    pixels: float
    """Mean absolute difference of the pictures, out of 255."""


def compare(task: str, camera: str, moments: int = 10, steps: int = 60) -> Comparison:
    """Draw `moments` moments of a Meta-world expert's first `steps` agent steps in both modes, and compare them.

    >>> result = compare("door-close", "corner", moments=3, steps=60)
    >>> result.frames["fast"].shape, result.same > 0.8, result.agreement > 0.8
    ((3, 128, 128, 3), True, True)
    """
    drawn = _episode(task, camera, moments, steps)
    encoder = make_encoder("efficientnet-lite0")
    paper, fast = (_unit(encoder(drawn[mode])) for mode in ("paper", "fast"))
    apart = ~np.eye(len(paper), dtype=bool)
    # Both cosines between moments, without the diagonal of ones that would flatter the correlation.
    between = [(features @ features.T)[apart] for features in (paper, fast)]
    size = RENDER_MODES["fast"]
    shown = {mode: resize(frames, size) for mode, frames in drawn.items()}
    return Comparison(
        task,
        shown,
        same=float((paper * fast).sum(axis=1).mean()),
        other=float(between[0].mean()),
        agreement=float(np.corrcoef(np.stack(between))[0, 1]),
        pixels=float(np.abs(shown["paper"].astype(int) - shown["fast"]).mean()),
    )


def comparison_sheet(tasks: dict[str, str], path: Path, shown: Sequence[int] = (3, 9)) -> list[Comparison]:
    """Compare tasks (name to camera) and draw paper, fast and their difference into a PNG, a row for each task.

    >>> comparison_sheet({}, Path("/proc/no/sheet.png"))
    Traceback (most recent call last):
        ...
    FileNotFoundError: Cannot write '/proc/no/sheet.png' (no such file or directory); choose a folder that ...
    """
    require_writable(path)
    results = [compare(task, camera) for task, camera in tasks.items()]
    _draw(results, path, shown)
    return results


def _unit(features: Features) -> Features:
    unit: Features = features / np.linalg.norm(features, axis=1, keepdims=True)
    return unit


def _episode(task: str, camera: str, moments: int, steps: int) -> dict[str, Frames]:
    env, policy, observation = expert_and_env(task)
    model, data = env.unwrapped.model, env.unwrapped.data
    flip = camera.startswith("corner")
    renderers = {mode: make_renderer(model, data, camera, mode, flip=flip) for mode in RENDER_MODES}
    wanted = np.linspace(1, steps, moments).round().astype(int)
    frames: dict[str, list[Frames]] = {mode: [] for mode in RENDER_MODES}
    for step in range(1, steps + 1):
        for _ in range(2):
            observation = env.step(expert_action(policy, observation))[0]
        if step in wanted:
            for mode, renderer in renderers.items():
                frames[mode].append(renderer.render())
    for renderer in renderers.values():
        renderer.close()
    env.close()
    return {mode: np.stack(pictures) for mode, pictures in frames.items()}


def expert_and_env(task: str, seed: int = 0) -> tuple[Any, Any, npt.NDArray[np.float64]]:
    """Meta-world as it comes: the environment, its scripted expert and the first observation [39].

    >>> env, policy, observation = expert_and_env("door-close")
    >>> observation.shape
    (39,)
    """
    import gymnasium

    with warnings.catch_warnings():
        # Gymnasium's checker finds fault with bounds that Meta-world has on purpose.
        warnings.simplefilter("ignore")
        import metaworld  # noqa: F401  (registers its environments)
        from metaworld.policies import ENV_POLICY_MAP

        env = gymnasium.make("Meta-World/MT1", env_name=f"{task}-v3", seed=seed, disable_env_checker=True)
        observation, _ = env.reset(seed=seed)
    expert: Any = ENV_POLICY_MAP[f"{task}-v3"]
    return env, expert(), observation


def expert_action(policy: Any, observation: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """What the scripted expert does, within the bounds [-1, 1] of an action [4].

    >>> env, policy, observation = expert_and_env("door-close")
    >>> expert_action(policy, observation).shape
    (4,)
    """
    with warnings.catch_warnings():
        # It warns of its own constants being above the bounds.
        warnings.simplefilter("ignore")
        # Some experts write into their argument.
        action = policy.get_action(observation.copy())
    clipped: npt.NDArray[np.float32] = np.clip(action, -1, 1).astype(np.float32)
    return clipped


def _draw(results: list[Comparison], path: Path, shown: Sequence[int]) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from PIL import Image

    kinds = ("paper", "fast", "difference")
    columns = len(shown) * len(kinds)
    figure = Figure(figsize=(1.32 * columns + 0.1, 1.52 * len(results) + 0.3), dpi=100)
    axes = figure.subplots(len(results), columns, squeeze=False)
    for row, result in enumerate(results):
        paper, fast = (result.frames[mode] for mode in ("paper", "fast"))
        off = np.abs(paper.astype(int) - fast).astype(np.uint8)
        for column, axis in enumerate(axes[row]):
            moment, kind = shown[column // 3], kinds[column % 3]
            axis.imshow({"paper": paper, "fast": fast, "difference": off}[kind][moment], interpolation="nearest")
            axis.set_axis_off()
            if row == 0:
                axis.set_title(kind, fontsize=8, pad=15)
        label = f"{result.task}: same moment {result.same:.3f}, other moments {result.other:.3f}, "
        label += f"agreement {result.agreement:.3f}"
        axes[row][0].text(0, 1.03, label, fontsize=7, transform=axes[row][0].transAxes)
    figure.subplots_adjust(0.005, 0.005, 0.995, 0.97, 0.02, 0.14)
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    sheet = Image.fromarray(np.asarray(canvas.buffer_rgba())[:, :, :3].copy())
    with atomic_file(path) as part:
        sheet.save(part, "PNG", optimize=True)
