"""Where a thing goes that is taken away, a ball or a stick: followed by the colours that nothing else has.

Which of a thing's pixels have changed says that it has left, not where to: whoever knocks a ball aside and goes on
without it changes as much as whoever takes it along.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from orcalign.costs.objects.thing import FEWEST, Floats, Frame, Frames, Mask, Pixels, Shift, Thing
from orcalign.matching.match import FloatArray

SHADES = 32
"""Of red, green and blue each, that are told apart."""
AROUND = 4
"""Pixels around a thing in which its own colours may be as well: its edge, and what it throws a light on."""
AWAY = 2.0
"""How far a thing has to go, in units of its size, to be one that is taken away."""
COLUMNS = 5
"""Numbers that say where a thing is: how far it is from where it began (rows, columns), its place as seen from the
goal (row, column), and whether it is in sight: 1 or 0, -1 in an episode in whose first frame it is not."""


@final
@dataclass(frozen=True, eq=False)
class Journey:
    """A thing that is taken away in a demo."""

    thing: int
    """Its number."""
    goal: int | None
    """Number of the thing that it is taken to; None if it is always the same place."""
    palette: Mask
    """[SHADES, SHADES, SHADES] The colours that nothing else has in the demo's first frame."""

    def places(self, frames: Frames) -> Floats:
        """Middle of what has its colours in each frame [T,H,W,3], and how many pixels that is: [T,3]."""
        out = np.zeros((len(frames), 3), np.float32)
        for row, frame in zip(out, frames, strict=True):
            rows, columns = np.nonzero(self.palette[_shades(frame)])
            if len(rows):
                row[:] = np.median(rows), np.median(columns), len(rows)
        return out

    def seen(self, frames: Frames, first: Frame, goal: Shift) -> Floats:
        """`COLUMNS` [T,5] of frames [T,H,W,3] in an episode that begins with ``first``, the goal shifted by so much."""
        (start,), places = self.places(first[None]), self.places(frames)
        in_sight = places[:, 2:] >= FEWEST if start[2] >= FEWEST else np.full((len(frames), 1), -1)
        where = places[:, :2]
        return np.concatenate([where - start[:2], where - np.array(goal), in_sight], axis=1, dtype=np.float32)


def find_journeys(things: Sequence[Thing], demo: Frames, side: float) -> tuple[Journey, ...]:
    """Those of the things that are taken away in the demo [J,H,W,3], and can be followed there all the time.

    A goal is a thing that stays, within ``side`` pixels of where the journey ends.

    >>> demo = np.full((3, 64, 64, 3), 90, np.uint8)
    >>> for frame, column in zip(demo, (10, 22, 40)):
    ...     frame[30:36, column : column + 6] = (250, 120, 0)
    >>> body = tuple(one.ravel() for one in np.mgrid[30:36, 10:16])
    >>> (journey,) = find_journeys([Thing(body, np.zeros((36, 3), np.float32), body, (32, 12))], demo, 20)
    >>> journey.goal, journey.places(demo).tolist()
    (None, [[32.5, 12.5, 36.0], [32.5, 24.5, 36.0], [32.5, 42.5, 36.0]])
    """
    found = []
    for number, thing in enumerate(things):
        palette = _own_colours(demo[0], thing.body)
        places = Journey(number, None, palette).places(demo)
        size = np.sqrt(len(thing.body[0]))
        way = np.hypot(*(places[:, :2] - places[0, :2]).T)
        # Its own colours may be but a mark on it, or not be seen from everywhere.
        at_home = np.hypot(*(places[0, :2] - thing.home)) <= size / 2
        if at_home and places[:, 2].min() >= FEWEST and way.max() > AWAY * size:
            found.append((number, palette, places[-1, :2]))
    taken = {number for number, _, _ in found}
    journeys = []
    for number, palette, end in found:
        far = {k: np.hypot(*(end - thing.home)) for k, thing in enumerate(things) if k not in taken}
        near = [k for k, pixels in far.items() if pixels <= side]
        journeys.append(Journey(number, min(near, key=far.__getitem__, default=None), palette))
    return tuple(journeys)


@final
class JourneyCosts:
    """How far a thing is from where it is in a demo, in units of how far it goes there, at most 1.

        cost[t, j] = |(1 - w[j]) (A[t] - a[j]) + w[j] (B[t] - b[j])| / max |a|

    A and B are where it is as seen from where it began and as seen from the goal, a and b the same in the demo, where
    it is always in sight; w rises from 0 to 1 along its way there. Out of sight costs 1: whoever hides a thing has not
    brought it. What is not known costs nothing.

    Args:
        demo: [J, COLUMNS].

    >>> demo = np.array([[0, 0, 9, 0, 1], [0, 4, 9, 4, 1], [0, 8, 9, 8, 1]])
    >>> left_behind, hidden = demo[[0, 0, 0]], demo * [0, 0, 0, 0, 0]
    >>> costs = JourneyCosts(demo)
    >>> [costs(one)[-1].tolist() for one in (demo, left_behind, hidden)]
    [[1.0, 0.5, 0.0], [0.0, 0.5, 1.0], [1.0, 1.0, 1.0]]
    """

    def __init__(self, demo: npt.ArrayLike) -> None:
        self._demo = np.asarray(demo, np.float64)
        began = self._demo[:, :2]
        way = np.cumsum(np.hypot(*np.diff(began, axis=0, prepend=began[:1]).T))
        self._near = way / (way[-1] or 1.0)
        self._far = np.hypot(*began.T).max() or 1.0

    def __call__(self, seen: npt.ArrayLike) -> FloatArray:
        """Costs [T, J], in [0, 1], of an episode's rows [T, COLUMNS]."""
        rows = np.asarray(seen, np.float64)
        off = rows[:, None, :4] - self._demo[:, :4]
        off = (1 - self._near[:, None]) * off[..., :2] + self._near[:, None] * off[..., 2:]
        out: FloatArray = np.minimum(np.hypot(off[..., 0], off[..., 1]) / self._far, 1)
        out[rows[:, 4] == 0] = 1
        out[rows[:, 4] < 0] = 0
        return out

    def between_demo_frames(self) -> FloatArray:
        """Costs [J, J] of the demo's frames to one another."""
        return self(self._demo)


def _shades(pixels: npt.NDArray[np.uint8]) -> tuple[npt.NDArray[np.uint8], ...]:
    """Where pixels [...,3] are in a palette."""
    return tuple(np.moveaxis(pixels // (256 // SHADES), -1, 0))


def _own_colours(first: Frame, body: Pixels) -> Mask:
    """The palette of a thing in a first frame [H,W,3]: shades as its own, and not as any elsewhere."""
    there = np.zeros(first.shape[:2], bool)
    there[body] = True
    elsewhere = ~ndimage.binary_dilation(there, iterations=AROUND)
    own, others = np.zeros((2, *(SHADES,) * 3), bool)
    own[_shades(first[there])] = True
    others[_shades(first[elsewhere])] = True
    # A thing is a little brighter here and darker there; so is everything else.
    box = np.ones((3, 3, 3), bool)
    out: Mask = ndimage.binary_dilation(own, box) & ~ndimage.binary_dilation(others, box)
    return out
