"""Which frames a match pairs, and where it breaks the order."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from orcalign.matching import DtwMatch, Match, OrcaMatch
from orcalign.matching.match import FloatArray, IntArray

SLACK = 3
"""Demo frames that a pair may lie behind an earlier one: costs are averaged over three, and a plan may choose any."""


def matched_pairs(match: Match) -> IntArray:
    """[P, 2] Learner and demo frames that belong together.

    Of ORCA's coverage, the learner frame by which each demo frame is covered in the best order; of a DTW path, all of
    it; of a plan, the demo frame with the largest share of each learner frame.

    >>> from orcalign.matching import orca, ot
    >>> cost = np.array([[0.0, 9.0], [0.0, 9.0], [9.0, 0.0]])
    >>> matched_pairs(orca(cost)).tolist()
    [[0, 0], [2, 1]]
    >>> matched_pairs(ot(cost, epsilon=0.1)).tolist()
    [[0, 0], [1, 0], [2, 1]]
    """
    assignment = match.assignment
    if isinstance(match, OrcaMatch):
        return np.stack([_covered_at(assignment), np.arange(assignment.shape[1])], axis=1)
    if isinstance(match, DtwMatch):
        return np.argwhere(assignment > 0)
    return np.stack([np.arange(len(assignment)), assignment.argmax(axis=1)], axis=1)


def _covered_at(coverage: FloatArray) -> IntArray:
    """Read back from the end; a column never falls, so the first row that has the value is where it was reached."""
    when = np.empty(coverage.shape[1], np.int64)
    t = len(coverage) - 1
    for j in range(len(when) - 1, -1, -1):
        t = int(np.searchsorted(coverage[: t + 1, j], coverage[t, j], side="left"))
        when[j] = t
    return when


def order_breaks(pairs: IntArray) -> npt.NDArray[np.bool_]:
    """[P] Whether a pair lies more than `SLACK` demo frames behind one of an earlier learner frame.

    >>> order_breaks(np.array([[0, 0], [1, 9], [2, 8], [3, 4], [4, 9]])).tolist()
    [False, False, False, True, False]
    """
    furthest = np.maximum.accumulate(pairs[:, 1])
    return pairs[:, 1] < furthest - SLACK
