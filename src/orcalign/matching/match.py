"""What a matcher returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.floating[Any]]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Match:
    """A learner's frames matched with a demo's.

    Methods with more to say return a subclass. For a batch every array has a leading axis B, and rows at
    or beyond an episode's length are 0.
    """

    reward: FloatArray
    """[T] One reward per learner frame."""
    assignment: FloatArray
    """[T, J] How learner frame t is matched with demo frame j; each method says what its entries mean."""
