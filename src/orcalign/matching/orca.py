"""ORCA, ordered coverage: has the learner covered the demo's frames in order, and is it in the last one now?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from orcalign.checks import require_number
from orcalign.matching.kernel import bits, exp_nonpositive, flush, kernel, reordering_kernel, wide_vectors
from orcalign.matching.match import FloatArray, Match, as_episodes, require_valid
from orcalign.matching.threads import for_chunks

LANES = 8
"""Rows that `orca_rows` carries side by side."""
NOTHING = 1
"""A coverage of 0 in the unit of `_cover`."""


@final
@dataclass(frozen=True, eq=False)
class OrcaMatch(Match):
    """Ordered coverage: `assignment` [T, J] is C[t, j], in [0, 1]."""

    progress: FloatArray
    """[T] Mean of C[t, j] over all demo frames but the last: how far the demo has been followed in order."""


def orca(
    cost: npt.ArrayLike,
    temperature: float = 1.0,
    floor: float = 0.0,
    *,
    lengths: npt.ArrayLike | None = None,
) -> OrcaMatch:
    """ORCA rewards of a learner's episode against a demo.

        P[t, j]   = exp(-max(0, cost[t, j] - floor) / temperature)     probability that t occupies j
        C[t, j]   = max(C[t-1, j], C[t, j-1] * P[t, j])                ordered coverage, C[t, -1] = 1, C[-1, j] = 0
        reward[t] = C[t, J-2] * P[t, J-1]                              (J = 1: P[t, 0])

    Causal: row t depends on rows up to t only. O(T J).

    C[t, j] is the probability of the *best* single in-order alignment of demo frames 0..j with learner
    frames up to t, frames taken as independent. It is a lower bound of the probability summed over all
    alignments, not that sum. `progress` is its mean over the first J-1 frames (J = 1: the running maximum
    of P): it never falls and moves from the first frame on, but it is no probability of success, and it
    does not say that the learner is still where it has been.

    Args:
        cost: [T, J] or [B, T, J], distances of learner frame t to demo frame j; finite, not negative.
        temperature: above 0; 1/lambda of the paper, whose value is 1. Lower is stricter.
        floor: distance below which a frame counts as occupied. 0 is the paper. Frames of another episode
            rarely come closer than some 0.05 in cosine distance; without a floor their product fades
            exponentially in J.
        lengths: [B] rows of each episode, for a batch of unequal lengths.

    Returns:
        OrcaMatch: reward [T] in [0, 1], assignment [T, J] = C, progress [T]; with a leading B for a batch.

    Example:
        A learner that visits demo frames 0, 1 and 2 in turn, at distance 0:

        >>> import numpy as np
        >>> match = orca(np.array([[0.0, 9.0, 9.0], [9.0, 0.0, 9.0], [9.0, 9.0, 0.0]]))
        >>> match.reward.round(3).tolist()
        [0.0, 0.0, 1.0]
        >>> match.progress.round(3).tolist()
        [0.5, 1.0, 1.0]

    See also:
        `orca_log` for demos of many hundred frames, `OrcaTracker` for one frame at a time.

    Reference:
        "Imitation Learning from a Single Temporally Misaligned Video", ICML 2025, Algorithm 1.
    """
    temperature = require_number(temperature, "temperature", above=0)
    floor = require_number(floor, "floor", at_least=0)
    episodes = as_episodes(cost, lengths)
    B, T, J = episodes.cost.shape
    coverage, reward = episodes.empty(columns=True), episodes.empty(columns=False)
    progress = episodes.empty(columns=False)
    real = episodes.dtype.type
    inverse, low = real(1.0 / temperature), real(floor)

    def work(start: int, stop: int) -> bool:
        return orca_episodes(episodes.cost, episodes.lengths, inverse, low, coverage, reward, progress, start, stop)

    if not all(for_chunks(B, B * T * J, work)):
        require_valid(episodes)
    return OrcaMatch(episodes.unwrap(reward), episodes.unwrap(coverage), episodes.unwrap(progress))


@kernel
def orca_episodes(
    cost: Any,
    lengths: Any,
    inverse: Any,
    floor: Any,
    coverage: Any,
    reward: Any,
    progress: Any,
    start: int,
    stop: int,
) -> bool:
    """`orca_rows` for the episodes start..stop of a batch; False if one of their costs is invalid."""
    state, occupancy, block = orca_buffers(cost[0, 0])
    valid = True
    for b in range(start, stop):
        state[:] = NOTHING
        rows = cost[b, : lengths[b]]
        valid &= orca_rows(rows, inverse, floor, state, occupancy, block, coverage[b], reward[b], progress[b])
    return valid


@kernel
def orca_buffers(row: Any) -> Any:
    """What `orca_rows` works in, for rows like `row` [J].

    The state before the first frame, with a margin at its end; P of eight rows, one after the other, with a
    margin at both ends; and C of eight rows, each with a margin at both ends.
    """
    J = row.size
    state = np.full(J + LANES, row.dtype.type(NOTHING))
    occupancy = np.zeros(LANES * J + 2 * LANES, row.dtype)
    block = np.zeros(LANES * (J + 2 * LANES), row.dtype)
    return state, occupancy, block


@kernel
def orca_rows(
    cost: Any,
    inverse: Any,
    floor: Any,
    state: Any,
    occupancy: Any,
    block: Any,
    coverage: Any,
    reward: Any,
    progress: Any,
) -> bool:
    """Carry the coverage `state` over the rows of `cost` [T, J]: the one kernel behind everything ORCA.

    A whole episode, a batch, a relabelled replay and a single live frame (T = 1) all come through here, so
    they agree bit for bit. A row is a chain of dependent multiplications, and a CPU that waits for each of
    them idles most of the time; so eight rows are carried side by side, which changes no result and hides
    the wait. Where fewer are left, the others compute on what was there before, and nobody looks.

    Returns False at the first eight rows with a cost that is NaN, infinite or negative; `state` is then as
    it was before them.
    """
    T, J = cost.shape
    t = 0
    while t < T:
        rows = min(LANES, T - t)
        if not _fill_occupancy(cost, t, rows, inverse, floor, occupancy):
            return False
        _cover(occupancy, state, block)
        last = np.uintp(LANES + (rows - 1) * (J + 2 * LANES))
        for j in range(J):
            state[j] = block[last + np.uintp(j)]
        _to_probabilities(block)
        for r in range(rows):
            _finish_row(occupancy, block, r, coverage, reward, progress, t + r)
        t += rows
    flush(reward[:T])
    flush(progress[:T])
    return True


@kernel
def _fill_occupancy(cost: Any, t: int, rows: int, inverse: Any, floor: Any, occupancy: Any) -> bool:
    """P of `rows` rows from t on; False if one of their costs is invalid.

    Read as unsigned integers, the bits of finite numbers from 0 on lie below those of infinity, and the
    bits of NaN and of negative numbers do not: one maximum checks all costs while they are being read.
    Adding 0 makes -0.0 a plain 0 first.
    """
    wide_vectors()
    zero = cost.dtype.type(0)
    values = cost[t : t + rows].ravel()
    highest = bits(zero)
    for i in range(values.size):
        value = values[i] + zero
        seen = bits(value)
        highest = seen if seen > highest else highest
        above = value - floor
        above = above if above > zero else zero
        occupancy[LANES + i] = exp_nonpositive(-inverse * above)
    valid: bool = highest < bits(cost.dtype.type(np.inf))
    return valid


@kernel
def _cover(P: Any, state: Any, C: Any) -> None:
    """C of eight rows from their P and the row before them: at step s row r is at column s - r.

    It needs what row r-1 had at that column, which is what that row computed one step before: so from the
    last row to the first, every row reads its neighbour before the neighbour moves on. A row that is not
    inside yet, or no longer, computes on what lies there and writes into a margin. When it enters it is 1, as
    C[t, -1] has to be: all start at 1, and at the step before, its neighbour was still 1 and nothing is larger.

    Over many hundred frames most of C would be subnormal in float32, and with such numbers many CPUs take some ten
    times as long. So the unit here is the smallest normal number, and one of it, NOTHING, stands for 0: no C is less,
    and times any P it is still a normal number, or 0. Powers of two round nothing.
    """
    J = state.size - LANES
    one = C.dtype.type(1 / np.finfo(C.dtype).tiny)
    c = (one, one, one, one, one, one, one, one)
    for s in range(J + LANES - 1):
        c = _step(c, P, state, C, J, s)


@kernel
def _step(c: Any, P: Any, state: Any, C: Any, J: int, s: int) -> Any:
    """One step of `_cover`; unsigned indices, because numba tests others for being negative."""
    c0, c1, c2, c3, c4, c5, c6, c7 = c
    p0 = q0 = np.uintp(LANES + s)
    p = np.uintp(J - 1)  # from one row's column to the next row's, one to the left, in P
    q = np.uintp(J + 2 * LANES - 1)  # and in C
    p1, q1 = p0 + p, q0 + q
    p2, q2 = p1 + p, q1 + q
    p3, q3 = p2 + p, q2 + q
    p4, q4 = p3 + p, q3 + q
    p5, q5 = p4 + p, q4 + q
    p6, q6 = p5 + p, q5 + q
    p7, q7 = p6 + p, q6 + q
    x = c7 * P[p7]
    above = c6
    c7 = above if above > x else x
    C[q7] = c7
    x = c6 * P[p6]
    above = c5
    c6 = above if above > x else x
    C[q6] = c6
    x = c5 * P[p5]
    above = c4
    c5 = above if above > x else x
    C[q5] = c5
    x = c4 * P[p4]
    above = c3
    c4 = above if above > x else x
    C[q4] = c4
    x = c3 * P[p3]
    above = c2
    c3 = above if above > x else x
    C[q3] = c3
    x = c2 * P[p2]
    above = c1
    c2 = above if above > x else x
    C[q2] = c2
    x = c1 * P[p1]
    above = c0
    c1 = above if above > x else x
    C[q1] = c1
    x = c0 * P[p0]
    above = state[np.uintp(s)]
    c0 = above if above > x else x
    C[q0] = c0
    return (c0, c1, c2, c3, c4, c5, c6, c7)


@kernel
def _to_probabilities(block: Any) -> None:
    """From the unit of `_cover` to 1."""
    wide_vectors()
    zero, none, unit = block.dtype.type(0), block.dtype.type(NOTHING), np.finfo(block.dtype).tiny
    for i in range(block.size):
        block[i] = block[i] * unit if block[i] > none else zero


@reordering_kernel
def _finish_row(occupancy: Any, block: Any, r: int, coverage: Any, reward: Any, progress: Any, t: int) -> None:
    """Row r of the block goes out as row t, with its reward and its progress.

    Every order of additions rounds monotonically, so progress never falls however the compiler sums. Not being
    inlined it is one piece of machine code with one order for all its callers, the live tracker among them.
    """
    wide_vectors()
    J = coverage.shape[1]
    start = np.uintp(LANES + r * (J + 2 * LANES))
    total = coverage.dtype.type(0)
    for j in range(J - 1):
        value = block[start + np.uintp(j)]
        coverage[t, j] = value
        total += value
    coverage[t, J - 1] = block[start + np.uintp(J - 1)]
    reward[t] = occupancy[LANES + (r + 1) * J - 1]
    if J == 1:
        progress[t] = coverage[t, 0]
    else:
        reward[t] *= coverage[t, J - 2]
        progress[t] = total / coverage.dtype.type(J - 1)
