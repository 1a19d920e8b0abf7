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

from orcalign.matching.match import FloatArray
from orcalign.rewards.thing import FEWEST, Floats, Frame, Frames, Mask, Pixels, Shift, Thing

SHADES = 32
"""Of red, green and blue each, that are told apart."""
AROUND = 4
"""Pixels around a thing in which its own colours may be as well: its edge, and what it throws a light on."""
AWAY = 2.0
"""How far a thing has to go, in units of its size, to be one that is taken away."""
COLUMNS = 3
"""Numbers that say where a thing is: its row and column as seen from the goal, and whether it is in sight: 1 or 0, -1
in an episode in whose first frame it is not."""


@final
@dataclass(frozen=True, eq=False)
class Journey:
    """A thing that is taken away in a demo."""

    thing: int
    """Its number."""
    goal: int | None
    """Number of the thing that it is taken to; None if it is always the same place."""
    end: tuple[int, int]
    """Row and column where it ends in the demo."""
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
        """`COLUMNS` [T,3] of frames [T,H,W,3] in an episode that begins with ``first``, the goal shifted by so much."""
        (start,), where = self.places(first[None]), self.places(frames)
        where[:, 2] = where[:, 2] >= FEWEST if start[2] >= FEWEST else -1
        where[:, :2] -= goal
        return where


def find_journeys(things: Sequence[Thing], demo: Frames, side: float) -> tuple[Journey, ...]:
    """Those of the things that are taken away in the demo [J,H,W,3], and can be followed there all the time.

    A goal is a thing that stays, within ``side`` pixels of where the journey ends.

    >>> demo = np.full((3, 64, 64, 3), 90, np.uint8)
    >>> for frame, column in zip(demo, (10, 22, 40)):
    ...     frame[30:36, column : column + 6] = (250, 120, 0)
    >>> body = tuple(one.ravel() for one in np.mgrid[30:36, 10:16])
    >>> (journey,) = find_journeys([Thing(body, np.zeros((36, 3), np.float32), body, (32, 12))], demo, 20)
    >>> journey.goal, journey.end, journey.places(demo).tolist()
    (None, (32, 42), [[32.5, 12.5, 36.0], [32.5, 24.5, 36.0], [32.5, 42.5, 36.0]])
    """
    found = []
    for number, thing in enumerate(things):
        palette = _own_colours(demo[0], thing.body)
        places = Journey(number, None, thing.home, palette).places(demo)
        size = np.sqrt(len(thing.body[0]))
        way = np.hypot(*(places[:, :2] - places[0, :2]).T)
        # Its own colours may be but a mark on it, or not be seen from everywhere.
        at_home = np.hypot(*(places[0, :2] - thing.home)) <= size / 2
        if at_home and places[:, 2].min() >= FEWEST and way.max() > AWAY * size:
            found.append((number, palette, (int(places[-1, 0]), int(places[-1, 1]))))
    taken = {number for number, _, _ in found}
    journeys = []
    for number, palette, end in found:
        far = {k: np.hypot(*np.subtract(end, thing.home)) for k, thing in enumerate(things) if k not in taken}
        near = [k for k, pixels in far.items() if pixels <= side]
        journeys.append(Journey(number, min(near, key=far.__getitem__, default=None), end, palette))
    return tuple(journeys)


@final
class JourneyCosts:
    """How far a thing is from where it ends in a demo, in units of how far it gets there, at most 1.

    Out of sight costs 1: whoever hides a thing has not brought it. What is not known costs nothing.

    Args:
        demo: [J, COLUMNS], always in sight.

    >>> demo = np.array([[9, 0, 1], [9, 4, 1], [9, 8, 1]])
    >>> costs = JourneyCosts(demo)
    >>> costs(demo).tolist(), costs(demo * [1, 1, 0]).tolist(), costs(demo * [1, 1, -1]).tolist()
    ([1.0, 0.5, 0.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0])
    """

    def __init__(self, demo: npt.ArrayLike) -> None:
        self._demo = np.asarray(demo, np.float64)
        places = self._demo[:, :2]
        way = np.cumsum(np.hypot(*np.diff(places, axis=0, prepend=places[:1]).T))
        self.share = way / (way[-1] or 1.0)
        """[J] Of its way that it has gone in each frame of the demo."""
        self._far = np.hypot(*(places - places[0]).T).max() or 1.0

    def __call__(self, seen: npt.ArrayLike) -> FloatArray:
        """Costs [T], in [0, 1], of an episode's rows [T, COLUMNS]."""
        rows = np.asarray(seen, np.float64)
        out: FloatArray = np.minimum(np.hypot(*(rows[:, :2] - self._demo[-1, :2]).T) / self._far, 1)
        out[rows[:, 2] == 0] = 1
        out[rows[:, 2] < 0] = 0
        return out

    def of_demo_frames(self) -> FloatArray:
        """Costs [J] of the demo's own frames."""
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
