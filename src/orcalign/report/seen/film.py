"""What an eye sees in a demo, as pictures of one size: the frame with its marks, plans in centimetres, words."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from orcalign.report.seen.demo import SeenDemo
from orcalign.report.seen.verdict import verdict
from orcalign.video.write import write_mp4

DOTS = 100
"""Pixels of an inch."""
COLOURS = ("#56b4e9", "#e69f00", "#cc79a7", "#d55e00")
GOAL = "#2fd09a"
GRAVE = {"good": "#00734f", "doubt": "#8a5a00", "bad": "#b3200a"}
SLOWEST, FASTEST = 2.0, 10.0
"""Frames per second of the mp4: slow enough to read."""


def write_film(seen: SeenDemo, path: Path) -> None:
    """An mp4 with a picture for each demo frame, whole or not at all."""
    write_mp4(path, film(seen), fps=float(np.clip(seen.demo.fps / 4, SLOWEST, FASTEST)))


def film(seen: SeenDemo) -> Iterator[npt.NDArray[np.uint8]]:
    """One picture [H,W,3] after the other."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 5.2), dpi=DOTS, facecolor="white")
    canvas: Any = FigureCanvasAgg(figure)
    for j in range(len(seen.described)):
        figure.clear()
        _draw(figure, seen, j)
        canvas.draw()
        yield np.asarray(canvas.buffer_rgba())[..., :3].copy()


def _draw(figure: Any, seen: SeenDemo, j: int) -> None:
    plans = _plans(seen)
    axes = figure.subplots(1, 1 + len(plans), width_ratios=[1.25, *(1.0 for _ in plans)], squeeze=False)[0]
    figure.subplots_adjust(left=0.02, right=0.985, top=0.84, bottom=0.27, wspace=0.2)
    picture = seen.demo.frames[j]
    H, W = picture.shape[:2]
    axes[0].imshow(picture, extent=(0, W, H, 0), interpolation="bilinear")
    axes[0].set(xlim=(0, W), ylim=(H, 0), xticks=[], yticks=[])
    axes[0].set_title(f"demo frame {j} of {len(seen.described) - 1}", fontsize=10)
    for k, part in enumerate(seen.places):
        x, y, radius = seen.spots[j, k]
        if np.isfinite(x):
            _mark(axes[0], x * W, y * H, radius * W, *_look(seen, part.name, k, j))
    for axis, (title, across, up) in zip(axes[1:], plans, strict=True):
        _plan(axis, seen, j, title, across, up)
    for k, one in enumerate(verdict(seen)[:3]):
        words = textwrap.shorten(one.text, 165)
        figure.text(0.02, 0.965 - 0.042 * k, words, fontsize=9, color=GRAVE[one.kind], va="center")
    for k, (part, words) in enumerate(zip(seen.described.entities.parts, seen.words(j), strict=True)):
        named = [place.name for place in seen.places]
        colour = _colour(part.name, named.index(part.name)) if part.name in named else "black"
        row, column = k % 3, k // 3
        figure.text(0.02 + 0.33 * column, 0.17 - 0.055 * row, "■ ", fontsize=10, color=colour)
        figure.text(0.04 + 0.33 * column, 0.17 - 0.055 * row, words, fontsize=9, family="monospace")


def _plans(seen: SeenDemo) -> list[tuple[str, int, int]]:
    """Title, axis across and axis up of each plan: from the side, against the way that the hand goes farthest."""
    dims = len(seen.described.entities.hand) if seen.places else 0
    if dims == 2:
        return [("the plane", 0, 1)]
    if dims != 3:
        return []
    ways = np.ptp(seen.described.values[:, seen.places[0].at], axis=0)
    return [("from above", 0, 1), ("from the side", int(ways[1] >= ways[0]), 2)]


def _plan(axis: Any, seen: SeenDemo, j: int, title: str, across: int, up: int) -> None:
    told = seen.described
    for k, part in enumerate(seen.places):
        places = told.values[:, part.at][:, [across, up]]
        axis.plot(*places.T, color=_colour(part.name, k), alpha=0.45, linewidth=1)
        x, y = places[j].tolist()
        scale = float(told.scales[j, told.entities.parts.index(part)])
        _mark(axis, x, y, scale, *_look(seen, part.name, k, j))
    low, high = (
        np.min([end(told.values[:, part.at], axis=0) * sign for part in seen.places], axis=0)[[across, up]] * sign
        for end, sign in ((np.min, 1.0), (np.max, -1.0))
    )
    middle, half = (low + high) / 2, max(float((high - low).max()) / 2 * 1.1, 3.0) + 1.0
    axis.set(xlim=(middle[0] - half, middle[0] + half), ylim=(middle[1] - half, middle[1] + half), aspect="equal")
    axis.set_title(f"{title}, cm", fontsize=10)
    axis.tick_params(labelsize=8)
    axis.grid(alpha=0.25)


def _colour(name: str, k: int) -> str:
    return GOAL if name == "goal" else COLOURS[min(k, len(COLOURS) - 1)]


def _look(seen: SeenDemo, name: str, k: int, j: int) -> tuple[str, bool, str]:
    """Colour, whether it is believed, and the mark."""
    believed = bool(seen.described.believed[j]) or not name.startswith("object")
    return _colour(name, k), believed, "D" if name == "goal" else "o"


def _mark(axis: Any, x: float, y: float, radius: float, colour: str, believed: bool, mark: str) -> None:
    """A dot in a ring of the expected error; dashed and hollow if it is not believed."""
    from matplotlib.patches import Circle

    style = "-" if believed else (0, (2, 2))
    for width, shade in ((3.2, "#000a"), (1.6, colour)):
        axis.add_patch(Circle((x, y), radius, fill=False, linewidth=width, edgecolor=shade, linestyle=style))
    fill = colour if believed else "none"
    axis.plot([x], [y], mark, markersize=5, markerfacecolor=fill, markeredgecolor="black" if believed else colour)
