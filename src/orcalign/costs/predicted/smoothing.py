"""From what is said of each frame of a demo alone to one story: what stands still, and what is carried.

All that is known here holds in any task: things rest until they are touched, what is grasped keeps its place in the
hand, and a goal stays where it is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from orcalign.costs.predicted.entities import Entities
from orcalign.matching.match import FloatArray

STILL = 1.5
"""Centimetres, beside a frame's own expected error, by which what stands still may seem to move."""
OUTLIERS = 0.34
"""Share of the frames of a still stretch that may be further off."""
GRASP = 10.0
"""Centimetres between the hand and the place of what it can hold."""
BEFORE = 4
"""Frames before an object moves in which it may have been grasped."""
SLIPS = 3.0
"""Centimetres by which what is held may lie otherwise in the hand than when it was taken."""
KEPT = 0.3
"""What a median of many frames does not make better: their errors have much in common."""


class Smoothed(NamedTuple):
    """A demo's J frames after all that was known."""

    values: FloatArray
    """[J, E]"""
    scales: FloatArray
    """[J, P]"""
    start: FloatArray
    """[E]"""


def weighted_median(values: FloatArray, weights: FloatArray) -> FloatArray:
    """[dim] Of points [n, dim], one coordinate at a time: the first value with half of all weight up to it.

    >>> weighted_median(np.array([[0.0], [1.0], [9.0]]), np.array([1.0, 1.0, 3.0])).tolist()
    [9.0]
    """
    order = np.argsort(values, axis=0, kind="stable")
    up_to = np.cumsum(weights[order], axis=0)
    half = (up_to < up_to[-1] / 2).sum(0)
    return np.asarray(np.take_along_axis(values, np.take_along_axis(order, half[None], 0), 0)[0])


def still_stretch(places: FloatArray, scales: FloatArray, still: float = STILL) -> int:
    """How many of the first frames show a thing [J, dim] that does not move, each up to its expected error [J].

    Single frames may be further off, up to a third of all, but no two in succession, and not the last.

    >>> still_stretch(np.array([[0.0], [0.2], [9.0], [0.1], [5.0], [6.0]]), np.full(6, 0.5))
    4
    """
    J = len(places)
    for count in range(J, 1, -1):
        middle = weighted_median(places[:count], 1 / scales[:count])
        off = np.linalg.norm(places[:count] - middle, axis=1) > still + scales[:count]
        if not off[-1] and off.mean() <= OUTLIERS and not (off[1:] & off[:-1]).any():
            return count
    return 1


def smooth(entities: Entities, values: npt.ArrayLike, scales: npt.ArrayLike, rest: npt.ArrayLike) -> Smoothed:
    """A demo's frames told as one story: values [J, E], expected errors [J, P], and an episode's beginning [E].

    >>> entities = Entities((0, 1), objects=((2, 3),))
    >>> values = np.array([[9.0, 0, 0.3, 0], [4, 0, 0.5, 0], [1, 0, 0.1, 0], [6, 0, 5.2, 0], [9, 0, 8.1, 0]])
    >>> told = smooth(entities, values, np.ones((5, 2)), [20.0, 0, 1, 0])
    >>> told.start.tolist(), told.values[:3, 2].tolist()
    ([20.0, 0.0, 0.3, 0.0], [0.3, 0.3, 0.3])
    """
    told, errors = np.array(values, np.float64), np.array(scales, np.float64)
    start = np.array(rest, np.float64)
    if not len(told):
        raise ValueError("the demo has no frames to describe.")
    column = {part.name: k for k, part in enumerate(entities.parts)}
    if "goal" in column:
        at, k = entities.at("goal"), column["goal"]
        goal = weighted_median(told[:, at], 1 / errors[:, k])
        told[:, at] = start[at] = goal
        errors[:, k] = _of_median(errors[:, k])
    for number in range(len(entities.objects)):
        name = f"object {number + 1}"
        at, k = entities.at(name), column[name]
        # Object 1 is what the hand touches; others are moved by it, and keep no place in the hand.
        hand = told[:, entities.at("hand")] if number == 0 else None
        told[:, at], errors[:, k], start[at] = _thing(told[:, at], errors[:, k], hand)
    return Smoothed(told, errors, start)


def _of_median(scales: FloatArray) -> FloatArray:
    """[n] Expected errors of the median of frames with these."""
    return np.asarray(np.minimum(scales, np.median(scales) / len(scales) ** 0.5 + KEPT))


def _thing(raw: FloatArray, scales: FloatArray, hand: FloatArray | None) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Places and expected errors of one object over the demo, and where it rests at its beginning."""
    told, errors, J = raw.copy(), scales.copy(), len(raw)
    first = still_stretch(raw, scales)
    start = weighted_median(raw[:first], 1 / scales[:first])
    told[:first] = start
    agreed = np.linalg.norm(raw[:first] - start, axis=1) < STILL
    errors[:first] = np.where(agreed, _of_median(scales[:first]), scales[:first])
    if first < J and hand is not None and (grasp := _grasp(told, errors, hand, first)) is not None:
        seen = errors[first:] ** 2
        share = (seen / (seen + SLIPS**2))[:, None]
        told[first:] = told[first:] * (1 - share) + (hand[first:] + grasp) * share
        errors[first:] = np.sqrt(seen * SLIPS**2 / (seen + SLIPS**2))
    return told, errors, start


def _grasp(told: FloatArray, errors: FloatArray, hand: FloatArray, first: int) -> FloatArray | None:
    """What lies between the hand and what it holds from frame `first` on; None if that is not held.

    Held is what stays, within its expected error, where it was to the hand in one of the frames before it moved.
    """
    offsets = told[first - 1] - hand[max(0, first - BEFORE) : first]
    offsets = offsets[np.linalg.norm(offsets, axis=1) < GRASP]
    if not len(offsets):
        return None
    between = told[first:] - hand[first:]
    off = np.linalg.norm(between[None] - offsets[:, None], axis=2) / (STILL + errors[first:])
    best = np.median(off, axis=1)
    return np.asarray(offsets[best.argmin()]) if best.min() < 1 else None
