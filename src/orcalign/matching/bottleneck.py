"""Bottleneck ORCA: how bad is the worst moment of the best in-order alignment?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from orcalign.checks import require_number
from orcalign.matching.kernel import exp_nonpositive, kernel
from orcalign.matching.match import FloatArray, Match, as_valid_episodes
from orcalign.matching.threads import for_chunks


@final
@dataclass(frozen=True, eq=False)
class BottleneckMatch(Match):
    """Ordered coverage by the worst moment: `assignment` [T, J] is C[t, j], in [0, 1]."""

    progress: FloatArray
    """[T] Mean of C[t, j] over all demo frames but the last."""
    worst: FloatArray
    """[T, J] L[t, j]: the largest cost above the floor on the way to demo frame j, along the best alignment."""


def bottleneck(
    cost: npt.ArrayLike,
    temperature: float = 1.0,
    floor: float = 0.0,
    *,
    lengths: npt.ArrayLike | None = None,
) -> BottleneckMatch:
    """ORCA with the worst moment in the place of the product.

        c[t, j]   = max(0, cost[t, j] - floor)
        L[t, j]   = min(L[t-1, j], max(L[t, j-1], c[t, j]))            L[t, -1] = 0, L[-1, j] = infinity
        C[t, j]   = exp(-L[t, j] / temperature)
        reward[t] = exp(-max(L[t, J-2], c[t, J-1]) / temperature)      (J = 1: of c[t, 0])

    Causal; O(T J). It reads the same at every length: repeated frames of the demo or of the learner change nothing,
    where ORCA's product loses a factor for each. And one step that was left out counts as much as if all had been. In
    the other direction it sees nothing but that one step: what else went better or worse does not count.

    Args:
        cost, temperature, floor, lengths: as in `orca`.

    Returns:
        BottleneckMatch: reward [T] in [0, 1], assignment [T, J] = C, progress [T], worst [T, J] = L.

    Example:
        The demo's frame 1 is passed at a distance of 2, all others are reached:

        >>> learner, demo = np.array([0.0, 1.0, 5.0, 6.0]), np.array([0.0, 3.0, 6.0])
        >>> match = bottleneck(np.abs(learner[:, None] - demo), temperature=2.0)
        >>> match.worst[-1].tolist()
        [0.0, 2.0, 2.0]
        >>> match.reward.round(3).tolist()
        [0.05, 0.082, 0.368, 0.368]

    See also:
        `orca`, whose coverage is never higher, and `orca_log`, whose is never lower.
    """
    temperature = require_number(temperature, "temperature", above=0)
    floor = require_number(floor, "floor", at_least=0)
    episodes = as_valid_episodes(cost, lengths)
    B, T, J = episodes.cost.shape
    real = episodes.dtype.type
    worst, coverage = episodes.empty(columns=True), episodes.empty(columns=True)
    reward, progress = episodes.empty(columns=False), episodes.empty(columns=False)
    settings = real(1.0 / temperature), real(floor)
    out = worst, coverage, reward, progress
    for_chunks(B, B * T * J, bottleneck_episodes, episodes.cost, episodes.lengths, *settings, *out)
    return BottleneckMatch(*(episodes.unwrap(array) for array in (reward, coverage, progress, worst)))


@kernel
def bottleneck_episodes(
    cost: Any,
    lengths: Any,
    inverse: Any,
    floor: Any,
    worst: Any,
    coverage: Any,
    reward: Any,
    progress: Any,
    start: int,
    stop: int,
) -> None:
    """`bottleneck_rows` for the episodes start..stop of a batch."""
    state = np.empty(cost.shape[2], cost.dtype)
    for b in range(start, stop):
        state[:] = np.inf
        rows = cost[b, : lengths[b]]
        bottleneck_rows(rows, inverse, floor, state, worst[b], coverage[b], reward[b], progress[b])


@kernel
def bottleneck_rows(
    cost: Any, inverse: Any, floor: Any, state: Any, worst: Any, coverage: Any, reward: Any, progress: Any
) -> None:
    """Carry L over the rows of `cost` [T, J]: a whole episode, or one live frame."""
    T, J = cost.shape
    zero = cost.dtype.type(0)
    for t in range(T):
        left = zero
        for j in range(J):
            excess = cost[t, j] - floor
            now = excess if excess > left else left
            if j == J - 1:
                reward[t] = exp_nonpositive(-now * inverse)
            left = now if now < state[j] else state[j]
            state[j] = left
            worst[t, j] = left
        total = zero
        for j in range(J):
            coverage[t, j] = exp_nonpositive(-worst[t, j] * inverse)
            total += coverage[t, j]
        progress[t] = coverage[t, 0] if J == 1 else (total - coverage[t, J - 1]) / cost.dtype.type(J - 1)
