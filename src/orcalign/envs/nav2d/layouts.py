"""Where things are in the 2D navigation: the paper's counterexamples as maps, and one with coloured squares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from orcalign.checks import require
from orcalign.matching.counterexamples import COUNTEREXAMPLES

Place = tuple[float, float]
"""x and y in cells."""
SQUARES = "squares"
COLOURS = {"red": (205, 60, 55), "blue": (55, 85, 205), "green": (50, 160, 75), "yellow": (215, 185, 60)}
HALF = 0.65
"""Cells from the middle of a square to its side."""
DARK = 25.0
"""What the agent looks like on a map with colours of its own."""


@dataclass(frozen=True)
class Layout:
    """A map."""

    start: Place
    subgoals: tuple[Place, ...]
    """In the order in which they are to be visited."""
    cells: int
    """Cells along a side."""
    regions: tuple[tuple[str, Place], ...] = ()
    """Coloured squares: the name of a colour, and the middle."""


NAMES = (*COUNTEREXAMPLES, SQUARES)


@cache
def find_layout(name: str) -> Layout:
    """The layout of that name.

    >>> find_layout("order").subgoals, [colour for colour, _ in find_layout("squares").regions]
    (((0.0, 2.0), (2.0, 2.0), (2.0, 0.0)), ['red', 'blue', 'green', 'yellow'])
    """
    require("layout", name, NAMES)
    if name == SQUARES:
        places = ((0.8, 3.2), (3.2, 3.2), (3.2, 0.8), (0.8, 0.8))
        # The first three in this order; the last one is in the way of nobody who knows what yellow means.
        return Layout((2.0, 2.0), places[:3], 5, tuple(zip(COLOURS, places, strict=True)))
    case = COUNTEREXAMPLES[name]
    start, *goals = ((float(x), float(y)) for x, y in case.demo)
    # Square, so that a picture is not stretched.
    return Layout(start, tuple(goals), int(np.array([*case.demo, *case.good, *case.bad]).max()) + 1)


def along(size: int, cells: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """[1, size] and [size, 1] x and y in cells of each pixel of a map, y upwards."""
    places = (np.arange(size) + 0.5) / size * cells - 0.5
    return places[None, :], places[::-1, None]


def paint_squares(
    size: int, cells: int, regions: Sequence[tuple[str, Place]], ground: float
) -> npt.NDArray[np.float64]:
    """[size, size, 3] The map with coloured squares, without the agent."""
    picture = np.full((size, size, 3), ground)
    x, y = along(size, cells)
    for colour, (left, up) in regions:
        picture[(np.abs(x - left) <= HALF) & (np.abs(y - up) <= HALF)] = COLOURS[colour]
    return picture
