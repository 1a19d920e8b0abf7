"""A world turned about the vertical, so that the goal lies ahead of the object: what is pushed anywhere is pushed one
way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, final

import numpy as np
import numpy.typing as npt

from orcalign.costs.predicted.described import DescribedDemo
from orcalign.costs.predicted.entities import Entities
from orcalign.matching.match import FloatArray

SHORT = 1.0
"""Centimetres from object to goal below which they have no direction, and nothing is turned."""
MOVED = 3.0
"""Centimetres; a demo's object that ends further from its start shows by itself where it goes."""


def rotation(angle: float) -> FloatArray:
    """[2, 2] To the left.

    >>> (rotation(np.pi / 2) @ [1.0, 0.0]).round(6).tolist()
    [0.0, 1.0]
    """
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])


def _turn(points: npt.NDArray[Any], angle: float, centre: FloatArray) -> FloatArray:
    """[..., 2] One at a time: a product of matrices rounds otherwise in company."""
    c, s = np.cos(angle), np.sin(angle)
    x, y = points[..., 0] - centre[0], points[..., 1] - centre[1]
    return np.stack([c * x - s * y + centre[0], s * x + c * y + centre[1]], axis=-1)


@final
class Plane(NamedTuple):
    """Two actions that move the hand in the horizontal plane, in all directions alike."""

    actions: tuple[int, int] = (0, 1)
    leads: tuple[tuple[float, float], tuple[float, float]] = ((1.0, 0.0), (0.0, 1.0))
    """[2, 2] Where each of them leads, in units of the faster one."""

    def turned(self, actions: npt.ArrayLike, angle: float) -> FloatArray:
        """Actions [..., A] that move the hand as these do, turned by `angle` to the left.

        >>> Plane().turned(np.array([1.0, 0.0, 5.0]), np.pi / 2).round(6).tolist()
        [0.0, 1.0, 5.0]
        """
        leads = np.array(self.leads)
        turn = np.linalg.inv(leads) @ rotation(angle) @ leads
        made = np.array(actions, np.float64)
        made[..., list(self.actions)] = made[..., list(self.actions)] @ turn.T
        return made


STRAIGHT = Plane()


@final
@dataclass(frozen=True)
class Turning:
    """Each episode is turned about where its hand begins, by the angle that brings the goal ahead of the object, to
    the side of growing x; so is the demo.

    >>> turning = Turning(Entities((0, 1), goal=(2, 3), unit=1.0), kept=(5,))
    >>> first = np.array([1.0, 1.0, 1.0, 9.0, 7.0, 0.5])
    >>> turning.observation(first, first).round(6).tolist()
    [1.0, 1.0, 9.0, 1.0, 0.0, 0.5]
    >>> turning.action(np.array([1.0, 0.0]), first).round(6).tolist()
    [0.0, 1.0]
    """

    entities: Entities
    plane: Plane = STRAIGHT
    kept: tuple[int, ...] = ()
    """Numbers of an observation that mean the same in a turned world, as the time does. All others but the places point
    where they pointed, and are left out of what the policy sees: they are 0."""

    def __post_init__(self) -> None:
        if not self.entities.goal or len(self.entities.hand) < 2:
            raise ValueError(
                "a world is turned so that the goal lies ahead of the object, and these entities have no goal in a "
                "plane; name it, or leave the world as it is."
            )

    def angle(self, first: FloatArray) -> float:
        """By how much an episode is turned that begins with these values [E]; 0 if object and goal are at one place."""
        return -self._direction(first[self.entities.at("goal")][:2] - first[self._thing][:2])

    def values(self, values: FloatArray, first: FloatArray) -> FloatArray:
        """[..., E] of an episode that begins with `first` [E]."""
        return self._turned(values, self.angle(first), first)

    def observation(self, states: npt.NDArray[Any], first: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """[..., D] What the policy sees of observations in an episode that begins with `first` [D]."""
        entities = self.entities
        angle, centre = self.angle(entities.read(first)), np.asarray(first, np.float64)[list(entities.hand[:2])]
        seen = np.zeros(np.shape(states))
        for place in self._places:
            seen[..., place] = states[..., place]
            seen[..., place[:2]] = _turn(states[..., place[:2]], angle, centre)
        for k in (*self.kept, *([] if entities.gripper is None else [entities.gripper])):
            seen[..., k] = states[..., k]
        return seen

    def action(self, action: npt.ArrayLike, first: npt.NDArray[Any]) -> FloatArray:
        """[A] from -1 to 1 as the environment takes it, of one that was meant for the turned world."""
        return np.clip(self.plane.turned(action, -self.angle(self.entities.read(first))), -1.0, 1.0)

    def demo(self, demo: DescribedDemo) -> DescribedDemo:
        """The same demo in its turned world: its object's way lies ahead, or its goal if it does not move."""
        start, thing = demo.start, self._thing
        went = demo.values[-1, thing][:2] - start[thing][:2]
        if not self.entities.objects or np.linalg.norm(went) < MOVED:
            went = np.median(demo.values[:, self.entities.at("goal")], axis=0)[:2] - start[thing][:2]
        angle = -self._direction(went)
        return replace(
            demo, values=self._turned(demo.values, angle, start), start=self._turned(start, angle, start)
        )  # fmt: skip

    @property
    def _places(self) -> list[list[int]]:
        return [list(one) for one in (self.entities.hand, *self.entities.objects, self.entities.goal)]

    @property
    def _thing(self) -> slice:
        return self.entities.at("object 1" if self.entities.objects else "hand")

    def _turned(self, values: FloatArray, angle: float, first: FloatArray) -> FloatArray:
        made = np.array(values)
        centre = first[self.entities.at("hand")][:2]
        for part in self.entities.parts:
            if part.name != "gripper":
                at = slice(part.at.start, part.at.start + 2)
                made[..., at] = _turn(made[..., at], angle, centre)
        return made

    @staticmethod
    def _direction(way: FloatArray) -> float:
        return float(np.arctan2(way[1], way[0])) if np.hypot(*way) >= SHORT else 0.0

    def plain(self) -> dict[str, Any]:
        """For a description."""
        actions, leads = self.plane
        return {
            "entities": self.entities.plain(),
            "actions": list(actions),
            "leads": [list(lead) for lead in leads],
            "kept": list(self.kept),
        }

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> Turning:
        """What `plain` gave."""
        (first, second), (one, other) = values["actions"], values["leads"]
        plane = Plane((first, second), ((one[0], one[1]), (other[0], other[1])))
        return cls(Entities.from_plain(values["entities"]), plane, tuple(values["kept"]))
