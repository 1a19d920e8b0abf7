"""A film to send to somebody: the attempt with a bar of its progress and the verdict, the demo beside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from orcalign.encoders.resize import resize
from orcalign.report.clips import ShownClip
from orcalign.report.scoring import Attempt
from orcalign.video.write import write_mp4

Frames = npt.NDArray[np.uint8]

HEIGHT = 240
"""Of both pictures."""
BAR, WORDS = 12, 30
"""Pixels of the bar and of the line of words."""
DONE, NOT_DONE, EMPTY = (0, 140, 90), (200, 90, 20), (225, 225, 225)
REST = 0.5
"""Seconds for which the last picture stays."""


def write_overlay(demo: ShownClip, attempt: Attempt, path: Path) -> None:
    """An mp4 at the attempt's own pace, whole or not at all."""
    write_mp4(path, overlay(demo, attempt), attempt.clip.fps)


def overlay(demo: ShownClip, attempt: Attempt) -> Iterator[Frames]:
    """One picture [H,W,3] after the other: demo left, attempt right, bar and words below."""
    verdict = attempt.verdict
    assert verdict is not None, "there is no verdict with the paper's settings"
    colour = DONE if verdict.done else NOT_DONE
    left, right = (_sized(clip.frames) for clip in (demo, attempt.clip))
    width = left.shape[2] + right.shape[2] + 4
    width += width % 2
    words = _line(f"{Path(attempt.clip.path).name}: {verdict.text} · score {verdict.score:.2f}", width, colour)
    last = max(1, round(REST * attempt.clip.fps))
    times = [*range(len(right)), *[len(right) - 1] * last]
    for t in times:
        picture = np.full((HEIGHT + BAR + WORDS, width, 3), 255, np.uint8)
        j = int(np.clip(attempt.story.position[t], 0, len(left) - 1))
        picture[:HEIGHT, : left.shape[2]] = left[j]
        picture[:HEIGHT, left.shape[2] + 4 : left.shape[2] + 4 + right.shape[2]] = right[t]
        picture[HEIGHT : HEIGHT + BAR] = EMPTY
        picture[HEIGHT : HEIGHT + BAR, : round(width * float(attempt.progress[t]))] = colour
        picture[HEIGHT + BAR :] = words
        yield picture


def _sized(frames: Frames) -> Frames:
    height, width = frames.shape[1:3]
    return resize(frames, (HEIGHT, max(2, round(width * HEIGHT / height))))


def _line(text: str, width: int, colour: tuple[int, int, int]) -> Frames:
    """Words on white [WORDS, width, 3]."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width / 100, WORDS / 100), dpi=100, facecolor="white")
    canvas: Any = FigureCanvasAgg(figure)
    shade = tuple(value / 255 for value in colour)
    drawn = figure.text(6 / width, 0.5, text, fontsize=9, color=shade, va="center")
    # A long name is made to fit.
    extent = drawn.get_window_extent(canvas.get_renderer()).width
    drawn.set_fontsize(9 * min(1.0, (width - 12) / extent))
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[:WORDS, :width, :3].copy()
