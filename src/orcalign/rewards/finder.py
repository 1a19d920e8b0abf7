"""Where the object stands, seen in an episode's first frame.

What differs there from the first frames of other episodes is what stands elsewhere each time; it is looked for in the
demo's first frame by shifting it until it fits. What moves within the first step is whoever acts, and is not looked at:
it is found in its own place wherever the object stands. Nothing but pictures is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt
from scipy import ndimage

Frame = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]
Shift = tuple[int, int]
"""Rows down and columns to the right."""

BLUR = 1 / 256
"""Standard deviation as a share of the picture's height; more would melt small objects into their surroundings."""
DIFFERENT = 25.0
"""Sum over colours (of 255 each) from which on two pixels show different things."""
MARGIN = 1 / 64
"""Around what moves within the first step, as a share of the picture's height: other first steps lead elsewhere."""
FAR = 0.15
"""How far the object is looked for, as a share of the picture's smaller side."""
COARSE = 2
"""Pixels from one try to the next, before the best one is refined."""
SAMPLES = 500
"""Pixels of the object that are compared, at most."""
FEWEST = 8
"""Pixels that are enough of an object to look for."""
AGREE = 0.045
"""How far apart, as a share of the picture's smaller side, two first frames may see the object of the demo."""


@final
@dataclass(frozen=True, eq=False)
class Finder:
    """Finds the object of the demo in the first frames of other episodes.

    >>> def scene(row, column):
    ...     frame = np.full((64, 64, 3), 90, np.uint8)
    ...     frame[row : row + 7, column : column + 7] = (220, 40, 40)
    ...     return frame
    >>> others = [scene(*at) for at in ((21, 22), (21, 37), (35, 22), (36, 37), (20, 30))]
    >>> finder = Finder.learn(scene(28, 30), others)
    >>> finder.home, finder.shift(scene(30, 24)), finder.shift(scene(28, 30))
    ((31, 33), (2, -6), (0, 0))
    >>> Finder.learn(scene(28, 30), [scene(28, 30)] * 5) is None
    True
    """

    shown: Floats
    """[H,W,3] The demo's first frame, blurred."""
    empty: Floats
    """[H,W,3] What first frames of other episodes have in common, blurred."""
    still: Mask
    """[H,W] Where nothing moved within a first step: where the object is looked for."""
    home: tuple[int, int]
    """Row and column of the object in the demo."""

    @classmethod
    def learn(cls, shown: Frame, firsts: Sequence[Frame], nexts: Sequence[Frame] = ()) -> Finder | None:
        """From first frames alone; None if there is no object to find: very small, or always in one place.

        Args:
            shown: the demo's first frame, uint8 [H,W,3].
            firsts: first frames of other episodes, uint8 [H,W,3]; five or more, with the object here and there.
            nexts: the same episodes after a step of any kind, as many as firsts; what has moved by then is whoever
                acts, and would be found in its own place wherever the object stands. Left out, nobody is there.
        """
        for frame in (*firsts, *nexts):
            _check_size(shown.shape, frame.shape)
        demo, others = _blurred(shown), [_blurred(first) for first in firsts]
        empty = np.median(np.stack(others), axis=0).astype(np.float32)
        moved = np.zeros(demo.shape[:2], bool)
        for first, after in zip(others, nexts, strict=bool(nexts)):
            moved |= np.abs(first - _blurred(after)).sum(-1) > DIFFERENT
        still = ~ndimage.binary_dilation(moved, iterations=max(1, round(MARGIN * len(moved))))
        looks = [_look(first, empty, demo, still) for first in others]
        homes = np.array([(at[0] - by[0], at[1] - by[1]) for at, by in looks if by is not None])
        if not len(homes):
            return None
        home = np.median(homes, axis=0)
        # Each of them has looked for its own object; only if nearly all meet in one place there is one to find.
        agree = np.abs(homes - home).max(axis=1) <= AGREE * min(demo.shape[:2])
        if 4 * agree.sum() <= 3 * len(firsts):
            return None
        return cls(demo, empty, still, (int(home[0]), int(home[1])))

    def shift(self, first: Frame) -> Shift:
        """By how much the object of the episode that begins with ``first`` is off the demo's; not found, by 0."""
        _check_size(self.shown.shape, first.shape)
        return _look(_blurred(first), self.empty, self.shown, self.still)[1] or (0, 0)


def _check_size(demo: tuple[int, ...], frame: tuple[int, ...]) -> None:
    if demo != frame:
        raise ValueError(
            f"the frames are {frame[1]}x{frame[0]} pixels and the demo's {demo[1]}x{demo[0]}, so that an object "
            "cannot be found in both; make them the same size, or compare whole pictures (--look whole)."
        )


def _look(first: Floats, empty: Floats, shown: Floats, still: Mask) -> tuple[tuple[int, int], Shift | None]:
    """The middle of what stands elsewhere in a first frame, and its shift against the demo, if it is found there."""
    differs = np.abs(first - empty).sum(-1)
    there = ndimage.binary_opening((differs > DIFFERENT) & still)
    if there.sum() < FEWEST:
        return (0, 0), None
    rows, columns = np.nonzero(there)
    middle = int(rows.mean()), int(columns.mean())
    rows, columns = np.nonzero(ndimage.binary_dilation(there, iterations=2) & still)
    if len(rows) > SAMPLES:
        some = np.linspace(0, len(rows) - 1, SAMPLES).astype(int)
        rows, columns = rows[some], columns[some]
    shift, error = _search(first[rows, columns], rows, columns, shown)
    # Nowhere better than where there is nothing: it is hidden, or not the demo's object.
    return middle, shift if error < differs[rows, columns].mean() else None


def _search(
    wanted: Floats, rows: npt.NDArray[np.intp], columns: npt.NDArray[np.intp], shown: Floats
) -> tuple[Shift, float]:
    """By how much the pixels ``wanted`` [N,3] are shifted against the demo, and how much they differ there."""
    reach = COARSE * round(FAR * min(shown.shape[:2]) / COARSE)
    padded = np.pad(shown, ((reach, reach), (reach, reach), (0, 0)), mode="edge")

    def best(down: npt.NDArray[np.intp], right: npt.NDArray[np.intp]) -> tuple[int, int, float]:
        """Of these shifts; of two equally good ones the nearer."""
        down, right = (one.ravel() for one in np.meshgrid(down, right, indexing="ij"))
        there = padded[rows - down[:, None] + reach, columns - right[:, None] + reach]
        # What is hidden behind the arm may differ by much without saying much.
        errors = np.minimum(np.abs(wanted - there).sum(-1), 6 * DIFFERENT).mean(-1)
        k = np.lexsort((np.hypot(down, right), errors))[0]
        return int(down[k]), int(right[k]), float(errors[k])

    coarse = np.arange(-reach, reach + 1, COARSE)
    y, x, _ = best(coarse, coarse)
    y, x, error = best(*(np.clip(np.arange(k - COARSE, k + COARSE + 1), -reach, reach) for k in (y, x)))
    return (y, x), error


def _blurred(frame: Frame) -> Floats:
    width = BLUR * len(frame)
    blurred: Floats = ndimage.gaussian_filter(frame.astype(np.float32), (width, width, 0))
    return blurred
