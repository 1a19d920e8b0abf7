"""Threshold: tick off the demo's frames one after the other, by hand-written rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from orcalign.checks import require_number
from orcalign.matching.exponential import exp_nonpositive
from orcalign.matching.inputs import as_episodes, require_valid
from orcalign.matching.kernel import kernel
from orcalign.matching.match import IntArray, Match


@final
@dataclass(frozen=True, eq=False)
class ThresholdMatch(Match):
    """`assignment` [T, J] is 1 at the subgoal that was followed at t."""

    subgoal: IntArray
    """[T] The demo frame that was followed at t; -1 beyond an episode's length."""


def threshold(
    cost: npt.ArrayLike,
    threshold: float = 0.9,
    temperature: float = 1.0,
    floor: float = 0.0,
    *,
    lengths: npt.ArrayLike | None = None,
) -> ThresholdMatch:
    """Threshold rewards: subgoals done, plus how near the current one is.

        P[t, j]   = exp(-max(0, cost[t, j] - floor) / temperature)
        reward[t] = (P[t, g] + g) / J;   then g rises by one if P[t, g] > threshold and g < J-1

    g is the subgoal followed, at first 0. Causal: row t depends on rows up to t only.

    Args:
        cost: [T, J] or [B, T, J], finite, not negative.
        threshold: between 0 and 1, both excluded; the paper has 0.9 for Meta-world and 0.7 for Humanoid.
        temperature: above 0; 1 is the paper.
        floor: distance below which a frame counts as occupied; 0 is the paper.
        lengths: [B] rows of each episode, for a batch of unequal lengths.

    Returns:
        ThresholdMatch: reward [T] in [0, 1], assignment [T, J] one-hot, subgoal [T].

    Example:
        >>> import numpy as np
        >>> match = threshold(np.array([[0.0, 9.0], [0.0, 9.0], [9.0, 0.0]]))
        >>> match.reward.round(3).tolist(), match.subgoal.tolist()
        ([0.5, 0.5, 1.0], [0, 1, 1])
    """
    level = require_number(threshold, "threshold", above=0)
    if level >= 1:
        raise ValueError(
            f"threshold is {threshold!r}; it must be below 1, or no subgoal would ever be passed."
        )
    temperature = require_number(temperature, "temperature", above=0)
    floor = require_number(floor, "floor", at_least=0)
    episodes = as_episodes(cost, lengths)
    require_valid(episodes)
    real = episodes.dtype.type
    assignment, reward = np.zeros(episodes.cost.shape, episodes.dtype), episodes.empty(columns=False)
    subgoal = np.full(episodes.cost.shape[:2], -1, np.int64)
    _threshold_episodes(
        episodes.cost,
        episodes.lengths,
        real(level),
        real(1 / temperature),
        real(floor),
        assignment,
        reward,
        subgoal,
    )
    return ThresholdMatch(episodes.unwrap(reward), episodes.unwrap(assignment), episodes.unwrap(subgoal))


@kernel
def _threshold_episodes(
    cost: Any,
    lengths: Any,
    level: Any,
    inverse: Any,
    floor: Any,
    assignment: Any,
    reward: Any,
    subgoal: Any,
) -> None:
    B, _, J = cost.shape
    real = cost.dtype.type
    for b in range(B):
        g = 0
        for t in range(lengths[b]):
            excess = cost[b, t, g] - floor
            occupied = exp_nonpositive(-(excess if excess > 0 else real(0)) * inverse)
            reward[b, t] = (occupied + real(g)) / real(J)
            assignment[b, t, g] = 1
            subgoal[b, t] = g
            if occupied > level and g < J - 1:
                g += 1
