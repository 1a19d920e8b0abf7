"""What a family of films is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Frames = npt.NDArray[np.uint8]


class Attempt(NamedTuple):
    """One film."""

    name: str
    """What is done, such as "forgets step 1"."""
    good: bool
    frames: Frames
    """[T,H,W,3]"""


class Family(ABC):
    """A scene with a task: a demo, and attempts at it."""

    name: str
    held_out: bool
    """Whether nothing was chosen while looking at it."""

    @abstractmethod
    def demo(self) -> Frames:
        """[J,H,W,3]"""

    @abstractmethod
    def attempts(self) -> Iterator[Attempt]:
        """Good and bad ones, the plain good ones first; the same each time."""


def altered(good: Frames) -> Iterator[Attempt]:
    """What goes wrong in any scene: nothing is done, half of it, all of it backwards."""
    T = len(good)
    yield Attempt("does nothing", False, np.repeat(good[:1], T, axis=0))
    stop = int(0.6 * T)
    yield Attempt("stops at 60%", False, good[np.minimum(np.arange(T), stop)])
    yield Attempt("backwards", False, good[::-1])
