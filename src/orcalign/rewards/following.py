"""Where in the demo is the learner? The estimates behind a `Story`, from distances alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from orcalign.matching import orca_log
from orcalign.matching.match import FloatArray, IntArray

NOVEL = 0.05
"""Share of the demo's largest distance beyond which a frame is news."""
MOVING = 0.5
"""Price of moving along the demo, a share of the way moved: below 1, or the last step would never pay."""
ROWS = 256
"""Learner frames that are enough to tell how different two demo frames look."""


@dataclass(frozen=True, eq=False)
class Following:
    """How a learner follows a demo; `orcalign.rewards.tell` prints the formulas."""

    position: IntArray
    """[T] Demo frame that the learner is at; it may go back."""
    place: IntArray
    """[J] Number of the place that a demo frame shows; frames in a row that look alike share one."""
    way: FloatArray
    """[J] Length of the demo's path up to the frame's place."""
    when: IntArray
    """[J] Learner frame of the best in-order alignment, never falling."""
    reached: npt.NDArray[np.bool_]
    """[J] Whether the learner was near enough then."""
    passed: npt.NDArray[np.bool_]
    """[T, J] Whether the learner moves onto or over a demo frame, forwards."""
    spread: float
    """Median distance between two places."""
    reach: FloatArray
    """[J] Cost up to which a demo frame counts as reached."""


def follow(cost: FloatArray, demo_cost: FloatArray | None = None) -> Following:
    """Estimate where in the demo the learner is.

    Args:
        cost: [T, J] float64.
        demo_cost: [J, J] distances between demo frames; None: estimated by `seen_by_learner`.

    >>> cost = np.abs(np.array([0.0, 1.0, 2.0, 2.0, 1.0])[:, None] - np.arange(4.0))
    >>> path = follow(cost)
    >>> path.position.tolist(), path.when.tolist(), path.reached.tolist()
    ([0, 1, 2, 2, 1], [0, 1, 2, 2], [True, True, True, False])
    """
    between = seen_by_learner(cost) if demo_cost is None else demo_cost
    kept, place = places_of(between)
    among = between[np.ix_(kept, kept)]
    spread = float(np.median(among[np.triu_indices(len(kept), k=1)])) if len(kept) > 1 else 0.0
    steps = between[kept[:-1], kept[1:]]
    way = np.concatenate([[0.0], np.cumsum(steps)])[place]
    offset = min(float(np.quantile(cost.min(axis=1), 0.25)), spread / 2)
    # Half way between two demo frames is not off the path, however sparse the demo is there.
    farther = np.maximum(np.concatenate([[0.0], steps]), np.concatenate([steps, [0.0]]))
    # The last term only forgives rounding where all demo frames are the same.
    reach = offset + np.maximum(spread / 4, np.minimum(farther, spread / 2))[place] + 1e-9
    when = in_order(cost, offset)
    reached = cost[when, np.arange(len(between))] <= reach
    position = track(cost, way)
    frames = np.arange(len(between))
    before = np.concatenate([[-1], position[:-1]])
    passed = (before[:, None] < frames) & (frames <= position[:, None])
    passed[0] &= cost[0] <= reach
    return Following(position, place, way, when, reached, passed, spread, reach)


def places_of(between: FloatArray) -> tuple[list[int], IntArray]:
    """The first frame of each place, and the place [J] of each frame, by their distances [J, J]."""
    kept = novel_frames(between, NOVEL * float(between.max()))
    return kept, np.searchsorted(kept, np.arange(len(between)), side="right") - 1


def path_of(between: FloatArray) -> FloatArray:
    """[J] Length of the demo's path up to each frame's place, by their distances [J, J].

    >>> path_of(np.abs(np.subtract.outer([0.0, 0.0, 2.0], [0.0, 0.0, 2.0]))).tolist()
    [0.0, 0.0, 2.0]
    """
    kept, place = places_of(between)
    way: FloatArray = np.concatenate([[0.0], np.cumsum(between[kept[:-1], kept[1:]])])[place]
    return way


def novel_frames(pairs: FloatArray, step: float) -> list[int]:
    """Frames further than `step` from the last one kept, the first among them; `pairs` [J, J] are their distances.

    >>> novel_frames(np.array([[0.0, 0.1, 1.0], [0.1, 0.0, 0.9], [1.0, 0.9, 0.0]]), step=0.5)
    [0, 2]
    """
    kept = [0]
    for j in range(1, len(pairs)):
        if pairs[kept[-1], j] > step:
            kept.append(j)
    return kept


def seen_by_learner(cost: FloatArray) -> FloatArray:
    """How different demo frames look to this learner: the largest difference of two columns [J, J].

    >>> seen_by_learner(np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0]])).tolist()
    [[0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    """
    rows = cost[:: -(-len(cost) // ROWS)]
    return np.stack([np.abs(rows - column[:, None]).max(axis=0) for column in rows.T])


def in_order(cost: FloatArray, floor: float) -> IntArray:
    """Learner frame [J] given to each demo frame by ORCA's best alignment, the earliest of equals.

    It is the same at every temperature, and read back from ORCA's own table in the log domain, where no
    demo is too long.

    >>> in_order(np.array([[0.0, 5.0], [5.0, 0.0], [5.0, 0.0]]), floor=0.0).tolist()
    [0, 1]
    """
    logs = orca_log(cost, floor=floor).log_coverage
    when = np.empty(logs.shape[1], np.int64)
    t = len(logs) - 1
    for j in range(len(when) - 1, -1, -1):
        # Column j never falls with t: the first row that has the value is where it was reached.
        t = int(np.searchsorted(logs[: t + 1, j], logs[t, j], side="left"))
        when[j] = t
    return when


def track(cost: FloatArray, way: FloatArray) -> IntArray:
    """Demo frames [T] of least total cost and movement, from frame 0; moving is priced by the way moved.

    >>> track(np.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0], [2.0, 1.0, 0.0]]), np.arange(3.0)).tolist()
    [0, 2, 2]
    """
    T, J = cost.shape
    price = MOVING * way
    came_from = np.empty((T, J), np.int64)
    total = price - price[0] + cost[0]
    for t in range(1, T):
        up, from_below = _least_so_far(total - price)
        down, from_above = _least_so_far((total + price)[::-1])
        up, down, from_above = up + price, down[::-1] - price, J - 1 - from_above[::-1]
        moved = np.minimum(up, down)
        stays = total <= moved + 1e-12
        came_from[t] = np.where(stays, np.arange(J), np.where(up <= down, from_below, from_above))
        total = np.where(stays, total, moved) + cost[t]
    position = np.empty(T, np.int64)
    position[-1] = total.argmin()
    for t in range(T - 1, 0, -1):
        position[t - 1] = came_from[t, position[t]]
    return position


def _least_so_far(values: FloatArray) -> tuple[FloatArray, IntArray]:
    """Running minimum [J], and where it was first attained."""
    least = np.minimum.accumulate(values)
    new = np.concatenate([[True], values[1:] < least[:-1]])
    return least, np.maximum.accumulate(np.where(new, np.arange(len(values)), 0))
