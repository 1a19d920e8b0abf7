"""What of an observation is where: the hand, its gripper, objects and the goal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
import numpy.typing as npt

from orcalign.checks import near_miss, require
from orcalign.matching.match import FloatArray

COMPARED = ("joints", "arms")
"""What a joint predictor's distances are taken between: the places of all joints, in metres, or the angles of the arms,
in radians."""
FIELDS = ("hand", "gripper", "objects", "goal", "unit", "opening", "units")


class Part(NamedTuple):
    """One entity, as a slice of what `Entities.read` gives."""

    name: str
    """hand, gripper, object 1, object 2, …, goal."""
    at: slice


@final
@dataclass(frozen=True)
class Entities:
    """Which numbers of an observation are the places of what a video shows.

    Places have as many dimensions as the hand has. What is read is in centimetres, or in what the user calls one.

    >>> entities = Entities(hand=(0, 1, 2), gripper=3, objects=((4, 5, 6),), goal=(7, 8, 9))
    >>> [part.name for part in entities.parts], entities.dim
    (['hand', 'gripper', 'object 1', 'goal'], 10)
    >>> entities.read(np.full((1, 40), 0.5)).tolist()
    [[50.0, 50.0, 50.0, 5.0, 50.0, 50.0, 50.0, 50.0, 50.0, 50.0]]
    """

    hand: tuple[int, ...]
    """Indices of the place of what the actions move."""
    gripper: int | None = None
    """Index of how far it is open."""
    objects: tuple[tuple[int, ...], ...] = ()
    """Indices of each object's place, the one that is touched first."""
    goal: tuple[int, ...] = ()
    """Indices of where the first object is to be, or the hand where there is none."""
    unit: float = 100.0
    """Centimetres in one unit of a place."""
    opening: float = 10.0
    """Centimetres that one unit of the gripper's opening counts as."""
    units: tuple[float, ...] = ()
    """Instead of `unit`, one for each number of the hand: where nothing is known of the observation, all its numbers
    are the hand's, each with a scale of its own."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "hand", tuple(self.hand))
        object.__setattr__(self, "objects", tuple(tuple(one) for one in self.objects))
        object.__setattr__(self, "goal", tuple(self.goal))
        object.__setattr__(self, "units", tuple(float(one) for one in self.units))
        if not self.hand:
            raise ValueError("entities have no hand; say which numbers of the observation are its place, as in [0, 1].")
        places = [("hand", self.hand), *((f"object {k + 1}", one) for k, one in enumerate(self.objects))]
        places += [("goal", self.goal)] if self.goal else []
        for name, place in places:
            if len(place) != len(self.hand):
                raise ValueError(
                    f"the {name} is {list(place)}, of {len(place)} numbers, and the hand has {len(self.hand)}; places "
                    "must have the same dimensions."
                )
            if not all(isinstance(one, int) and not isinstance(one, bool) and one >= 0 for one in place):
                raise ValueError(f"the {name} is {list(place)}; it must be indices of the observation, from 0.")
        require("unit", self.unit, above=0)
        require("opening", self.opening, above=0)
        if self.units and len(self.units) != len(self.hand):
            raise ValueError(f"units has {len(self.units)} numbers, and the hand {len(self.hand)}; give one for each.")
        if self.units and (self.objects or self.goal):
            raise ValueError("units are for a hand alone; with objects or a goal all places share one unit.")

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """In the order in which `read` has them."""
        found, start = [], 0
        names = ["hand", *(["gripper"] if self.gripper is not None else [])]
        names += [f"object {k + 1}" for k in range(len(self.objects))] + (["goal"] if self.goal else [])
        for name in names:
            stop = start + (1 if name == "gripper" else len(self.hand))
            found.append(Part(name, slice(start, stop)))
            start = stop
        return tuple(found)

    @property
    def dim(self) -> int:
        """E, the numbers that `read` gives."""
        return int(self.parts[-1].at.stop)

    def at(self, name: str) -> slice:
        """Where a part is; a KeyError if there is none of that name."""
        for part in self.parts:
            if part.name == name:
                return part.at
        raise KeyError(name)

    def read(self, states: npt.ArrayLike) -> FloatArray:
        """[..., E] Places in centimetres from observations [..., D], in float64."""
        seen = np.asarray(states, np.float64)
        last = max(self._indices)
        there = seen.shape[-1] if seen.ndim else 0
        if there <= last:
            raise ValueError(
                f"the entities name number {last} of the observation, which has {there}; they are those of another "
                "environment."
            )
        return seen[..., self._indices] * self._scale

    def check(self, dim: int) -> Entities:
        """Itself, if an observation of so many numbers can have them."""
        self.read(np.zeros(dim))
        return self

    @cached_property
    def _indices(self) -> list[int]:
        grip = [] if self.gripper is None else [self.gripper]
        return [*self.hand, *grip, *(i for one in self.objects for i in one), *self.goal]

    @cached_property
    def _scale(self) -> FloatArray:
        scale = np.full(len(self._indices), float(self.unit))
        scale[: len(self.units)] = self.units
        if self.gripper is not None:
            scale[len(self.hand)] = self.opening
        return scale

    def plain(self) -> dict[str, Any]:
        """For JSON and YAML; `from_plain` reads it."""
        return {
            "hand": list(self.hand),
            "gripper": self.gripper,
            "objects": [list(one) for one in self.objects],
            "goal": list(self.goal),
            "unit": self.unit,
            "opening": self.opening,
            "units": list(self.units),
        }

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> Entities:
        """What `plain` gave, or a user wrote; what is left out has its default.

        >>> Entities.from_plain({"hand": [0, 1], "gaol": [2, 3]})
        Traceback (most recent call last):
        ...
        ValueError: entities have no 'gaol'; did you mean 'goal'? Known: hand, gripper, objects, ...
        """
        if not isinstance(values, Mapping) or "hand" not in values:
            raise ValueError("entities must be a mapping with at least a hand, as in {hand: [0, 1, 2]}.")
        for name in values:
            if name not in FIELDS:
                raise ValueError(f"entities have no {name!r};{near_miss(name, FIELDS)} Known: {', '.join(FIELDS)}.")
        given = dict(values)
        try:
            for name in ("hand", "goal", "units"):
                if name in given:
                    given[name] = tuple(given[name])
            if "objects" in given:
                given["objects"] = tuple(tuple(one) for one in given["objects"])
        except TypeError:
            raise ValueError(f"entities are {dict(values)}; places are lists of indices, as in [0, 1, 2].") from None
        return cls(**given)

    @classmethod
    def from_file(cls, path: Path) -> Entities:
        """From a YAML file, as `orcalign entities` writes it."""
        import yaml

        try:
            values = yaml.safe_load(path.read_text("utf-8"))
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise ValueError(f"{str(path)!r} is not YAML ({' '.join(str(error).split())}).") from None
        try:
            return cls.from_plain(values)
        except ValueError as error:
            raise ValueError(f"{str(path)!r}: {error}") from None

    @classmethod
    def everything(cls, scales: Sequence[float]) -> Entities:
        """All numbers of an observation as one place, each divided by its scale: for those of which nothing is known.

        >>> Entities.everything([0.5, 2.0]).read([1.0, 1.0]).tolist()
        [20.0, 5.0]
        """
        return cls(tuple(range(len(scales))), units=tuple(SPREAD / max(float(one), 1e-6) for one in scales))


SPREAD = 10.0
"""Centimetres that one standard deviation counts as, where nothing is known of an observation."""
