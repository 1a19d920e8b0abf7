"""Matchers that solve nothing: each learner frame is assigned by a rule, in time linear in the matrix.

They are the baselines that a cleverer method has to beat. In all of them the rows of the assignment sum to 1, and
in all but `threshold` reward[t] = -sum_j assignment[t, j] * cost[t, j]. Cost and lengths are as in `orca`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from orcalign.checks import require_number
from orcalign.matching.kernel import exp_nonpositive, kernel
from orcalign.matching.match import Episodes, IntArray, Match, as_valid_episodes
from orcalign.matching.transport import rewards_of_plan


def final_frame(cost: npt.ArrayLike, *, lengths: npt.ArrayLike | None = None) -> Match:
    """Every learner frame is matched with the demo's last: a goal image, and no way to it. Causal.

    Of `cost` [T, J] or [B, T, J] it gives reward [T] = -cost[t, J-1], assignment [T, J].

    >>> final_frame([[1.0, 2.0], [1.0, 0.5]]).reward.tolist()
    [-2.0, -0.5]
    """
    episodes = as_valid_episodes(cost, lengths)
    assignment = np.zeros_like(episodes.cost)
    assignment[..., -1] = 1
    return _rewarded(episodes, assignment)


def even(cost: npt.ArrayLike, *, lengths: npt.ArrayLike | None = None) -> Match:
    """Every learner frame is matched with all demo frames alike: what `ot` becomes for a large epsilon. Causal.

    Of `cost` [T, J] or [B, T, J] it gives reward [T] = minus the mean of the row, assignment [T, J] = 1/J. With cosine
    distances of some tenths and the paper's epsilon of 1, OT is not far from it.

    >>> even([[1.0, 2.0], [1.0, 0.0]]).reward.tolist()
    [-1.5, -0.5]
    """
    episodes = as_valid_episodes(cost, lengths)
    return _rewarded(episodes, np.full_like(episodes.cost, 1 / episodes.cost.shape[2]))


def nearest(cost: npt.ArrayLike, *, lengths: npt.ArrayLike | None = None) -> Match:
    """Every learner frame is matched with the closest demo frame, whatever its time. Causal.

    Of `cost` [T, J] or [B, T, J] it gives reward [T] = minus the least of the row, assignment [T, J] one-hot (the first
    of equals). It is the minimum distance of Dong et al., "Is Optimal Transport Necessary for Inverse Reinforcement
    Learning?", 2025.

    >>> nearest([[1.0, 2.0], [1.0, 0.5]]).reward.tolist()
    [-1.0, -0.5]
    """
    episodes = as_valid_episodes(cost, lengths)
    B, T, J = episodes.cost.shape
    lo, hi = np.zeros((B, T), np.int64), np.full((B, T), J, np.int64)
    return _nearest_within(episodes, lo, hi)


def segment(cost: npt.ArrayLike, *, lengths: npt.ArrayLike | None = None) -> Match:
    """Every learner frame is matched with the closest demo frame of its own share of the demo's time.

    The episode's time is cut into equal shares, one for each demo frame or, where the learner has fewer
    frames, the demo's time into one for each of those: learner frame t may be matched with the demo frames
    from floor(t J / T) to ceil((t+1) J / T) - 1. Not causal: it needs to know T. Returns and reference as of `nearest`,
    where it is called segment matching.

    >>> segment([[3.0, 1.0, 0.0, 0.0], [0.0, 0.0, 4.0, 2.0]]).reward.tolist()
    [-1.0, -2.0]
    """
    episodes = as_valid_episodes(cost, lengths)
    B, T, J = episodes.cost.shape
    lo, hi = np.zeros((B, T), np.int64), np.ones((B, T), np.int64)
    for b, length in enumerate(episodes.lengths.tolist()):
        t = np.arange(length)
        lo[b, :length], hi[b, :length] = t * J // length, -(-(t + 1) * J // length)
    return _nearest_within(episodes, lo, hi)


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
        cost, temperature, floor, lengths: as in `orca`.
        threshold: between 0 and 1, both excluded; the paper has 0.9 for Meta-world and 0.7 for Humanoid.

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
        raise ValueError(f"threshold is {level}; it must be below 1, or no subgoal would ever be passed.")
    temperature = require_number(temperature, "temperature", above=0)
    floor = require_number(floor, "floor", at_least=0)
    episodes = as_valid_episodes(cost, lengths)
    real = episodes.dtype.type
    assignment, reward = np.zeros(episodes.cost.shape, episodes.dtype), episodes.empty(columns=False)
    subgoal = np.full(episodes.cost.shape[:2], -1, np.int64)
    settings = real(level), real(1 / temperature), real(floor)
    _threshold_episodes(episodes.cost, episodes.lengths, *settings, assignment, reward, subgoal)
    return ThresholdMatch(episodes.unwrap(reward), episodes.unwrap(assignment), episodes.unwrap(subgoal))


def _nearest_within(episodes: Episodes, lo: Any, hi: Any) -> Match:
    assignment = np.zeros_like(episodes.cost)
    _mark_nearest(episodes.cost, episodes.lengths, lo, hi, assignment)
    return _rewarded(episodes, assignment)


def _rewarded(episodes: Episodes, assignment: Any) -> Match:
    for b, length in enumerate(episodes.lengths.tolist()):
        assignment[b, length:] = 0
    reward = episodes.empty(columns=False)
    rewards_of_plan(episodes.cost, episodes.lengths, False, assignment, reward)
    return Match(episodes.unwrap(reward), episodes.unwrap(assignment))


@kernel
def _mark_nearest(cost: Any, lengths: Any, lo: Any, hi: Any, assignment: Any) -> None:
    for b in range(cost.shape[0]):
        for t in range(lengths[b]):
            best = lo[b, t]
            for j in range(lo[b, t] + 1, hi[b, t]):
                if cost[b, t, j] < cost[b, t, best]:
                    best = j
            assignment[b, t, best] = 1


@kernel
def _threshold_episodes(
    cost: Any, lengths: Any, level: Any, inverse: Any, floor: Any, assignment: Any, reward: Any, subgoal: Any
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
