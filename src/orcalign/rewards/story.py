"""What happened, in numbers and sentences: where the learner stalled, skipped, or went backwards."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from orcalign.matching import OrcaMatch
from orcalign.matching.match import FloatArray, IntArray, as_episodes, require_valid
from orcalign.rewards.following import Following, follow
from orcalign.rewards.spans import Span, skips, stalls, ways_back

QUARTER_SHARE = 0.8
"""Share of a quarter's frames that must have been reached; one unlucky frame must not undo a quarter."""


@dataclass(frozen=True, eq=False)
class Story:
    """One learner's episode against one demo, told by `tell`."""

    total: float
    """Sum of ORCA's rewards."""
    final_coverage: float
    """ORCA's C[T-1, J-1]: the whole demo covered in order, at any time."""
    final_progress: float
    """ORCA's progress[T-1]: mean coverage over all demo frames but the last."""
    quarters: tuple[int | None, int | None, int | None, int | None]
    """First learner frame at which each quarter of the demo was covered in order; None: never."""
    longest_stall: int
    """Learner frames of the longest stall in `spans`; 0 if there is none."""
    position: IntArray
    """[T] Demo frame that the learner is at, as far as one can say; it may go back."""
    spans: tuple[Span, ...]
    """Stalls, skips and ways back, by their first learner frame."""
    reach: FloatArray
    """[J] Cost up to which a demo frame counted as reached."""


def tell(cost: npt.ArrayLike, match: OrcaMatch, demo_cost: npt.ArrayLike | None = None) -> Story:
    """Tell what the learner did.

    `total`, `final_coverage` and `final_progress` are ORCA's numbers. The rest does not depend on ORCA's
    temperature, because at temperature 1 every frame looks half covered; it follows from distances alone:

        place     demo frames in a row that look alike (a pause) are one place: a new one begins where a frame
                  is further than 5% of the demo's largest distance from the place's first frame
        spread    median distance between two places
        offset    lower quartile over t of min_j cost[t, j], at most spread / 2: how near this learner comes
        reach     of a demo frame: offset + max(spread / 4, step), where step is the distance of its place to
                  the neighbouring ones, at most spread / 2
        t_j       learner frame given to demo frame j by ORCA's best in-order alignment with floor = offset,
                  the one that minimises the sum of max(0, cost[t_j, j] - offset) under t_0 <= t_1 <= ...
        reached   j is reached if cost[t_j, j] <= reach_j
        position  the p that minimises sum_t cost[t, p_t] + 1/2 |way(p_t) - way(p_{t-1})|, where way is the
                  length of the demo's path up to a place, and the learner is taken to begin at frame 0
        passed    j is passed at t if p_{t-1} < j <= p_t; at t = 0 if j <= p_0 and cost[0, j] <= reach_j
        quarter q demo frames floor(q J/4) to ceil((q+1) J/4); covered if 80% of them are reached, and passed
                  after the quarter covered before; then at the first t at which the last of those is passed

    - A *stall* is a run of learner frames at one place that is not the last, of at least 5 frames and T/20,
      and of more than four times as many learner frames per demo frame as elsewhere.
    - A *skip* is a run of demo frames not reached, with a reached one behind it, to which the learner came
      from before the run; at least 2 frames, J/50 and, for a learner of few frames, 2 J/T. What lies behind
      the last reached frame is not skipped but never arrived at.
    - *Backwards* is a stretch on which the position falls by more than spread / 4 along the demo's path and
      by at least 2 frames and J/20, within reach of the demo for half of the time.

    Args:
        cost: [T, J], best without context: averaged with what comes next, a frame on the way back looks like none.
        match: ORCA's match of that cost or of the same with context, whatever method the reward comes from.
        demo_cost: [J, J] distances between the demo's own frames, made like `cost`. None: estimated from the
            columns of `cost`, |cost[t, i] - cost[t, j]| at its largest over t, which is never above the
            distance of i and j in a metric.

    Returns:
        Story.

    >>> from orcalign.matching import orca
    >>> learner, demo = np.repeat(np.arange(8.0), [1, 1, 1, 20, 1, 1, 1, 1]), np.arange(8.0)
    >>> cost = np.abs(learner[:, None] - demo)
    >>> story = tell(cost, orca(cost))
    >>> story.quarters, story.longest_stall
    ((1, 3, 24, 26), 20)
    >>> print(story.spans[0].text)
    For 20 learner frames (3 to 22) the learner makes no progress; it stays at demo frame 3.
    """
    episodes = as_episodes(cost)
    require_valid(episodes)
    if episodes.batched:
        raise ValueError(
            f"cost has shape {episodes.cost.shape}; a story is told of one episode [T, J], so give one at a time."
        )
    matrix = episodes.cost[0].astype(np.float64, copy=False)
    if match.assignment.shape != matrix.shape:
        raise ValueError(
            f"the match has shape {match.assignment.shape} and the cost {matrix.shape}; give orca(cost)."
        )
    between = None if demo_cost is None else _demo_cost(demo_cost, matrix.shape[1])
    path = follow(matrix, between)
    spans = sorted([*stalls(path), *skips(path), *ways_back(path, matrix)], key=lambda s: (s.start, s.kind))
    first, second, third, fourth = _quarters(path)
    return Story(
        total=float(match.reward.sum(dtype=np.float64)),
        final_coverage=float(match.assignment[-1, -1]),
        final_progress=float(match.progress[-1]),
        quarters=(first, second, third, fourth),
        longest_stall=max((span.length for span in spans if span.kind == "stall"), default=0),
        position=path.position,
        spans=tuple(spans),
        reach=path.reach,
    )


def _demo_cost(values: npt.ArrayLike, J: int) -> FloatArray:
    square = as_episodes(values)
    require_valid(square)
    if square.batched or square.cost.shape[1:] != (J, J):
        raise ValueError(
            f"demo_cost has shape {np.shape(values)}; it must be [{J}, {J}], the distances between the "
            f"{J} demo frames."
        )
    distances: FloatArray = square.cost[0].astype(np.float64, copy=False)
    return distances


def _quarters(path: Following) -> list[int | None]:
    J = len(path.reached)
    found: list[int | None] = []
    after = 0
    for q in range(4):
        start, stop = q * J // 4, -(-(q + 1) * J // 4)
        covered = path.reached[start:stop] & path.passed[after:, start:stop].any(axis=0)
        if covered.sum() < QUARTER_SHARE * (stop - start):
            found.append(None)
            continue
        last = start + int(np.flatnonzero(covered)[-1])
        after += int(path.passed[after:, last].argmax())
        found.append(after)
    return found
