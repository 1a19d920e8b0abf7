"""The paper's temporal misalignments: the fixed one of each Meta-world task, and the random protocol.

Random protocol (section "Varying Temporal Alignment Level"): a demo is cut once success has held for a tenth
of the episode, split into five equal segments, and one or three of them change their speed. The mean absolute
deviation of the new segment lengths says how misaligned the result is.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from orcalign.checks import require
from orcalign.video.warps import Warp, keep

Speed = Literal["fast", "slow"]
Level = Literal["low", "high"]

PAPER_KEEP_LISTS: dict[str, str] = {
    "button-press": "0-14,31,43,44",
    "door-close": "0-14,31,43,44",
    "door-open": "0-14,31,32,55,56",
    "window-open": "0-4,26-37,49,50,51",
    "lever-pull": "5-17,31,32,55,56,60,61",
    "hand-insert": "5-17,21,22,31,32,55,56",
    "push": "10-24,49,50,51",
    "basketball": "7-19,25,26,31,32,55,56",
    "stick-push": "10-24,49,50,51",
    "door-lock": "0-19,28,29,30,61,62",
}
"""Frames of the aligned demo that make up the paper's misaligned one."""

RATES: dict[str, tuple[int, ...]] = {"fast": (2, 4, 6, 8, 10), "slow": (2, 3, 4, 5, 6)}
"""Factors by which a segment can be sped up or slowed down."""
SEGMENTS = 5
CHANGED = (1, 1, 1, 3, 3, 3)
"""How many segments change in each of the six demos of a task and speed."""


def paper_misalignment(task: str, length: int) -> Warp:
    """The paper's fixed misalignment of a task, for an aligned demo of `length` frames.

    >>> len(paper_misalignment("door-close", 63))
    18
    """
    require("task", task, tuple(PAPER_KEEP_LISTS))
    return keep(PAPER_KEEP_LISTS[task], length)


def _held_frames(length: int) -> int:
    """Frames for which success must hold in an episode of `length`: a tenth, rounded up."""
    return -(-length // 10)


def success_start(success: Sequence[bool]) -> int | None:
    """First index of the first run of success that holds for a tenth of the episode; None if there is none.

    >>> success_start([False, True, False, False] + [True] * 16)
    4
    """
    run = 0
    for k, flag in enumerate(success):
        run = run + 1 if flag else 0
        if run == _held_frames(len(success)):
            return k - run + 1
    return None


def cut_length(length: int, success_at: int | None) -> int:
    """Frames left when the demo is cut after success, reached at `success_at`, has held for a tenth of it.

    >>> cut_length(63, 40), cut_length(63, 60), cut_length(63, None)
    (47, 63, 63)
    """
    if success_at is None:
        return length
    if not 0 <= success_at < length:
        raise ValueError(f"success_at={success_at} is outside a demo of {length} frames; use None for no success.")
    return min(length, success_at + _held_frames(length))


@dataclass(frozen=True)
class Misalignment:
    """A demo with some segments faster or slower."""

    warp: Warp
    """On the original demo, the cut included."""
    speed: Speed
    changes: tuple[tuple[int, int], ...]
    """(segment, factor) of each changed segment, in order of time."""
    segment_lengths: tuple[int, ...]
    """Frames each of the five segments has afterwards."""
    level: Level | None = None
    """Rank among its siblings: the three with the smaller deviation are low. None if it has no siblings."""

    @property
    def deviation(self) -> float:
        """Mean absolute deviation of the segment lengths."""
        lengths = np.array(self.segment_lengths, dtype=float)
        return float(np.abs(lengths - lengths.mean()).mean())


def change_segments(
    length: int, speed: Speed, changes: Sequence[tuple[int, int]], success_at: int | None = None
) -> Misalignment:
    """Change the speed of some of the five segments; the last frame is always kept.

    >>> change_segments(10, "fast", [(4, 2)]).warp.indices
    (0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
    >>> change_segments(20, "fast", [(1, 4), (4, 2)]).segment_lengths
    (4, 1, 4, 4, 3)
    """
    require("speed", speed, tuple(RATES))
    size = cut_length(length, success_at)
    if size < SEGMENTS:
        raise ValueError(f"A demo of {size} frames cannot be split into {SEGMENTS} segments; use a longer one.")
    factors = dict(changes)
    if len(factors) != len(changes) or not all(0 <= s < SEGMENTS and k >= 1 for s, k in changes):
        raise ValueError(
            f"changes={list(changes)} must name different segments 0 to {SEGMENTS - 1}, "
            "each with a factor of at least 1."
        )
    pieces: list[list[int]] = []
    for segment in range(SEGMENTS):
        frames = np.arange(segment * size // SEGMENTS, (segment + 1) * size // SEGMENTS)
        k = factors.get(segment, 1)
        pieces.append((frames[::k] if speed == "fast" else frames.repeat(k)).tolist())
    if pieces[-1][-1] != size - 1:
        pieces[-1].append(size - 1)
    warp = Warp(tuple(frame for piece in pieces for frame in piece), length)
    return Misalignment(warp, speed, tuple(sorted(factors.items())), tuple(len(piece) for piece in pieces))


def random_misalignments(
    length: int, speed: Speed, rng: np.random.Generator, success_at: int | None = None
) -> tuple[Misalignment, ...]:
    """Six random misalignments of one demo, as drawn: three with one changed segment, three with three.

    >>> six = random_misalignments(63, "slow", np.random.default_rng(0), success_at=40)
    >>> sorted(m.level for m in six)
    ['high', 'high', 'high', 'low', 'low', 'low']
    """
    require("speed", speed, tuple(RATES))
    drawn = []
    for count in CHANGED:
        segments = sorted(int(s) for s in rng.choice(SEGMENTS, size=count, replace=False))
        factors = [int(k) for k in rng.choice(RATES[speed], size=count)]
        drawn.append(change_segments(length, speed, list(zip(segments, factors, strict=True)), success_at))
    return rank(drawn)


def rank(misalignments: Sequence[Misalignment]) -> tuple[Misalignment, ...]:
    """Mark the half with the smaller deviation low and the others high; of equals, the earlier is low."""
    order = sorted(range(len(misalignments)), key=lambda i: (misalignments[i].deviation, i))
    low = set(order[: len(order) // 2])
    return tuple(replace(m, level="low" if i in low else "high") for i, m in enumerate(misalignments))


def one_of_each(pool: Sequence[Misalignment], rng: np.random.Generator) -> dict[tuple[Speed, Level], Misalignment]:
    """One of each of the paper's four categories, drawn from a pool, to train on demos of several speeds.

    >>> rng = np.random.default_rng(0)
    >>> pool = (*random_misalignments(63, "fast", rng), *random_misalignments(63, "slow", rng))
    >>> list(one_of_each(pool, rng))
    [('fast', 'low'), ('fast', 'high'), ('slow', 'low'), ('slow', 'high')]
    """
    chosen: dict[tuple[Speed, Level], Misalignment] = {}
    for speed, level in itertools.product(get_args(Speed), get_args(Level)):
        group = [one for one in pool if (one.speed, one.level) == (speed, level)]
        if not group:
            raise ValueError(f"there is no {speed}-{level} misalignment to draw; give six of each speed.")
        chosen[speed, level] = group[int(rng.integers(len(group)))]
    return chosen
