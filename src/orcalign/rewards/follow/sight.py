"""What the policy sees of itself and of the demo: where things are to one another, how far it is, what is missing."""

from __future__ import annotations

from typing import Any, final

import numpy as np
import numpy.typing as npt

from orcalign.checks import require
from orcalign.costs.predicted.entities import Entities
from orcalign.costs.predicted.relative import Relative
from orcalign.matching.match import FloatArray

SEES = ("relations", "progress", "missing")
ROOM, REACH, TOUCH, HAND = 15.0, 10.0, 5.0, 3.0
"""Centimetres that count as 1: of places in the room, of ways to the goal, of what is nearly touched, of a gripper."""
FARTHEST = 3.0
"""What is missing is told up to this, in units of `TOUCH`."""
LOST = 0.5
"""The frontier is the first demo frame whose coverage is less than this share of the one before."""
NOTHING = 1e-4
"""Coverage of a frame that has not been seen at all."""


@final
class Sight:
    """K numbers a step, from the values of a state [E], of the state before, of the first one, and coverage [J].

    Args:
        entities: what the values are.
        rest: [E] values at which an episode usually begins: places are told from there.
        sees: which of `SEES`.
    """

    def __init__(self, entities: Entities, rest: FloatArray, sees: tuple[str, ...] = SEES) -> None:
        for one in sees:
            require("what the policy sees", one, SEES)
        self._entities, self._rest, self._sees = entities, rest, sees
        self.dim = self._width()

    def __call__(
        self,
        values: FloatArray,
        before: FloatArray,
        first: FloatArray,
        coverage: FloatArray,
        progress: FloatArray,
        relative: Relative | None,
    ) -> npt.NDArray[np.float32]:
        """[N, K] for N moments of one episode: values and those of the step before [N, E], first [E], coverage
        [N, J], progress [N]. Without a described demo nothing is known of it: zeros."""
        told: list[Any] = []
        if "relations" in self._sees:
            told += self._relations(values, before, first)
        J = coverage.shape[1]
        at = frontier(coverage)
        if "progress" in self._sees:
            told += [2 * progress[:, None] - 1, (2 * at / J - 1)[:, None]]
        if "missing" in self._sees:
            told.append(
                np.zeros((len(values), self._missing_dim))
                if relative is None
                else np.clip(relative.missing(first, values, at) / TOUCH, -FARTHEST, FARTHEST)
            )
        seen: npt.NDArray[np.float32] = np.concatenate([np.zeros((len(values), 0)), *told], axis=1).astype(np.float32)
        return seen

    @property
    def _missing_dim(self) -> int:
        entities = self._entities
        return len(entities.hand) * (1 + len(entities.objects)) + (entities.gripper is not None)

    def _width(self) -> int:
        zeros = np.zeros((1, self._entities.dim))
        return int(self(zeros, zeros, zeros[0], np.zeros((1, 2)), np.zeros(1), None).shape[1])

    def _relations(self, values: FloatArray, before: FloatArray, first: FloatArray) -> list[Any]:
        entities = self._entities
        hand, moves = entities.at("hand"), values - before
        if entities.units:
            return [(values - self._rest) / ROOM, moves]
        objects = [entities.at(f"object {k + 1}") for k in range(len(entities.objects))]
        goal = entities.at("goal") if entities.goal else None
        told: list[Any] = [(values[:, hand] - self._rest[hand]) / ROOM, moves[:, hand]]
        if entities.gripper is not None:
            grip = entities.at("gripper")
            told += [values[:, grip] / HAND, moves[:, grip]]
        for k, place in enumerate(objects):
            told += [
                (values[:, place] - self._rest[place]) / ROOM,
                (values[:, hand] - values[:, place]) / TOUCH,
                (values[:, place] - first[place]) / TOUCH,
                moves[:, place],
            ]
            if k:
                told.append((values[:, place] - values[:, objects[0]]) / REACH)
            if goal is not None:
                told.append((values[:, place] - values[:, goal]) / REACH)
        if goal is not None:
            told.append((values[:, goal] - self._rest[goal]) / ROOM)
            if not objects:
                told.append((values[:, hand] - values[:, goal]) / TOUCH)
        return told


def frontier(coverage: FloatArray) -> npt.NDArray[np.int64]:
    """[N] The demo frame to go for, from coverage [N, J]: the first one that is covered much less than that before it.

    >>> frontier(np.array([[0.0, 0.0, 0.0], [0.9, 0.8, 0.1], [1.0, 1.0, 0.9]])).tolist()
    [0, 2, 2]
    """
    before = np.concatenate([np.ones((len(coverage), 1)), coverage[:, :-1]], axis=1)
    behind = (coverage >= LOST * before) & (coverage > NOTHING)
    behind[:, -1] = False
    return np.asarray(behind.argmin(axis=1), np.int64)
