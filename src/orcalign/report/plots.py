"""Pictures of one file: which matcher is fooled by what, and videos under one another."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from orcalign.files import write_file
from orcalign.rewards import ExploitTable
from orcalign.video import DemoSet, VideoOptions, is_demo, load_demo, read_video

KINDS = ("png", "svg", "pdf")
LONGEST = 320
"""Longer side, in pixels, at which videos are read."""
WIDTH = 1.3
"""Of a frame in a strip, in inches."""


def require_kind(path: Path) -> str:
    """The kind of picture that a file's ending asks for.

    >>> require_kind(Path("a.PNG"))
    'png'
    """
    kind = path.suffix.lower().removeprefix(".")
    if kind not in KINDS:
        raise ValueError(f"'{path}' ends in {path.suffix!r}; a plot can be {', '.join('.' + k for k in KINDS)}.")
    return kind


def plot_exploits(table: ExploitTable, path: Path) -> None:
    """Draw the margins [M, A]: blue where the true rollout wins, orange and marked where it does not."""
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure

    rows, columns = len(table.matchers), len(table.alterations)
    figure = Figure(figsize=(2.4 + 1.25 * columns, 1.9 + 0.5 * rows), layout="constrained")
    axis = figure.subplots()
    # Two ends that colour-blind people can tell apart; the mark says it again.
    colours = LinearSegmentedColormap.from_list("margin", ["#E69F00", "#FBF3DE", "#0072B2"])
    picture = axis.imshow(table.margin, cmap=colours, vmin=-1, vmax=1, aspect="auto")
    for m in range(rows):
        for a in range(columns):
            margin, fooled = table.margin[m, a], table.fooled[m, a]
            ink = "white" if margin > 0.6 else "black"
            text = f"✘ {margin:+.2f}" if fooled else f"{margin:+.2f}"
            weight = "bold" if fooled else "normal"
            axis.text(a, m, text, ha="center", va="center", fontsize=11, color=ink, fontweight=weight)
    axis.set_xticks(range(columns), table.alterations, fontsize=11)
    axis.set_yticks(range(rows), table.matchers, fontsize=11)
    axis.set_title("Does the true rollout score higher than its altered copy?  ✘ = fooled", fontsize=12)
    figure.colorbar(picture, label="(true - altered) / larger", ticks=[-1, 0, 1])
    save_figure(figure, path)


@dataclass(frozen=True, eq=False)
class Row:
    """A video as it is drawn."""

    name: str
    frames: npt.NDArray[np.uint8]
    """[T, H, W, 3]"""


def moments(T: int, count: int) -> npt.NDArray[np.int64]:
    """Which of T frames are shown, evenly from the first to the last; all of them if there are fewer than count.

    >>> moments(63, 5).tolist(), moments(3, 5).tolist(), moments(9, 1).tolist()
    ([0, 16, 31, 46, 62], [0, 1, 2], [8])
    """
    # The end tells most.
    return np.unique(np.round(np.linspace(T - 1, 0, min(T, count))).astype(np.int64))


def strip_rows(sources: Sequence[Path], episode: int = 0) -> list[Row]:
    """A row for each video, folder of images and demo; of a run its demo, unless the row above has it, and that
    episode of its last evaluation."""
    rows: list[Row] = []
    for source in sources:
        if (source / "config.yaml").is_file():
            rows += _of_run(source, episode, rows)
        elif is_demo(source):
            rows.append(Row(source.name, load_demo(source).frames))
        else:
            rows.append(Row(source.stem, read_video(source, VideoOptions(longest=LONGEST)).frames))
    return rows


def draw_strip(rows: Sequence[Row], path: Path, count: int = 8) -> None:
    """Draw up to ``count`` frames of each row into a file (.png, .svg or .pdf); below each, its number."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    heights = [row.frames.shape[1] / row.frames.shape[2] for row in rows]
    size = (WIDTH * count + 0.4, sum(WIDTH * height + 0.22 for height in heights) + 0.1)
    close = ConstrainedLayoutEngine(w_pad=0.01, h_pad=0.01, wspace=0.01, hspace=0.01)
    figure = Figure(figsize=size, layout=close)
    axes = figure.subplots(len(rows), count, squeeze=False, height_ratios=heights)
    for across, row in zip(axes, rows, strict=True):
        shown = moments(len(row.frames), count)
        for axis in across[len(shown) :]:
            axis.set_visible(False)
        for axis, t in zip(across, shown, strict=False):
            axis.imshow(row.frames[t])
            axis.set(xticks=[], yticks=[])
            axis.set_xlabel(str(t), fontsize=7, labelpad=1)
        across[0].set_ylabel(row.name, fontsize=8)
    save_figure(figure, path)


def video_of_run(run: Path, episode: int = 0) -> Path:
    """The film of that episode of a run's last evaluation; a ValueError if it kept none."""
    from orcalign.report.study.films import last_video

    film = last_video(run, episode)
    if film is None:
        raise ValueError(
            f"'{run}' has kept no film of episode {episode} of an evaluation; give another --episode, from 0 on, "
            "or train with a larger --eval-shown."
        )
    return film


def _of_run(run: Path, episode: int, above: Sequence[Row]) -> list[Row]:
    played = Row(run.name, read_video(video_of_run(run, episode), VideoOptions(longest=LONGEST)).frames)
    demo = Row("demo", DemoSet.load(run / "demo").demos[0].frames)
    last = next((row for row in reversed(above) if row.name == "demo"), None)
    return [played] if last is not None and np.array_equal(last.frames, demo.frames) else [demo, played]


def save_figure(figure: Any, path: Path, **more: Any) -> None:
    """Write a matplotlib figure, whole or not at all, as the kind of picture that the file's ending asks for."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format=require_kind(path), dpi=110, **more)
    write_file(path, buffer.getvalue())
