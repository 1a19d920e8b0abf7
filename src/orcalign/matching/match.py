"""What a matcher takes and returns; what comes in is checked here, once, so that every matcher sees one form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from orcalign.matching.kernel import kernel

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


class Episodes(NamedTuple):
    """Cost matrices of one or several episodes against one demo, in the form that kernels take."""

    cost: FloatArray
    """[B, T, J] C-contiguous float32 or float64."""
    lengths: IntArray
    """[B] How many of the T rows each episode has."""
    batched: bool
    """Whether the caller gave a batch; if not, B is 1 and is taken off again."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Float32 or float64: what is computed in and returned."""
        return self.cost.dtype

    def empty(self, *, columns: bool) -> FloatArray:
        """Room for [B, T, J] or [B, T] numbers; zero where a batch has rows beyond an episode's length."""
        shape = self.cost.shape if columns else self.cost.shape[:2]
        return (np.zeros if self.batched else np.empty)(shape, self.cost.dtype)

    def unwrap(self, array: npt.NDArray[Any]) -> Any:
        """Take the batch axis off again if the caller gave none."""
        return array if self.batched else array[0]


def as_float_array(values: npt.ArrayLike, name: str) -> FloatArray:
    """Check that `values` is a float32 or float64 array, or integers, which become float64."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} must be one rectangular array of numbers: {error}") from None
    if array.dtype.char in "fd" and array.dtype.isnative:
        return array
    if array.dtype.kind in "iu":
        return array.astype(np.float64)
    raise ValueError(
        f"{name} has dtype {array.dtype}; it must be float32 or float64 (integers are taken as float64). "
        f"Convert it with .astype(np.float64)."
    )


def as_episodes(cost: npt.ArrayLike, lengths: npt.ArrayLike | None = None) -> Episodes:
    """Bring `cost` [T, J] or [B, T, J] into kernel form; values are checked by `require_valid` or the kernel.

    >>> as_episodes([[0.0, 1.0]]).cost.shape
    (1, 1, 2)
    """
    array = as_float_array(cost, "cost")
    if array.ndim not in (2, 3):
        raise ValueError(f"cost has shape {array.shape}; it must be [T, J] for one episode or [B, T, J] for several.")
    if array.size == 0:
        raise ValueError(f"cost has shape {array.shape}; every axis needs at least one entry.")
    batched = array.ndim == 3
    if not batched and lengths is not None:
        raise ValueError("lengths goes with a batch [B, T, J]; for one episode cut the cost matrix instead.")
    block = array if batched else array[None]
    if not block.flags.c_contiguous:
        block = np.ascontiguousarray(block)
    B, T, _ = block.shape
    return Episodes(block, np.array([T] * B) if lengths is None else _as_lengths(lengths, B, T), batched)


def _as_lengths(lengths: npt.ArrayLike, B: int, T: int) -> IntArray:
    array = np.asarray(lengths)
    if array.shape != (B,) or array.dtype.kind not in "iu":
        raise ValueError(
            f"lengths has shape {array.shape} and dtype {array.dtype}; it must hold one integer for each "
            f"of the {B} episodes."
        )
    for b, length in enumerate(array.tolist()):
        if not 1 <= length <= T:
            raise ValueError(f"lengths[{b}] is {length}; it must be between 1 and T = {T}.")
    return array.astype(np.int64)


@kernel
def first_invalid(cost: Any, lengths: Any) -> int:
    """Flat index of the first cost that is NaN, infinite or negative within its episode, or -1."""
    B, T, J = cost.shape
    for b in range(B):
        bad = False
        for t in range(lengths[b]):
            for j in range(J):
                value = cost[b, t, j]
                bad |= not ((value >= 0) & (value < np.inf))
        if bad:
            for t in range(lengths[b]):
                for j in range(J):
                    value = cost[b, t, j]
                    if not (value >= 0 and value < np.inf):
                        return (b * T + t) * J + j  # type: ignore[no-any-return]
    return -1


def require_valid(episodes: Episodes) -> None:
    """Raise a ValueError that names the first NaN, infinite or negative cost."""
    index = first_invalid(episodes.cost, episodes.lengths)
    if index >= 0:
        b, t, j = (int(i) for i in np.unravel_index(index, episodes.cost.shape))
        place = f"cost[{b}, {t}, {j}]" if episodes.batched else f"cost[{t}, {j}]"
        raise ValueError(
            f"{place} is {episodes.cost[b, t, j]}; costs must be finite and not negative. "
            f"Use orcalign.matching.costs to make them from features."
        )


def as_valid_episodes(cost: npt.ArrayLike, lengths: npt.ArrayLike | None = None) -> Episodes:
    """`as_episodes` and `require_valid`."""
    episodes = as_episodes(cost, lengths)
    require_valid(episodes)
    return episodes
