"""Settings of a `VideoReward`, checked where they are made."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np

from orcalign.checks import require_count
from orcalign.matching import MATCHERS
from orcalign.matching import matcher as matcher_named
from orcalign.matching.costs import DIRECTIONS
from orcalign.matching.costs import distance as distance_named

ORCA_SETTINGS = ("temperature", "floor")
"""What calibration finds."""
POOLS = ("max", "best")
UNITS = ("frames", "path")
"""What progress is measured in."""


@dataclass(frozen=True)
class RewardSettings:
    """How frames become rewards, apart from encoder and matcher settings.

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
    pool: str = "max"
    progress_in: str = "frames"

    def __post_init__(self) -> None:
        distance_named(self.distance)
        matcher_named(self.matcher)
        require_count(self.context, "context", at_least=1)
        if self.direction not in DIRECTIONS:
            raise ValueError(f"direction is {self.direction!r}; it must be 'future' or 'past'.")
        if self.pool not in POOLS:
            raise ValueError(f"pool is {self.pool!r}; it must be 'max' or 'best'.")
        if self.progress_in not in UNITS:
            raise ValueError(f"progress_in is {self.progress_in!r}; it must be 'frames' or 'path'.")
        if self.progress_in == "path" and "worth" not in known_settings(self.matcher):
            raise ValueError(
                f"progress_in='path' says what progress is worth, and the matcher {self.matcher!r} does not pay for "
                f"it; leave it out, or use orca_progress."
            )


def known_settings(matcher: str) -> tuple[str, ...]:
    """Names of the settings that a matcher takes.

    >>> known_settings("orca")
    ('temperature', 'floor')
    """
    parameters = inspect.signature(matcher_named(matcher).function).parameters
    return tuple(name for name in parameters if name not in ("cost", "lengths"))


def check_matcher_settings(matcher: str, settings: Mapping[str, Any], calibrated: bool) -> None:
    """Refuse settings that the matcher does not take, and calibration of a matcher that has no scale.

    >>> check_matcher_settings("orca", {"temprature": 0.1}, calibrated=False)
    Traceback (most recent call last):
    ...
    ValueError: the matcher 'orca' has no setting 'temprature'; did you mean 'temperature'? It takes: ...
    """
    known = known_settings(matcher)
    for name in settings:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            takes = f"It takes: {', '.join(known)}." if known else "It takes none."
            raise ValueError(f"the matcher {matcher!r} has no setting {name!r}; {hint}{takes}")
    if calibrated:
        _check_calibrates(matcher, settings)
    # The matcher knows best which values it refuses; a tiny episode asks it before anything is encoded.
    frames = 2 if settings.get("worth") is None else np.size(settings["worth"])
    matcher_named(matcher)(np.zeros((2, frames)), **settings)


def calibrates(matcher: str) -> bool:
    """Whether a matcher has the settings that calibration finds.

    >>> [name for name in MATCHERS if calibrates(name)]
    ['orca', 'orca_log', 'orca_progress', 'threshold']
    """
    return set(ORCA_SETTINGS) <= set(known_settings(matcher))


def _or(names: Iterable[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}"


def _check_calibrates(matcher: str, settings: Mapping[str, Any]) -> None:
    if not calibrates(matcher):
        raise ValueError(
            f"calibrated=True sets floor and temperature, which the matcher {matcher!r} does not have; "
            f"leave it out, or use {_or(name for name in MATCHERS if calibrates(name))}."
        )
    both = [name for name in ORCA_SETTINGS if name in settings]
    if both:
        raise ValueError(
            f"calibrated=True sets floor and temperature, and {' and '.join(both)} was given as well; "
            f"leave out one or the other."
        )
