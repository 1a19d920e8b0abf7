"""What happened, in numbers and sentences: where the learner stalled, skipped, or went backwards."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from orcalign.matching import OrcaMatch
from orcalign.matching.match import FloatArray, IntArray, as_valid_episodes
from orcalign.rewards.explanation import Span, Story
from orcalign.rewards.following import Following, follow

QUARTER_SHARE = 0.8
"""Share of a quarter's frames that must have been reached; one unlucky frame must not undo a quarter."""
SHORTEST_STALL = 5
"""Learner frames; shorter waits are the noise of any motion."""
SLOW = 4
"""How many times as long as at its own pace elsewhere a learner may take over a place without stalling."""
PATIENT = 2
"""How many times as long as the demo."""


def tell(
    cost: npt.ArrayLike,
    match: OrcaMatch,
    demo_cost: npt.ArrayLike | None = None,
    pace: float = 1.0,
    shortest: float = 0.0,
) -> Story:
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

    - A *stall* is a run of learner frames at one place that is not the last (or is, but was not reached), of at
      least 5 frames and T/20, of more than four times as many learner frames per demo frame as elsewhere, and of
      more than twice as many as the demo takes there at its own pace.
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
        pace: learner frames in the time of a demo frame.
        shortest: learner frames below which a wait is no stall, if that is more than the five above.

    >>> from orcalign.matching import orca
    >>> learner, demo = np.repeat(np.arange(8.0), [1, 1, 1, 20, 1, 1, 1, 1]), np.arange(8.0)
    >>> cost = np.abs(learner[:, None] - demo)
    >>> story = tell(cost, orca(cost))
    >>> story.quarters, story.longest_stall
    ((1, 3, 24, 26), 20)
    >>> print(story.spans[0].text)
    For 20 learner frames (3 to 22) the learner makes no progress; it stays at demo frame 3.
    """
    episodes = as_valid_episodes(cost)
    if episodes.batched:
        raise ValueError(
            f"cost has shape {episodes.cost.shape}; a story is told of one episode [T, J], so give one at a time."
        )
    matrix = episodes.cost[0].astype(np.float64, copy=False)
    if match.assignment.shape != matrix.shape:
        raise ValueError(f"the match has shape {match.assignment.shape} and the cost {matrix.shape}; give orca(cost).")
    between = None if demo_cost is None else _demo_cost(demo_cost, matrix.shape[1])
    path = follow(matrix, between)
    spans = sorted(
        [*stalls(path, pace, shortest), *skips(path), *ways_back(path, matrix)], key=lambda s: (s.start, s.kind)
    )
    return Story(
        total=float(match.reward.sum(dtype=np.float64)),
        final_coverage=float(match.assignment[-1, -1]),
        final_progress=float(match.progress[-1]),
        quarters=_quarters(path),
        longest_stall=max((span.length for span in spans if span.kind == "stall"), default=0),
        position=path.position,
        spans=tuple(spans),
        reach=path.reach,
    )


def tell_of_goals(cost: FloatArray, match: OrcaMatch) -> Story:
    """The same of goals in words, whose costs [T, J] have one scale: any two are as far apart as can be, and a quarter
    of them is covered when ORCA's coverage is more than a half."""
    J = cost.shape[1]
    told = tell(cost, match, 1.0 - np.eye(J))
    ends = [-(-(q + 1) * J // 4) - 1 for q in range(4)]
    done = [match.assignment[:, j] > 0.5 for j in ends]
    return replace(told, quarters=tuple(int(one.argmax()) if one.any() else None for one in done))


def _demo_cost(values: npt.ArrayLike, J: int) -> FloatArray:
    square = as_valid_episodes(values)
    if square.batched or square.cost.shape[1:] != (J, J):
        raise ValueError(
            f"demo_cost has shape {np.shape(values)}; it must be [{J}, {J}], the distances between the {J} demo frames."
        )
    return np.asarray(square.cost[0], np.float64)


def _quarters(path: Following) -> tuple[int | None, ...]:
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
    return tuple(found)


def stalls(path: Following, own_pace: float = 1.0, shortest: float = 0.0) -> list[Span]:
    """Runs of learner frames at one place, longer than the demo gives reason for."""
    T, J = len(path.position), len(path.place)
    patience = max(SHORTEST_STALL, T / 20, shortest)
    rests = _rests(path.place[path.position])
    long = [stop - start >= patience for start, stop, _ in rests]
    found: list[Span] = []
    k = 0
    while k < len(rests):
        start, stop, places = rests[k]
        k += 1
        # It may rest on the border of two places, or of three around a common one, and be long at each.
        while long[k - 1] and k < len(rests) and long[k]:
            both = places | rests[k][2]
            if max(both) - min(both) > 2:
                break
            stop, places = rests[k][1], both
            k += 1
        here = np.flatnonzero(np.isin(path.place, list(places)))
        pace = (T - (stop - start)) / max(1, J - len(here))
        arrived = here[-1] == J - 1 and bool(path.reached[-1])
        usual = len(here) * max(SLOW * pace, PATIENT * own_pace)
        if arrived or stop - start < patience or stop - start <= usual:
            continue
        text = (
            f"For {stop - start} learner frames ({start} to {stop - 1}) the learner makes no progress; "
            f"it stays at demo frame {int(np.median(path.position[start:stop]))}."
        )
        found.append(Span("stall", start, stop, int(here[0]), int(here[-1]) + 1, text))
    return found


def _rests(places: IntArray) -> list[tuple[int, int, set[int]]]:
    """Runs of learner frames at one place, or to and fro between two neighbours: (start, stop, places)."""
    edges = (np.flatnonzero(np.diff(places)) + 1).tolist()
    runs: list[tuple[int, int, set[int]]] = []
    for start, stop in zip([0, *edges], [*edges, len(places)], strict=True):
        place = int(places[start])
        runs.append((start, stop, {place}))
        if len(runs) > 1 and place in runs[-2][2]:
            runs[-2:] = [(runs[-2][0], stop, runs[-2][2])]
        elif len(runs) > 2 and runs[-3][2] == {place} and runs[-2][2] <= {place - 1, place + 1}:
            runs[-3:] = [(runs[-3][0], stop, runs[-3][2] | runs[-2][2])]
    return runs


def skips(path: Following) -> list[Span]:
    """Runs of demo frames that the learner passed over."""
    T, J = len(path.position), len(path.reached)
    # A video of few frames passes over some of many, and that is no fault.
    shortest = max(2, J / 50, 2 * J / T)
    found = []
    missed = np.concatenate([[False], ~path.reached, [False]])
    edges = np.flatnonzero(np.diff(missed.astype(np.int8)))
    for first, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        if end == J or end - first < shortest:
            continue
        arrival = int(path.when[end])
        earliest = int(path.when[first - 1]) if first else 0
        before = np.flatnonzero(path.position[earliest:arrival] <= first)
        came_from_further_on = arrival > 0 and not len(before)
        looks_like_home = path.place[path.position[earliest:].max()] < path.place[end]
        if came_from_further_on or looks_like_home:
            continue
        start = earliest + int(before[-1]) if len(before) else 0
        frames = f"demo frame {first}" if end - first == 1 else f"demo frames {first} to {end - 1}"
        text = (
            f"By learner frame {arrival} the learner is at demo frame {end}, "
            f"but {frames} {'was' if end - first == 1 else 'were'} skipped."
        )
        found.append(Span("skip", start, arrival + 1, first, end, text))
    return found


def ways_back(path: Following, cost: FloatArray) -> list[Span]:
    """Stretches on which the learner goes back along the demo; cost [T, J]."""
    way = path.way[path.position]
    near = cost[np.arange(len(way)), path.position] <= path.reach[path.position]
    steps = np.diff(way)
    falls = np.flatnonzero(steps < 0)
    rises = np.flatnonzero(steps > 0)
    found = []
    # Falls with no rise between them are one stretch, however long the rests in it.
    for stretch in np.split(falls, np.flatnonzero(np.diff(np.searchsorted(rises, falls))) + 1):
        if not len(stretch):
            continue
        start, stop = int(stretch[0]), int(stretch[-1]) + 2
        high, low = int(path.position[start]), int(path.position[stop - 1])
        trifle = way[start] - way[stop - 1] <= path.spread / 4 or high - low < max(2, len(path.place) / 20)
        if trifle or near[start:stop].mean() < 0.5:
            continue
        text = (
            f"From learner frame {start} to {stop - 1} the learner goes backwards, "
            f"from demo frame {high} to demo frame {low}."
        )
        found.append(Span("backwards", start, stop, low, high + 1, text))
    return found
