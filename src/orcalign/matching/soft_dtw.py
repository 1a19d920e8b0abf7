"""Soft DTW: all paths through both sequences, each weighed by how cheap it is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from orcalign.checks import require_number
from orcalign.matching.kernel import kernel
from orcalign.matching.match import FloatArray, Match, as_valid_episodes
from orcalign.matching.threads import for_chunks
from orcalign.matching.transport import rewards_of_plan


@final
@dataclass(frozen=True, eq=False)
class SoftDtwMatch(Match):
    """`assignment` [T, J] is the probability that a path drawn by its weight passes through (t, j)."""

    value: FloatArray
    """[] The soft minimum of the path costs ([B] for a batch)."""


def soft_dtw(cost: npt.ArrayLike, gamma: float = 1.0, *, lengths: npt.ArrayLike | None = None) -> SoftDtwMatch:
    """Soft DTW rewards.

        D[t, j]   = cost[t, j] - gamma * log sum exp(-{D[t-1, j-1], D[t-1, j], D[t, j-1]} / gamma)
        value     = D[T-1, J-1]
        reward[t] = -sum_j assignment[t, j] * cost[t, j],   assignment = d value / d cost

    For gamma towards 0 it becomes `dtw` where the cheapest path is the only one. Not causal.

    Args:
        cost, lengths: as in `orca`.
        gamma: above 0; how much dearer paths count.

    Returns:
        SoftDtwMatch: reward [T] (never above 0), assignment [T, J] in [0, 1], value.

    Example:
        >>> import numpy as np
        >>> match = soft_dtw(np.array([[0.0, 2.0], [2.0, 0.0]]), gamma=0.01)
        >>> match.assignment.round(3).tolist()
        [[1.0, 0.0], [0.0, 1.0]]

    Reference:
        Cuturi and Blondel, "Soft-DTW: a Differentiable Loss Function for Time-Series", ICML 2017.
    """
    gamma = require_number(gamma, "gamma", above=0)
    episodes = as_valid_episodes(cost, lengths)
    B, T, J = episodes.cost.shape
    assignment, reward = episodes.empty(columns=True), episodes.empty(columns=False)
    value = np.zeros(B, episodes.dtype)
    arguments = (episodes.cost, episodes.lengths, episodes.dtype.type(gamma), assignment, value)
    for_chunks(B, 20 * B * T * J, _soft_dtw_episodes, *arguments)
    rewards_of_plan(episodes.cost, episodes.lengths, False, assignment, reward)
    return SoftDtwMatch(episodes.unwrap(reward), episodes.unwrap(assignment), episodes.unwrap(value))


@kernel
def _soft_dtw_episodes(cost: Any, lengths: Any, gamma: Any, assignment: Any, value: Any, start: int, stop: int) -> None:
    """Forwards: D, and how likely a path came from each of the three sides. Backwards: follow those shares."""
    T, J = cost.shape[1:]
    real = cost.dtype.type
    D = np.empty((T, J), cost.dtype)
    shares = np.empty((T, J, 3), cost.dtype)
    inverse = real(1) / gamma
    for b in range(start, stop):
        last = lengths[b] - 1
        for t in range(last + 1):
            for j in range(J):
                corner = D[t - 1, j - 1] if t > 0 and j > 0 else real(np.inf)
                above = D[t - 1, j] if t > 0 else real(np.inf)
                left = D[t, j - 1] if j > 0 else real(np.inf)
                if t == 0 and j == 0:
                    corner = real(0)
                best = min(corner, above, left)
                x = real(math.exp((best - corner) * inverse))
                y = real(math.exp((best - above) * inverse))
                z = real(math.exp((best - left) * inverse))
                total = x + y + z
                D[t, j] = cost[b, t, j] + best - gamma * real(math.log(total))
                shares[t, j, 0], shares[t, j, 1], shares[t, j, 2] = x / total, y / total, z / total
        value[b] = D[last, J - 1]
        for t in range(last, -1, -1):
            for j in range(J - 1, -1, -1):
                mass = real(1) if t == last and j == J - 1 else real(0)
                if t < last and j < J - 1:
                    mass += assignment[b, t + 1, j + 1] * shares[t + 1, j + 1, 0]
                if t < last:
                    mass += assignment[b, t + 1, j] * shares[t + 1, j, 1]
                if j < J - 1:
                    mass += assignment[b, t, j + 1] * shares[t, j + 1, 2]
                assignment[b, t, j] = mass
