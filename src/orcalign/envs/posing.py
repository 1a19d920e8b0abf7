"""Posed scenes: a world put somewhere rather than played to be there, with what is then observed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from orcalign.envs.seeds import train_seed

FIRST_LAYOUT = 30_000_000
"""Number of the training episode of which layout 0 is; no run plays so many."""


@dataclass(frozen=True, eq=False)
class Posed:
    """One frame and its label."""

    frame: npt.NDArray[np.uint8]
    """[H,W,3] Drawn as a learner's frame of the same state is."""
    state: npt.NDArray[Any]
    """[D] What the environment observes of it, the time 0."""
    group: int
    """Number of the layout: frames of one share what a reset draws, such as the goal."""
    rest: bool = False
    """Whether it is what a reset shows, before anything was moved."""


def layout_seed(group: int, seed: int) -> int:
    """Seed of the episode whose reset draws a layout: never one that is evaluated on, or that a demo shows.

    >>> from orcalign.envs.seeds import TRAIN_RANGE
    >>> layout_seed(0, seed=0) in TRAIN_RANGE, layout_seed(0, seed=0) == layout_seed(1, seed=0)
    (True, False)
    """
    return train_seed(FIRST_LAYOUT + group, seed)


def layout_numbers(group: int, seed: int) -> np.random.Generator:
    """The random numbers of a layout, which are its own: whoever begins at it sees the same.

    >>> layout_numbers(3, seed=0).random() == layout_numbers(3, seed=0).random()
    True
    """
    return np.random.default_rng([seed, FIRST_LAYOUT, group])
