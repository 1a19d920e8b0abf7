"""Several demos of one task: which one is the learner following?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from orcalign.checks import require
from orcalign.matching.match import FloatArray, IntArray, Match

POOLS = ("max", "best")


@final
@dataclass(frozen=True, eq=False)
class Pooled:
    """One reward from several demos."""

    reward: FloatArray
    """[T]"""
    demo: IntArray
    """[T] The demo that the reward at t comes from."""
    best_demo: int
    """The demo with the highest sum of rewards over the episode."""
    best: Match
    """That demo's match."""


def pool(matches: Sequence[Match], how: str = "max") -> Pooled:
    """Combine the matches of one episode with several demos, which may differ in length.

    Args:
        matches: one `Match` per demo, all of the same episode (same T).
        how: "max", the highest reward at every step, as the paper has it, or "best", all rewards from the
            demo with the highest sum over the episode, as its authors' code has it. Only "max" is causal.
            `require_pool` says which of them a matcher allows.

    Returns:
        Pooled: reward [T], demo [T], best_demo, best.

    >>> from orcalign.matching import final_frame
    >>> a, b = final_frame([[1.0], [0.0], [0.0]]), final_frame([[3.0, 0.0], [3.0, 2.0], [3.0, 3.0]])
    >>> pooled = pool([a, b])
    >>> pooled.reward.tolist(), pooled.demo.tolist(), pooled.best_demo
    ([0.0, 0.0, 0.0], [1, 0, 0], 0)
    """
    if not matches:
        raise ValueError("matches is empty; give one match per demo.")
    shapes = {match.reward.shape for match in matches}
    if len(shapes) != 1 or matches[0].reward.ndim != 1:
        raise ValueError(
            f"the rewards have the shapes {sorted(shapes)}; all must be [T] of one and the same episode "
            f"(pool the rewards of a batch with pool_rewards)."
        )
    reward, demo, best = pool_rewards(np.stack([match.reward for match in matches]), how)
    return Pooled(reward, demo, int(best), matches[int(best)])


def pool_rewards(rewards: FloatArray, how: str = "max") -> tuple[FloatArray, IntArray, IntArray]:
    """Combine the rewards of one episode [K, T] or of several [K, ..., T] against K demos.

    Rows beyond an episode's length, which are 0 with every demo, stay 0.

    Returns reward [..., T], demo [..., T] that it comes from, best [...]: the demo with the highest sum. `how` is as in
    `pool`.

    >>> reward, demo, best = pool_rewards(np.array([[[1.0, 5.0], [0.0, 0.0]], [[2.0, 2.0], [3.0, 0.0]]]))
    >>> reward.tolist(), demo.tolist(), best.tolist()
    ([[2.0, 5.0], [3.0, 0.0]], [[1, 0], [1, 0]], [0, 1])
    """
    require("how", how, POOLS)
    best = np.asarray(rewards.sum(axis=-1).argmax(axis=0))
    demo = rewards.argmax(axis=0) if how == "max" else np.repeat(best[..., None], rewards.shape[-1], axis=-1)
    return np.take_along_axis(rewards, demo[None], axis=0)[0], demo, best
