"""Settings of the reward that follows a described demo."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from orcalign.checks import require
from orcalign.rewards.follow.sight import SEES

LEAST_FLOOR, PER_ERROR, MOST_FLOOR = 2.0, 1.25, 4.5
"""Centimetres: the floor of an eye that is never wrong, its growth with each of error that it expects, and its highest:
what is less certain counts less in the distance already, and a hand that hovers over a thing is not there."""
COARSE = 4.0
"""Centimetres of expected error beyond which places are hardly told apart."""


@final
@dataclass(frozen=True)
class FollowSettings:
    """How distances in centimetres become rewards, and what the policy sees.

    >>> FollowSettings().floor_at(1.0), FollowSettings(floor=5.0).floor_at(1.0)
    (3.25, 5.0)
    """

    temperature: float = 3.0
    """Centimetres beyond the floor at which a frame counts as 1/e reached."""
    floor: float | None = None
    """Centimetres within which a frame counts as reached; None takes it from the error that the eye expects."""
    weight: float = 10.0
    """What the whole of progress is worth, in steps spent in the demo's last frame."""
    last: float = 1.0
    """Temperature of the last frame, which has no floor, as a share of the others'."""
    sees: tuple[str, ...] = SEES

    def __post_init__(self) -> None:
        object.__setattr__(self, "sees", tuple(self.sees))
        for one in self.sees:
            require("sees", one, SEES)
        require("temperature", self.temperature, above=0)
        require("weight", self.weight, at_least=0)
        require("last", self.last, above=0)
        if self.floor is not None:
            require("floor", self.floor, at_least=0)

    def floor_at(self, error: float) -> float:
        """Centimetres, with an eye that expects to be so many centimetres off."""
        return min(MOST_FLOOR, LEAST_FLOOR + PER_ERROR * error) if self.floor is None else self.floor

    def plain(self) -> dict[str, Any]:
        """For a description."""
        return {**dataclasses.asdict(self), "sees": list(self.sees)}

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> FollowSettings:
        """What `plain` gave."""
        return cls(**values)
