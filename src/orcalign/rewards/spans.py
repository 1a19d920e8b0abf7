"""Stalls, skips and ways back, found in a `Following`; `orcalign.rewards.tell` prints the rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from orcalign.matching.match import FloatArray, IntArray
from orcalign.rewards.following import Following

Kind = Literal["stall", "skip", "backwards"]

SHORTEST_STALL = 5
"""Learner frames; shorter waits are the noise of any motion."""
SLOW = 4
"""How many times as long as at its own pace elsewhere a learner may take over a place without stalling."""


@dataclass(frozen=True)
class Span:
    """Some learner frames with something to say about them.

    >>> Span("stall", 10, 30, 4, 5, "Twenty frames at demo frame 4.").length
    20
    """

    kind: Kind
    start: int
    """First learner frame."""
    stop: int
    """One past the last learner frame."""
    demo_start: int
    """First demo frame concerned: where it stalled, the first one skipped, the lowest one gone back to."""
    demo_stop: int
    """One past the last demo frame concerned."""
    text: str
    """One sentence for people."""

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ValueError(f"kind is {self.kind!r}; it must be one of {', '.join(get_args(Kind))}.")
        if not (0 <= self.start < self.stop and 0 <= self.demo_start < self.demo_stop):
            raise ValueError(
                f"a span has learner frames {self.start} to {self.stop} and demo frames {self.demo_start} to "
                f"{self.demo_stop}; both must be half-open, not empty, and begin at 0 or later."
            )

    @property
    def length(self) -> int:
        """Learner frames."""
        return self.stop - self.start


def stalls(path: Following) -> list[Span]:
    """Runs of learner frames at one place, longer than the demo gives reason for."""
    T, J = len(path.position), len(path.place)
    patience = max(SHORTEST_STALL, T / 20)
    rests = _rests(path.place[path.position])
    long = [stop - start >= patience for start, stop, _ in rests]
    found: list[Span] = []
    k = 0
    while k < len(rests):
        start, stop, places = rests[k]
        k += 1
        # It may rest on the border of two places, and be long at each.
        while long[k - 1] and k < len(rests) and long[k] and _touch(places, rests[k][2]):
            stop, places = rests[k][1], places | rests[k][2]
            k += 1
        here = np.flatnonzero(np.isin(path.place, list(places)))
        pace = (T - (stop - start)) / max(1, J - len(here))
        if here[-1] == J - 1 or stop - start < patience or stop - start <= SLOW * len(here) * pace:
            continue
        text = (
            f"For {stop - start} learner frames ({start} to {stop - 1}) the learner makes no progress; "
            f"it stays at demo frame {int(np.median(path.position[start:stop]))}."
        )
        found.append(Span("stall", start, stop, int(here[0]), int(here[-1]) + 1, text))
    return found


def _touch(places: set[int], others: set[int]) -> bool:
    """Whether two sets of places together are at most two neighbours, or three around a common one."""
    both = places | others
    return max(both) - min(both) <= 2


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
