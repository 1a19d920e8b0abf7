"""Several demos of one task: which one is the learner following?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from orcalign.matching.match import FloatArray, IntArray, Match


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

    Returns:
        Pooled: reward [T], demo [T], best_demo, best.

    >>> from orcalign.matching import final_frame
    >>> a, b = final_frame([[1.0], [0.0], [0.0]]), final_frame([[3.0, 0.0], [3.0, 2.0], [3.0, 3.0]])
    >>> pooled = pool([a, b])
    >>> pooled.reward.tolist(), pooled.demo.tolist(), pooled.best_demo
    ([0.0, 0.0, 0.0], [1, 0, 0], 0)
    """
    if how not in ("max", "best"):
        raise ValueError(f"how is {how!r}; it must be 'max' or 'best'.")
    if not matches:
        raise ValueError("matches is empty; give one match per demo.")
    shapes = {match.reward.shape for match in matches}
    if len(shapes) != 1 or matches[0].reward.ndim != 1:
        raise ValueError(
            f"the rewards have the shapes {sorted(shapes)}; all must be [T] of one and the same episode "
            f"(pool the episodes of a batch one by one)."
        )
    rewards = np.stack([match.reward for match in matches])
    best = int(rewards.sum(axis=1).argmax())
    demo = rewards.argmax(axis=0) if how == "max" else np.full(rewards.shape[1], best)
    return Pooled(rewards[demo, np.arange(rewards.shape[1])], demo, best, matches[best])
