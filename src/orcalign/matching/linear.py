"""Matchers that solve nothing: each learner frame is assigned by a rule, in time linear in the matrix.

They are the baselines that a cleverer method has to beat. In all of them the rows of the assignment sum to 1
and reward[t] = -sum_j assignment[t, j] * cost[t, j].
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from orcalign.matching.inputs import Episodes, as_episodes, require_valid
from orcalign.matching.kernel import kernel
from orcalign.matching.match import Match
from orcalign.matching.transport import rewards_of_plan


def final_frame(cost: npt.ArrayLike, *, lengths: npt.ArrayLike | None = None) -> Match:
    """Every learner frame is matched with the demo's last: a goal image, and no way to it. Causal.

    Args:
        cost: [T, J] or [B, T, J], finite, not negative.
        lengths: [B] rows of each episode, for a batch of unequal lengths.

    Returns:
        Match: reward [T] = -cost[t, J-1], assignment [T, J].

    >>> final_frame([[1.0, 2.0], [1.0, 0.5]]).reward.tolist()
    [-2.0, -0.5]
    """
    episodes = _checked(cost, lengths)
    assignment = np.zeros_like(episodes.cost)
    assignment[..., -1] = 1
    return _rewarded(episodes, assignment)


def even(cost: npt.ArrayLike, *, lengths: npt.ArrayLike | None = None) -> Match:
    """Every learner frame is matched with all demo frames alike: what `ot` becomes for a large epsilon. Causal.

    With cosine distances of some tenths and the paper's epsilon of 1, OT is not far from it.

    Args:
        cost: [T, J] or [B, T, J], finite, not negative.
        lengths: [B] rows of each episode, for a batch of unequal lengths.

    Returns:
        Match: reward [T] = minus the mean of the row, assignment [T, J] = 1/J.

    >>> even([[1.0, 2.0], [1.0, 0.0]]).reward.tolist()
    [-1.5, -0.5]
    """
    episodes = _checked(cost, lengths)
    return _rewarded(episodes, np.full_like(episodes.cost, 1 / episodes.cost.shape[2]))


def nearest(cost: npt.ArrayLike, *, lengths: npt.ArrayLike | None = None) -> Match:
    """Every learner frame is matched with the closest demo frame, whatever its time. Causal.

    Args:
        cost: [T, J] or [B, T, J], finite, not negative.
        lengths: [B] rows of each episode, for a batch of unequal lengths.

    Returns:
        Match: reward [T] = minus the least cost of the row, assignment [T, J] one-hot (the first of equals).

    >>> nearest([[1.0, 2.0], [1.0, 0.5]]).reward.tolist()
    [-1.0, -0.5]

    Reference:
        Dong et al., "Is Optimal Transport Necessary for Inverse Reinforcement Learning?", 2025 (minimum
        distance).
    """
    episodes = _checked(cost, lengths)
    B, T, J = episodes.cost.shape
    lo, hi = np.zeros((B, T), np.int64), np.full((B, T), J, np.int64)
    return _nearest_within(episodes, lo, hi)


def segment(cost: npt.ArrayLike, *, lengths: npt.ArrayLike | None = None) -> Match:
    """Every learner frame is matched with the closest demo frame of its own share of the demo's time.

    The episode's time is cut into equal shares, one for each demo frame or, where the learner has fewer
    frames, the demo's time into one for each of those: learner frame t may be matched with the demo frames
    from floor(t J / T) to ceil((t+1) J / T) - 1. Not causal: it needs to know T.

    Args:
        cost: [T, J] or [B, T, J], finite, not negative.
        lengths: [B] rows of each episode, for a batch of unequal lengths.

    Returns:
        Match: reward [T], assignment [T, J] one-hot (the first of equals).

    >>> segment([[3.0, 1.0, 0.0, 0.0], [0.0, 0.0, 4.0, 2.0]]).reward.tolist()
    [-1.0, -2.0]

    Reference:
        Dong et al., "Is Optimal Transport Necessary for Inverse Reinforcement Learning?", 2025 (segment
        matching).
    """
    episodes = _checked(cost, lengths)
    B, T, J = episodes.cost.shape
    lo, hi = np.zeros((B, T), np.int64), np.ones((B, T), np.int64)
    for b, length in enumerate(episodes.lengths.tolist()):
        t = np.arange(length)
        lo[b, :length], hi[b, :length] = t * J // length, -(-(t + 1) * J // length)
    return _nearest_within(episodes, lo, hi)


def _checked(cost: npt.ArrayLike, lengths: npt.ArrayLike | None) -> Episodes:
    episodes = as_episodes(cost, lengths)
    require_valid(episodes)
    return episodes


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
