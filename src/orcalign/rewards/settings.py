"""Settings of a `VideoReward`, checked and merged in one place."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from orcalign.checks import Ramp, near_miss, require, require_count, require_number
from orcalign.matching import MATCHERS, TRACKERS
from orcalign.matching import matcher as matcher_named
from orcalign.matching.costs import DIRECTIONS
from orcalign.matching.costs import distance as distance_named
from orcalign.matching.registry import require_pool

ORCA_SETTINGS = ("temperature", "floor")
"""What calibration finds."""
PLAIN = ("whole", "fine")
"""What of the pictures is compared, where nothing has to be found in them first."""
UNITS = ("frames", "path")
"""What progress is measured in."""


@dataclass(frozen=True)
class RewardSettings:
    """How frames become rewards, apart from what sees them.

    >>> RewardSettings(matcher="orka")
    Traceback (most recent call last):
    ...
    ValueError: no matcher is called 'orka'; did you mean 'orca'? Known: orca, ...
    """

    distance: str = "cosine"
    context: int = 3
    direction: str = "future"
    matcher: str = "orca"
    calibrated: bool = False
    pool: str = "auto"
    """Several demos: "max" at every step, all rewards of the "best" demo, or "auto", what the matcher asks for."""
    progress_in: str = "frames"
    calibration_episodes: int = 0
    """Episodes from which floor and temperature are taken anew; 0 for the demo alone."""
    temperature: Ramp | None = None
    """None is the matcher's own; if calibrated, a factor on what calibration found."""
    floor: float | None = None
    guide: bool = False
    """Whether the policy sees how far the demo has been followed."""
    own: Mapping[str, Any] = field(default_factory=dict)
    """Other settings of the matcher."""

    def __post_init__(self) -> None:
        distance_named(self.distance)
        matcher_named(self.matcher)
        require_count(self.context, "context", at_least=1)
        require("direction", self.direction, DIRECTIONS)
        require("progress_in", self.progress_in, UNITS)
        require_count(self.calibration_episodes, "calibration_episodes", at_least=0)
        require_pool(self.matcher, self.pool)
        if self.progress_in == "path" and "worth" not in known_settings(self.matcher):
            raise ValueError(
                f"progress_in='path' says what progress is worth, and the matcher {self.matcher!r} does not pay for "
                f"it; leave it out, or use orca_progress."
            )
        if self.calibrated and not calibrates(self.matcher):
            *others, last = (name for name in MATCHERS if calibrates(name))
            raise ValueError(
                f"calibrated=True sets floor and temperature, which the matcher {self.matcher!r} does not have; "
                f"leave it out, or use {', '.join(others)} or {last}."
            )
        if self.calibrated and self.floor is not None:
            raise ValueError(
                f"calibrated=True sets the floor, and floor={self.floor} was given as well; leave out one or the other."
            )
        if self.floor is not None:
            require_number(self.floor, "floor", at_least=0)
        check_matcher_settings(self.matcher, self.of_matcher(self.matcher))
        if self.guide:
            check_streams(self, demos=1)

    @property
    def pooling(self) -> str:
        """How several demos are pooled: "max" or "best"."""
        return require_pool(self.matcher, self.pool)

    def with_matcher(self, name: str, given: Mapping[str, Any], **changes: Any) -> RewardSettings:
        """The same under another matcher, with settings that it takes; what it knows nothing of is left out.

        >>> RewardSettings(calibrated=True).with_matcher("temporal_ot", {"window": 3}).calibrated
        False
        """
        check_matcher_settings(name, given)
        own = dict(given)
        kept: dict[str, Any] = {
            "calibrated": self.calibrated and calibrates(name),
            "progress_in": self.progress_in if "worth" in known_settings(name) else "frames",
            "pool": self.pool if self.pool in matcher_named(name).pools else "auto",
            "guide": self.guide and name in TRACKERS,
        }
        if "temperature" in own:
            kept["temperature"] = Ramp(float(own["temperature"]), float(own.pop("temperature")))
        if "floor" in own:
            kept["floor"] = float(own.pop("floor"))
        return dataclasses.replace(self, matcher=name, own=own, **{**kept, **changes})

    def of_matcher(
        self,
        matcher: str,
        share: float = 0.0,
        found: Mapping[str, float] | None = None,
        worth: tuple[float, ...] | None = None,
    ) -> dict[str, Any]:
        """What a matcher is called with: the one place where settings are merged.

        Args:
            matcher: this one, or another that looks at the same costs; then what it does not know is left out.
            share: of the way that the temperature goes.
            found: temperature and floor by calibration.
            worth: of the demo's frames.

        >>> RewardSettings(temperature=Ramp(1.0, 0.5), floor=0.1).of_matcher("orca", share=0.5)
        {'temperature': 0.75, 'floor': 0.1}
        """
        known = known_settings(matcher)
        given: dict[str, Any] = {}
        factor = 1.0 if self.temperature is None else self.temperature(share)
        if found is not None:
            given = {name: found[name] * factor for name in ORCA_SETTINGS}
        elif not self.calibrated:
            given = {} if self.temperature is None else {"temperature": factor}
            given |= {} if self.floor is None else {"floor": self.floor}
        if worth is not None:
            given["worth"] = worth
        own = self.own if matcher == self.matcher else {}
        return {**{name: value for name, value in given.items() if name in known}, **own}

    def plain(self) -> dict[str, Any]:
        """For a description; `from_plain` reads it."""
        ramp = self.temperature
        plain = {"own": dict(self.own), "temperature": None if ramp is None else [ramp.start, ramp.end]}
        return {**vars(self), **plain}

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> RewardSettings:
        """What `plain` gave."""
        ramp = values["temperature"]
        return cls(**{**values, "temperature": None if ramp is None else Ramp(*ramp)})


def known_settings(matcher: str) -> tuple[str, ...]:
    """Names of the settings that a matcher takes.

    >>> known_settings("orca")
    ('temperature', 'floor')
    """
    parameters = inspect.signature(matcher_named(matcher).function).parameters
    return tuple(name for name in parameters if name not in ("cost", "lengths"))


def check_matcher_settings(matcher: str, settings: Mapping[str, Any]) -> None:
    """Refuse settings that the matcher does not take, or values that it refuses.

    >>> check_matcher_settings("orca", {"temprature": 0.1})
    Traceback (most recent call last):
    ...
    ValueError: the matcher 'orca' has no setting 'temprature'; did you mean 'temperature'? It takes: ...
    """
    known = known_settings(matcher)
    for name in settings:
        if name not in known:
            takes = f"It takes: {', '.join(known)}." if known else "It takes none."
            raise ValueError(f"the matcher {matcher!r} has no setting {name!r};{near_miss(name, known)} {takes}")
    # The matcher knows best which values it refuses; a tiny episode asks it before anything is encoded.
    frames = 2 if settings.get("worth") is None else np.size(settings["worth"])
    matcher_named(matcher)(np.zeros((2, frames)), **settings)


def calibrates(matcher: str) -> bool:
    """Whether a matcher has the settings that calibration finds.

    >>> [name for name in MATCHERS if calibrates(name)]
    ['orca', 'orca_log', 'orca_progress', 'bottleneck', 'threshold']
    """
    return set(ORCA_SETTINGS) <= set(known_settings(matcher))


def check_streams(settings: RewardSettings, demos: int) -> None:
    """Refuse settings whose reward is not known at every step.

    >>> check_streams(RewardSettings(context=3), demos=1)
    Traceback (most recent call last):
    ...
    ValueError: context=3 with direction 'future' looks 2 frames ahead, which a stream cannot; use context=1 ...
    """
    chosen = MATCHERS[settings.matcher]
    causal = ", ".join(name for name, one in MATCHERS.items() if one.causal)
    *some, last = (repr(name) for name in TRACKERS)
    streams = f"{', '.join(some)} and {last}"
    if not chosen.causal:
        raise ValueError(
            f"the matcher {chosen.name!r} is known only at the end of an episode; causal ones are {causal}, "
            f"and of these {streams} have a stream."
        )
    if chosen.name not in TRACKERS:
        raise ValueError(
            f"the matcher {chosen.name!r} is causal, but only {streams} have a stream; use one of these, "
            f"or score the frames so far as an episode."
        )
    if settings.context > 1 and settings.direction == "future":
        raise ValueError(
            f"context={settings.context} with direction 'future' looks {settings.context - 1} frames ahead, "
            f"which a stream cannot; use context=1 or direction='past'."
        )
    if demos > 1 and settings.pooling == "best":
        raise ValueError(
            "pool='best' chooses the demo at the end of an episode, which a stream cannot; use pool='max' and the "
            "matcher 'orca'."
        )
