"""Sentences, and pictures among them, in the place of a demo's frames."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orcalign.video.demo import Demo
from orcalign.video.stills import IMAGE_ENDINGS, read_image

CARD = (240, 320)
"""Height and width in pixels of a sentence that is shown, where no picture gives another size."""
INK, PAPER = "#1c2733", "#f2efe6"
LINE = 22
"""Letters in a line of it."""
Goal = str | os.PathLike[str] | NDArray[np.uint8]


def goals(entries: Sequence[Goal] | str) -> Demo:
    """A demo of sentences, files of pictures, or pictures uint8 [H,W,3], in the order in which they are to be reached.

    A sentence becomes a frame that shows it, for pages; a reward reads `Demo.sentences`.

    >>> demo = goals(["reach the handle", np.zeros((60, 80, 3), np.uint8)])
    >>> demo.frames.shape, demo.sentences
    ((2, 60, 80, 3), ('reach the handle', ''))
    """
    given = [entries] if isinstance(entries, (str, os.PathLike)) else list(entries)
    if not given:
        raise ValueError("No goal was given; say what is to be seen, in one sentence or in several.")
    pictures = [_picture(one) for one in given]
    shapes = {picture.shape for picture in pictures if picture is not None}
    if len(shapes) > 1:
        sizes = " and ".join(f"{width}x{height}" for height, width, _ in sorted(shapes))
        raise ValueError(f"The pictures among the goals are {sizes} pixels; give all of one size.")
    height, width = next(iter(shapes))[:2] if shapes else CARD
    words = tuple("" if picture is not None else _sentence(one) for one, picture in zip(given, pictures, strict=True))
    frames = [
        draw_sentence(text, height, width) if picture is None else picture
        for text, picture in zip(words, pictures, strict=True)
    ]
    return Demo(np.stack(frames), fps=1.0, source=" → ".join(map(_name, given)), sentences=words)


def _picture(entry: Goal) -> NDArray[np.uint8] | None:
    """The picture that the entry is or names; None if it is a sentence."""
    if isinstance(entry, np.ndarray):
        if entry.dtype != np.uint8 or entry.ndim != 3 or entry.shape[2] != 3 or not entry.size:
            raise ValueError(f"A picture among the goals is {entry.dtype} {list(entry.shape)}; give uint8 [H,W,3].")
        return entry
    path = Path(entry)
    if path.suffix.lower() in IMAGE_ENDINGS:
        if not path.is_file():
            raise FileNotFoundError(f"There is no picture {str(path)!r}; check the path, or say it in words.")
        return read_image(path)
    # Only a sentence has spaces and no such file: what names a file was meant as one.
    if not isinstance(entry, str) or (" " not in entry and path.suffix and path.exists()):
        kinds = ", ".join(sorted(IMAGE_ENDINGS))
        raise ValueError(f"The goal {str(path)!r} is a file but no picture ({kinds}); a video is given with --demo.")
    return None


def _sentence(entry: Goal) -> str:
    text = " ".join(str(entry).split())
    if not text:
        raise ValueError("A goal is an empty sentence; say what is to be seen, or leave it out.")
    return text


def _name(entry: Goal) -> str:
    if isinstance(entry, np.ndarray):
        return "a picture"
    return Path(entry).name if _is_file_name(entry) else _sentence(entry)


def _is_file_name(entry: str | os.PathLike[str]) -> bool:
    return Path(entry).suffix.lower() in IMAGE_ENDINGS


def draw_sentence(text: str, height: int, width: int) -> NDArray[np.uint8]:
    """A sentence as a picture uint8 [H,W,3], in letters as large as fit.

    >>> card = draw_sentence("close the door", 48, 64)
    >>> card.shape, bool(card.min() < 128 < card.max())
    ((48, 64, 3), True)
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise ValueError(
            f"Showing sentences needs the package {error.name}: run `pip install 'orcalign[plot]'`."
        ) from error
    columns = max(LINE, int((2.2 * len(text)) ** 0.5))
    lines = textwrap.wrap(text, columns) or [text]
    # A letter is about six tenths as wide as high, and lines are a little apart.
    points = min(width / (0.62 * max(map(len, lines))), height / (1.5 * len(lines)), height / 6)
    figure = Figure(figsize=(width / 100, height / 100), dpi=100, facecolor=PAPER)
    shown = "\n".join(lines)
    figure.text(
        0.5, 0.5, shown, size=0.92 * points * 0.72, color=INK, ha="center", va="center", linespacing=1.35,
        parse_math=False,
    )  # fmt: skip
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    drawn: NDArray[np.uint8] = np.asarray(canvas.buffer_rgba())[:height, :width, :3].copy()
    return drawn
