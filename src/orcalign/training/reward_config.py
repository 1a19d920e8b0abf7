"""How a run turns its video into a reward: the topic of the config with the most to check."""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass
from typing import Any

from orcalign.checks import Ramp, require, share_or_count
from orcalign.matching import MATCHERS
from orcalign.rewards.settings import UNITS, RewardSettings, check_matcher_settings, known_settings

SCALES = ("first", "best", "none")
AUTO = "auto"
"""Pretraining of which the run itself finds the end."""


@dataclass(frozen=True)
class RewardConfig:
    """How the video becomes a reward."""

    matcher: str = "orca"
    """One of `orcalign methods`."""
    distance: str = "cosine"
    """Between features: cosine or euclidean."""
    context: int = 3
    """Frames in step over which distances are averaged; 1 for none."""
    direction: str = "future"
    """Where the context looks: future, as in the paper, or past."""
    calibrated: bool = False
    """Take floor and temperature from the demo itself; --temperature is then a factor on both."""
    calibration_episodes: int = 5
    """Then also from how close the first episodes come to the demo, nothing else of them; 0 for the demo alone."""
    temperature: str = "1.0"
    """Of methods that have one; lower is stricter. 1.0:0.25 falls from the first to the second during each stage."""
    floor: float = 0.0
    """Distance below which a frame counts as reached."""
    set: tuple[str, ...] = ()
    """Other settings of the method, as name=value; those that a stage's method does not have are not used there."""
    progress_in: str = "frames"
    """What orca_progress counts: frames of the demo, or (path) how much they change from one to the next, so that a
    pause is worth nothing and a jump much."""
    pool: str = "max"
    """Several demos: max at every step, or all rewards of the best demo."""
    scale: str = "first"
    """What rewards are multiplied by: first (the first episode with a reward sums to 10, as in the paper), best (the
    best episodes sum to 10), none, or a number."""
    pretrain: str | None = None
    """A method to train with first, such as temporal_ot; auto is temporal_ot until the agent's ordered coverage of the
    video has not risen for a tenth of the run."""
    pretrain_fraction: float = 0.5
    """Share of the steps for which that is done; with auto, at most."""
    critic_only: float = 0.0
    """After pretraining, steps for which only the critic learns the new reward; below 1, a share of the stage."""
    start_from: str | None = None
    """Another run's folder, whose networks this one begins with."""

    def __post_init__(self) -> None:
        if self.pretrain is not None:
            require("pretrain", self.pretrain, (AUTO, *MATCHERS))
        RewardSettings(self.distance, self.context, self.direction, self.matcher, False, self.pool)
        Ramp.parse("temperature", self.temperature, above=0)
        require("floor", self.floor, at_least=0)
        require("progress_in", self.progress_in, UNITS)
        require("calibration_episodes", self.calibration_episodes, at_least=0)
        require("pretrain_fraction", self.pretrain_fraction, above=0, below=1)
        share_or_count("critic_only", self.critic_only)
        if self.scale not in SCALES:
            self._fixed_scale()
        known = {name for matcher in self.matchers for name in known_settings(matcher)}
        for name in self.extra_settings():
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                hint = f" did you mean {near[0]!r}?" if near else ""
                raise ValueError(
                    f"no method of this run has a setting {name!r};{hint} Known: {', '.join(sorted(known))}."
                )
        for matcher in self.matchers:
            check_matcher_settings(matcher, self.settings_of(matcher), calibrated=False)

    @property
    def matchers(self) -> tuple[str, ...]:
        """The methods of the stages, in order."""
        if self.pretrain is None:
            return (self.matcher,)
        return ("temporal_ot" if self.pretrain == AUTO else self.pretrain, self.matcher)

    @property
    def fixed_scale(self) -> float | None:
        """The scale, if it is a number."""
        return (
            None if self.scale in ("first", "best") else 1.0 if self.scale == "none" else self._fixed_scale()
        )

    def ramp(self) -> Ramp:
        """The temperature over the run."""
        return Ramp.parse("temperature", self.temperature, above=0)

    def extra_settings(self) -> dict[str, Any]:
        """The settings given as name=value.

        >>> RewardConfig(matcher="temporal_ot", set=("window=3", "band=blocks")).extra_settings()
        {'window': 3, 'band': 'blocks'}
        """
        return dict(_setting(text) for text in self.set)

    def settings_of(self, matcher: str, temperature: float | None = None) -> dict[str, Any]:
        """What that method is called with, as far as it knows the settings; without those that calibration finds.

        >>> RewardConfig(temperature="0.5", floor=0.1).settings_of("orca")
        {'temperature': 0.5, 'floor': 0.1}
        """
        known = known_settings(matcher)
        given = self.extra_settings()
        if not self.calibrated:
            given = {"temperature": temperature or self.ramp().start, "floor": self.floor, **given}
        return {name: value for name, value in given.items() if name in known}

    def _fixed_scale(self) -> float:
        try:
            value = float(self.scale)
        except ValueError:
            value = math.nan
        if not 0 < value < math.inf:
            raise ValueError(
                f"scale is {self.scale!r}; it must be one of {', '.join(SCALES)}, or a number above 0."
            )
        return value


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise ValueError(f"set is {text!r}; give name=value, such as window=3.")
    known = {"true": True, "false": False, "none": None}
    if value.strip().lower() in known:
        return name.strip(), known[value.strip().lower()]
    for kind in (int, float):
        try:
            return name.strip(), kind(value)
        except ValueError:
            continue
    return name.strip(), value.strip()
