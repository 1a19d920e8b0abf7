"""A thing that a video is about: its pixels, where it stands in an episode's first frame, and which of them change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
import numpy.typing as npt
from scipy import ndimage

Frame = npt.NDArray[np.uint8]
Frames = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]
Pixels = tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]
"""Rows [N] and columns [N]."""
Shift = tuple[int, int]
"""Rows down and columns to the right."""

BLUR = 1 / 256
"""Standard deviation as a share of the picture's height; more would melt small things into their surroundings."""
DIFFERENT = 25.0
"""Sum over colours (of 255 each) from which on two pixels show different things."""
FEWEST = 12
"""Pixels that are enough of a thing to look for."""
FAR = 0.15
"""How far a thing is looked for, as a share of the picture's smaller side."""
COARSE = 2
"""Pixels from one try to the next, before the best one is refined."""
CLEAR = 0.7
"""Misfit in units of a thing's contrast up to which it is in sight; beyond, it is hidden in part or altogether."""


class Found(NamedTuple):
    """A thing in an episode's first frame."""

    shift: Shift
    """By how much it is off the demo's."""
    clear: bool
    """Whether it is in sight, so that one can tell when it changes."""


@final
@dataclass(frozen=True, eq=False)
class Thing:
    """Something that stands elsewhere in every episode; all places are those in the demo."""

    looked_at: Pixels
    """[N] Its pixels, some of them if it is large, and a rim."""
    colours: Floats
    """[N,3] Of these."""
    body: Pixels
    """[M] Its pixels, some of them if it is large, without the rim."""
    home: tuple[int, int]
    """Row and column of its middle."""

    def find(self, first: Floats) -> Found:
        """By how much it is off the demo's in a blurred first frame [H,W,3]; not found, by 0."""
        (up, left), error = search(self.colours, self.looked_at, first)
        misfit = error / contrast(self.colours)
        return Found((-up, -left) if misfit < 1 else (0, 0), misfit <= CLEAR)

    def changed(self, frames: Frames, shift: Shift) -> Mask:
        """Where it stood in the first of these frames [T,H,W,3]: which of its pixels [T,M] show something else now."""
        rows, columns = (
            np.clip(at + by, 0, room - 1) for at, by, room in zip(self.body, shift, frames.shape[1:3], strict=True)
        )
        # Only what is looked at has to be blurred, with as much around it as the blur reaches.
        reach = 1 + int(4 * BLUR * frames.shape[1] + 0.5)
        top, left = max(0, int(rows.min()) - reach), max(0, int(columns.min()) - reach)
        part = frames[:, top : rows.max() + reach + 1, left : columns.max() + reach + 1]
        seen = blurred(part, frames.shape[1])[:, rows - top, columns - left]
        out: Mask = np.abs(seen - seen[0]).sum(-1) > DIFFERENT
        return out


def contrast(colours: Floats) -> float:
    """How much pixels [N,3] differ from their mean: as far off is a place that has nothing of them.

    >>> contrast(np.array([[90, 90, 90], [94, 90, 88]], np.float32))
    3.0
    """
    return float(np.abs(colours - colours.mean(axis=0)).sum(-1).mean())


def search(wanted: Floats, pixels: Pixels, shown: Floats) -> tuple[Shift, float]:
    """By how much the pixels ``wanted`` [N,3] are shifted against a picture [H,W,3], and how much they differ there.

    >>> shown = np.zeros((32, 32, 3), np.float32)
    >>> shown[10, 12:15] = 200
    >>> search(np.array([[0] * 3, [200] * 3], np.float32), (np.array([12, 12]), np.array([12, 13])), shown)
    ((2, 1), 0.0)
    """
    rows, columns = pixels
    reach = COARSE * round(FAR * min(shown.shape[:2]) / COARSE)
    # Things may stand beyond the demo's edge by as much again.
    edge = 2 * reach
    padded = np.pad(shown, ((edge, edge), (edge, edge), (0, 0)), mode="edge")

    def best(down: npt.NDArray[np.intp], right: npt.NDArray[np.intp]) -> tuple[int, int, float]:
        """Of these shifts; of two equally good ones the nearer."""
        down, right = (one.ravel() for one in np.meshgrid(down, right, indexing="ij"))
        there = padded[rows - down[:, None] + edge, columns - right[:, None] + edge]
        # What is hidden behind the arm may differ by much without saying much.
        errors = np.minimum(np.abs(wanted - there).sum(-1), 6 * DIFFERENT).mean(-1)
        k = np.lexsort((np.hypot(down, right), errors))[0]
        return int(down[k]), int(right[k]), float(errors[k])

    coarse = np.arange(-reach, reach + 1, COARSE)
    y, x, _ = best(coarse, coarse)
    y, x, error = best(*(np.clip(np.arange(k - COARSE, k + COARSE + 1), -reach, reach) for k in (y, x)))
    return (y, x), error


def blurred(frames: npt.NDArray[np.uint8], height: int | None = None) -> Floats:
    """A frame [H,W,3] or several, without the grain of single pixels; of a part, as high a blur as of the whole.

    >>> grain = np.zeros((5, 5, 3), np.uint8)
    >>> grain[2, 2] = 255
    >>> [round(float(blurred(grain, height)[2, 2, 0])) for height in (None, 128, 256)]
    [255, 158, 41]
    """
    width = BLUR * (frames.shape[-3] if height is None else height)
    smooth: Floats = ndimage.gaussian_filter(frames.astype(np.float32), (*(0,) * (frames.ndim - 3), width, width, 0))
    return smooth
