"""ORCA in the log domain, for demos so long that a product of probabilities is 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from orcalign.checks import require_number
from orcalign.matching.kernel import kernel
from orcalign.matching.match import FloatArray, Match, as_valid_episodes
from orcalign.matching.threads import for_chunks


@final
@dataclass(frozen=True, eq=False)
class OrcaLogMatch(Match):
    """Ordered coverage in the log domain: `assignment` [T, J] is C[t, j] ** (1/J)."""

    log_coverage: FloatArray
    """[T, J] log C[t, j], at most 0."""
    log_reward: FloatArray
    """[T] log of the reward that `orca` would give without underflow."""


def orca_log(
    cost: npt.ArrayLike,
    temperature: float = 1.0,
    floor: float = 0.0,
    *,
    lengths: npt.ArrayLike | None = None,
) -> OrcaLogMatch:
    """ORCA with sums of costs instead of products of probabilities.

        L[t, j]       = max(L[t-1, j], L[t, j-1] - max(0, cost[t, j] - floor) / temperature)     = log C[t, j]
        log_reward[t] = L[t, J-2] - max(0, cost[t, J-1] - floor) / temperature                   = log R[t]
        reward[t]     = exp(log_reward[t] / J)

    The reward is the J-th root of ORCA's: the geometric mean of the occupancies along the best alignment.
    A root keeps the order of any two trajectories, but not the size of their difference. To be used from where
    `orca`, the paper's reward, is too small: with J frames at a typical excess e over the floor that is about
    exp(-J e / temperature), 0 in float64 beyond J e / temperature = 708.

    Args:
        cost, temperature, floor, lengths: as in `orca`.

    Returns:
        OrcaLogMatch: reward [T] in (0, 1], assignment [T, J] = C ** (1/J), log_coverage, log_reward.

    Example:
        >>> import numpy as np
        >>> cost = np.full((2, 2000), 1.0)
        >>> float(orca_log(cost).reward[0].round(6))
        0.367879
        >>> from orcalign.matching import orca
        >>> float(orca(cost).reward[0])
        0.0
    """
    temperature = require_number(temperature, "temperature", above=0)
    floor = require_number(floor, "floor", at_least=0)
    episodes = as_valid_episodes(cost, lengths)
    B, T, J = episodes.cost.shape
    real = episodes.dtype.type
    logs, log_reward = episodes.empty(columns=True), episodes.empty(columns=False)
    settings = real(1.0 / temperature), real(floor)
    for_chunks(B, B * T * J, log_coverage_episodes, episodes.cost, episodes.lengths, *settings, logs, log_reward)
    reward, root = np.exp(log_reward / real(J)), np.exp(logs / real(J))
    for b, length in enumerate(episodes.lengths.tolist()):
        if length < T:
            reward[b, length:], root[b, length:] = 0, 0
    unwrap = episodes.unwrap
    return OrcaLogMatch(unwrap(reward), unwrap(root), unwrap(logs), unwrap(log_reward))


@kernel
def log_coverage_episodes(
    cost: Any, lengths: Any, inverse: Any, floor: Any, logs: Any, log_reward: Any, start: int, stop: int
) -> None:
    """L and log R for the episodes start..stop of a batch."""
    J = cost.shape[2]
    zero = cost.dtype.type(0)
    state = np.empty(J, cost.dtype)
    for b in range(start, stop):
        state[:] = -np.inf
        for t in range(lengths[b]):
            total = zero
            for j in range(J):
                excess = cost[b, t, j] - floor
                now = total - (excess if excess > zero else zero) * inverse
                if j == J - 1:
                    log_reward[b, t] = now
                total = state[j] if state[j] > now else now
                state[j] = total
                logs[b, t, j] = total
