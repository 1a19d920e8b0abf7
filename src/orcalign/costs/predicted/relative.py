"""What is missing from a learner's state to each frame of a described demo, relative to the objects, in centimetres.

Objects and goal may stand elsewhere than in the demo, so that a demo frame asks for a place between two: the demo's
own, and the one that keeps the demo's relation to the object (or, for the object itself, to the goal). How much of
the relation is asked grows along the demo; more of it is always allowed:

    hand, frame j      e = hand - hand_j,  v = anchor now - anchor_j     missing  e - u v,  u in [near_j, 1]
    object i, frame j  e = (object - its start) - (object_j - start),
                       v = (goal - its start) - (demo's goal - start)    missing  e - u v,  u in [low_ij, high_ij]
    gripper            opening - opening_j

with the u that leaves least. The anchor is the first object, or the goal where there is none. near_j rises to 1 as the
demo's hand comes to the anchor; low is 1 once the object has nearly arrived, high is 0 until it moves.

A frame on which the eye is not believed asks for the hand and the gripper alone: for the demo's hand moved by what the
object's start differs, and along the way to the goal by what that differs.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np
import numpy.typing as npt

from orcalign.costs.predicted.described import DescribedDemo
from orcalign.matching.kernel import kernel
from orcalign.matching.match import FloatArray

STILL = 3.0
"""Centimetres; an object that ends nearer to its start has not been moved."""
NEAR = 3.0
"""Centimetres beyond the closest approach within which the hand is at the anchor."""
WAY = 0.9
"""Share of its way to the anchor after which the hand counts as having gone all of it."""
MOVES, ARRIVED = 0.02, 0.9
"""Shares of an object's way: it has been set in motion, it is nearly there."""
SHAKE = 0.08
"""Share of its way below which an object is at rest."""
SURE = 1.5
"""Centimetres; a part whose expected error is larger counts less, by the square of the ratio."""
GRIPPER = 0.3
"""Weight of the gripper's square."""


@kernel
def _least(e: Any, v: Any, low: float, high: float, out: Any) -> None:
    """[n] e - u v with the u in [low, high] that leaves least."""
    dot = square = 0.0
    for k in range(e.size):
        dot += e[k] * v[k]
        square += v[k] * v[k]
    u = min(high, max(low, dot / max(square, 1e-9)))
    for k in range(e.size):
        out[k] = e[k] - u * v[k]


@kernel
def _missing(
    hand: Any, grip: Any, objects: Any, anchor: Any, first: Any, ways: Any, demo: Any, frames: Any, out: Any
) -> None:
    """[N, F, R] what is missing from each of N states to F frames of the demo [N, F].

    hand [N, n], grip [N, 0 or 1], objects [N, M, n], anchor [N, n]; of the episode: objects at its start [M, n], and by
    how much their ways to the goal differ from the demo's [M, n].
    """
    to_hand, to_grip, to_objects, to_anchor, start, near, moved, believed = demo
    count, n = objects.shape[1], hand.shape[1]
    e, v = np.empty(n), np.empty(n)
    for t in range(hand.shape[0]):
        for f in range(frames.shape[1]):
            j = frames[t, f]
            row = out[t, f]
            for k in range(n):
                e[k] = hand[t, k] - to_hand[j, k]
                v[k] = anchor[t, k] - to_anchor[j, k]
            low, high = near[j], 1.0
            if count > 0 and not believed[j]:
                for k in range(n):
                    v[k] = first[0, k] - start[0, k]
                if moved[0, j] > MOVES:
                    for k in range(n):
                        e[k] -= v[k]
                        v[k] = ways[0, k]
                    low = 1.0 if moved[0, j] > ARRIVED else 0.0
            _least(e, v, low, high, row[:n])
            for i in range(count):
                part = row[n * (i + 1) : n * (i + 2)]
                if not believed[j]:
                    part[:] = 0.0
                    continue
                for k in range(n):
                    e[k] = (objects[t, i, k] - first[i, k]) - (to_objects[i, j, k] - start[i, k])
                share = moved[i, j]
                _least(e, ways[i], 1.0 if share > ARRIVED else 0.0, 1.0 if share > MOVES else 0.0, part)
            for k in range(grip.shape[1]):
                row[n * (count + 1) + k] = grip[t, k] - to_grip[j, k]


@kernel
def _lengths(missing: Any, weights: Any, slack: Any, out: Any) -> None:
    """[T, J] from [T, J, R] and weights [J, R] of the squares, less the slack [J]."""
    for t in range(missing.shape[0]):
        for j in range(missing.shape[1]):
            total = 0.0
            for k in range(missing.shape[2]):
                total += weights[j, k] * missing[t, j, k] ** 2
            out[t, j] = max(0.0, np.sqrt(total) - slack[j])


@final
class Relative:
    """A described demo, ready to be compared with.

    Args:
        demo: what an eye says of the video.
        slack: [J] centimetres by which one may be off a frame, at no cost.

    >>> from orcalign.costs.predicted import Entities
    >>> entities = Entities(hand=(0, 1), objects=((2, 3),), unit=1.0)
    >>> video = DescribedDemo.known(entities, [[0, 0, 9, 0], [9, 0, 9, 0]], [0, 0, 9, 0])
    >>> relative = Relative(video)
    >>> elsewhere = np.array([[0.0, 0.0, 9.0, 5.0], [9.0, 5.0, 9.0, 5.0]])  # the object stands 5 cm further on
    >>> relative.costs(elsewhere[0], elsewhere).round(1).tolist()
    [[0.0, 10.3], [9.0, 0.0]]
    """

    def __init__(self, demo: DescribedDemo, slack: FloatArray | None = None) -> None:
        self.demo, self.entities = demo, demo.entities
        self._slack = np.zeros(len(demo)) if slack is None else slack
        entities, values = demo.entities, demo.values
        self._n, self._count = len(entities.hand), len(entities.objects)
        self._has_goal = bool(entities.goal)
        hand, grip, objects, goal = self._split(values)
        begin, _, start, _ = self._split(demo.start[None])
        self._goal, self._start = np.median(goal, axis=0), start[0]
        anchor = self._anchor(objects, goal)
        self.moved = (
            np.stack([_moved(objects[:, i], start[0, i]) for i in range(self._count)])
            if self._count
            else (np.zeros((0, len(values))))
        )
        """[M, J] Share of its way that each object has made; it never falls."""
        rest = np.linalg.norm(begin[0] - (start[0, 0] if self._count else anchor[0]))
        gone = np.linalg.norm(hand - begin[0], axis=1)
        self.near = _near(np.linalg.norm(hand - anchor, axis=1), gone, float(rest), self._first_move()) * self._anchored
        """[J] Least share of the relation to the anchor that is asked of the hand; it never falls."""
        self._arrays = (
            hand, grip, np.ascontiguousarray(objects.transpose(1, 0, 2)), anchor, self._start, self.near, self.moved,
            demo.believed.astype(np.bool_),
        )  # fmt: skip
        self._weights = self._weighted(demo.scales)
        self._every = np.arange(len(values))[None]

    @property
    def dim(self) -> int:
        """R, the numbers that `missing` gives: of the hand, of each object, of the gripper."""
        return self._n * (1 + self._count) + (self.entities.gripper is not None)

    def costs(self, first: npt.ArrayLike, states: npt.ArrayLike) -> FloatArray:
        """[T, J] in centimetres from values [T, E] of an episode that begins with `first` [E]; a row has the same bits
        alone and in company."""
        values = np.asarray(states, np.float64)
        missing = self._missing(first, values, np.broadcast_to(self._every, (len(values), len(self.demo))))
        out = np.empty(missing.shape[:2])
        _lengths(missing, self._weights, self._slack, out)
        return out

    def missing(self, first: npt.ArrayLike, states: npt.ArrayLike, frames: npt.ArrayLike) -> FloatArray:
        """[T, R] from each of the values [T, E] to one demo frame each [T]: what to go, so that 0 is there."""
        wanted = np.asarray(frames, np.int64)[:, None]
        return -self._missing(first, np.asarray(states, np.float64), wanted)[:, 0]

    def between(self) -> FloatArray:
        """[J, J] in centimetres between the demo's frames as they are."""
        values = self.demo.values[:, : self.demo.values.shape[1] - (self._n if self._has_goal else 0)]
        apart: FloatArray = np.linalg.norm(values[:, None] - values[None], axis=-1)
        return apart

    def _missing(self, first: npt.ArrayLike, values: FloatArray, frames: npt.NDArray[np.int64]) -> FloatArray:
        hand, grip, objects, goal = self._split(values)
        _, _, began, aim = self._split(np.asarray(first, np.float64)[None])
        ways = (aim[0] - began[0]) - (self._goal - self._start) if self._has_goal else np.zeros_like(began[0])
        out = np.empty((*frames.shape, self.dim))
        anchor = self._anchor(objects, goal)
        _missing(hand, grip, objects, anchor, began[0], ways, self._arrays, np.ascontiguousarray(frames), out)
        return out

    def _split(self, values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Hand [N, n], gripper [N, 0 or 1], objects [N, M, n], goal [N, n] (zeros where there is none)."""
        n, grip = self._n, int(self.entities.gripper is not None)
        after = n + grip + n * self._count
        goal = values[:, after : after + n] if self._has_goal else np.zeros((len(values), n))
        objects = values[:, n + grip : after].reshape(len(values), self._count, n)
        whole = np.ascontiguousarray
        return whole(values[:, :n]), whole(values[:, n : n + grip]), whole(objects), whole(goal)

    @property
    def _anchored(self) -> bool:
        return self._count > 0 or self._has_goal

    def _anchor(self, objects: FloatArray, goal: FloatArray) -> FloatArray:
        return np.ascontiguousarray(objects[:, 0]) if self._count else goal

    def _first_move(self) -> int:
        """The demo frame in which the first object moves; the last one if it never does."""
        moves = np.flatnonzero(self.moved[:1].max(axis=0, initial=0) > MOVES)
        return int(moves[0]) if len(moves) else len(self.demo) - 1

    def _weighted(self, scales: FloatArray) -> FloatArray:
        """[J, R]"""
        n, count = self._n, self._count
        weights = np.empty((len(scales), self.dim))
        for p, part in enumerate(self.entities.parts):
            share = np.minimum(1.0, (SURE / np.maximum(scales[:, p], 1e-6)) ** 2)[:, None]
            if part.name == "hand":
                weights[:, :n] = share
            elif part.name == "gripper":
                weights[:, n * (count + 1) :] = GRIPPER * share
            elif part.name.startswith("object"):
                i = int(part.name.split()[1])
                weights[:, n * i : n * (i + 1)] = share
        return weights


def _moved(places: FloatArray, start: FloatArray) -> FloatArray:
    """[J] Share of the way from its start to its end, of one object's places [J, n].

    >>> _moved(np.array([[0.0], [0.0], [5.0], [10.0]]), np.array([0.0])).tolist()
    [0.0, 0.0, 0.5, 1.0]
    """
    way = places[-1] - start
    length = float(np.linalg.norm(way))
    if length < STILL:
        return np.zeros(len(places))
    share: FloatArray = np.maximum.accumulate(np.clip((places - start) @ way / length**2, 0, 1))
    share[share < SHAKE] = 0
    share[-1] = 1
    return share


def _near(distance: FloatArray, gone: FloatArray, rest: float, until: int) -> FloatArray:
    """[J] How near the hand has come to the anchor, from 0 to 1, by its distances to the anchor [J] and to where it
    began [J]: 1 from the frame at which it is there for the first time, no later than the anchor moves (`until`).

    Where it begins nobody chooses, so that no more of the relation is asked than of its way it has gone.

    >>> _near(np.array([20.0, 16.0, 2.0, 30.0]), np.array([0.0, 9.0, 18.0, 20.0]), 20.0, 3).tolist()
    [0.0, 0.5, 1.0, 1.0]
    >>> _near(np.array([6.0, 7.0, 5.0, 9.0]), np.array([0.0, 4.5, 10.0, 12.0]), 6.0, 3).tolist()
    [0.0, 0.5, 1.0, 1.0]
    """
    before = distance[: until + 1]
    closest = float(before.min())
    span = max(rest, float(before.max())) - closest
    share: FloatArray = np.maximum.accumulate(np.clip(1 - (distance - closest) / max(span, 1e-6), 0, 1))
    share[np.flatnonzero(before < closest + NEAR)[0] :] = 1
    way = np.maximum.accumulate(gone) / max(WAY * float(gone[: max(until, 1)].max()), 1e-6)
    share = np.minimum(share, way)
    share[until:] = 1
    return share
