"""Dynamic time warping: the cheapest way through both sequences in step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from orcalign.matching.kernel import kernel
from orcalign.matching.match import FloatArray, IntArray, Match, as_valid_episodes
from orcalign.matching.threads import for_chunks
from orcalign.matching.transport import rewards_of_plan

LANES = 4


@final
@dataclass(frozen=True, eq=False)
class DtwMatch(Match):
    """`assignment` [T, J] is 1 on the path and 0 elsewhere, or rows of sum 1 with `normalise_rows`."""

    path: IntArray
    """[L, 2] The pairs (t, j) in order; for a batch [B, T+J-1, 2], padded with -1."""
    total_cost: FloatArray
    """[] Sum of the costs on the path ([B] for a batch)."""


def dtw(cost: npt.ArrayLike, normalise_rows: bool = False, *, lengths: npt.ArrayLike | None = None) -> DtwMatch:
    """DTW rewards: the path from (0, 0) to (T-1, J-1) by steps (1, 1), (1, 0), (0, 1) of least total cost.

        D[t, j]   = cost[t, j] + min(D[t-1, j-1], D[t-1, j], D[t, j-1])
        reward[t] = -sum_j assignment[t, j] * cost[t, j]

    Not causal: the path is found from its end. Among equally cheap paths the one with the most diagonal
    steps from the end is taken.

    Args:
        cost: [T, J] or [B, T, J], finite, not negative.
        normalise_rows: divide each row of the assignment by its sum, so that a learner frame matched with
            several demo frames is charged their mean instead of their sum.
        lengths: [B] rows of each episode, for a batch of unequal lengths.

    Returns:
        DtwMatch: reward [T] (never above 0), assignment [T, J], path [L, 2], total_cost.

    Example:
        >>> import numpy as np
        >>> match = dtw(np.array([[0.0, 2.0], [0.0, 2.0], [2.0, 0.0]]))
        >>> match.path.tolist(), float(match.total_cost)
        ([[0, 0], [1, 0], [2, 1]], 0.0)
    """
    episodes = as_valid_episodes(cost, lengths)
    B, T, J = episodes.cost.shape
    assignment = np.zeros(episodes.cost.shape, episodes.dtype)
    reward = episodes.empty(columns=False)
    path = np.full((B, T + J - 1, 2), -1, np.int64)
    steps, total = np.zeros(B, np.int64), np.zeros(B, episodes.dtype)

    def work(start: int, stop: int) -> None:
        _dtw_episodes(episodes.cost, episodes.lengths, assignment, path, steps, total, start, stop)

    for_chunks(B, 2 * B * T * J, work)
    rewards_of_plan(episodes.cost, episodes.lengths, normalise_rows, assignment, reward)
    unwrap = episodes.unwrap
    path = path if episodes.batched else path[:, : steps[0]]
    return DtwMatch(unwrap(reward), unwrap(assignment), unwrap(path), unwrap(total))


@kernel
def _dtw_episodes(
    cost: Any, lengths: Any, assignment: Any, path: Any, steps: Any, total: Any, start: int, stop: int
) -> None:
    T, J = cost.shape[1:]
    sums = np.empty((T, J), cost.dtype)
    for b in range(start, stop):
        length = lengths[b]
        _accumulate(cost[b, :length], sums)
        total[b] = sums[length - 1, J - 1]
        steps[b] = _trace_back(sums, length, path[b])
        for i in range(steps[b]):
            assignment[b, path[b, i, 0], path[b, i, 1]] = 1


@kernel
def _accumulate(cost: Any, D: Any) -> None:
    """D of the docstring above; four rows side by side (why: see `orca_rows`), the rest row by row."""
    T, J = cost.shape
    D[0, 0] = cost[0, 0]
    for j in range(1, J):
        D[0, j] = D[0, j - 1] + cost[0, j]
    t = 1
    while t + LANES <= T and J > LANES:
        _four_rows(cost, D, t)
        t += LANES
    while t < T:
        _stretch(cost, D, t, 0, J)
        t += 1


@kernel
def _stretch(cost: Any, D: Any, t: int, start: int, stop: int) -> None:
    """Columns start..stop of row t >= 1, given the row above and the column to the left."""
    if start == 0:
        D[t, 0] = D[t - 1, 0] + cost[t, 0]
        start = 1
    left = D[t, start - 1]
    for j in range(start, stop):
        above, corner = D[t - 1, j], D[t - 1, j - 1]
        best = above if above < corner else corner
        left = (left if left < best else best) + cost[t, j]
        D[t, j] = left


@kernel
def _four_rows(cost: Any, D: Any, t: int) -> None:
    """Rows t..t+3: at every step each row is one column behind the row above it."""
    J = cost.shape[1]
    for r in range(LANES - 1):
        _stretch(cost, D, t + r, 0, LANES - r)
    _stretch(cost, D, t + 3, 0, 1)
    # a, b, c, d: the last value of each row; a_, b_, c_: the one before it.
    a, a_ = D[t, 3], D[t, 2]
    b, b_ = D[t + 1, 2], D[t + 1, 1]
    c, c_ = D[t + 2, 1], D[t + 2, 0]
    d = D[t + 3, 0]
    p, p_ = D[t - 1], D[t - 1, 3]
    q0, q1, q2, q3 = cost[t], cost[t + 1], cost[t + 2], cost[t + 3]
    r0, r1, r2, r3 = D[t], D[t + 1], D[t + 2], D[t + 3]
    one = np.uintp(1)
    for step in range(1, J - 3):
        i = np.uintp(step)
        best = c if c < c_ else c_
        d = (d if d < best else best) + q3[i]
        r3[i] = d
        i += one
        best = b if b < b_ else b_
        c, c_ = (c if c < best else best) + q2[i], c
        r2[i] = c
        i += one
        best = a if a < a_ else a_
        b, b_ = (b if b < best else best) + q1[i], b
        r1[i] = b
        i += one
        above = p[i]
        best = above if above < p_ else p_
        p_ = above
        a, a_ = (a if a < best else best) + q0[i], a
        r0[i] = a
    for r in range(1, LANES):
        _stretch(cost, D, t + r, J - r, J)


@kernel
def _trace_back(D: Any, T: int, path: Any) -> int:
    """The path from its end, put in order at the start of `path`; returns its length."""
    t, j = T - 1, D.shape[1] - 1
    count = 0
    last = path.shape[0] - 1
    while True:
        path[last - count, 0], path[last - count, 1] = t, j
        count += 1
        if t == 0 and j == 0:
            break
        if t == 0:
            j -= 1
        elif j == 0:
            t -= 1
        else:
            corner, above, left = D[t - 1, j - 1], D[t - 1, j], D[t, j - 1]
            if corner <= above and corner <= left:
                t, j = t - 1, j - 1
            elif above <= left:
                t -= 1
            else:
                j -= 1
    shift = path.shape[0] - count
    for i in range(count):
        path[i, 0], path[i, 1] = path[i + shift, 0], path[i + shift, 1]
    for i in range(count, path.shape[0]):
        path[i, 0], path[i, 1] = -1, -1
    return count
