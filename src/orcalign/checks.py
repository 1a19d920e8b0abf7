"""What a user may have meant and what a number may be: the checks that everybody shares, and settings that are text."""

from __future__ import annotations

import dataclasses
import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import ge, gt, lt
from typing import Any, TypeVar

import numpy as np

Settings = TypeVar("Settings")


def near_miss(name: object, known: Iterable[str]) -> str:
    """ " did you mean …?" if something known is nearly the name, else nothing.

    >>> near_miss("orka", ["orca", "dtw"]), near_miss("x", ["orca"])
    (" did you mean 'orca'?", '')
    """
    near = difflib.get_close_matches(str(name), list(known), n=1)
    return f" did you mean {near[0]!r}?" if near else ""


def require(
    name: str,
    value: Any,
    known: Sequence[str] = (),
    *,
    at_least: float | None = None,
    above: float | None = None,
    below: float | None = None,
) -> None:
    """Refuse a name that is not known, or a number outside its range.

    >>> require("noise", "pnik", ("white", "pink"))
    Traceback (most recent call last):
    ...
    ValueError: noise is 'pnik'; did you mean 'pink'? Known: white, pink.
    >>> require("steps", 0, at_least=1)
    Traceback (most recent call last):
    ...
    ValueError: steps is 0; it must be at least 1.
    """
    if known:
        if value not in known:
            raise ValueError(f"{name} is {value!r};{near_miss(value, known)} Known: {', '.join(known)}.")
        return
    rules = []
    fine = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    for limit, word, holds in ((at_least, "at least", ge), (above, "above", gt), (below, "below", lt)):
        if limit is not None:
            rules.append(f"{word} {limit:g}")
            fine = fine and holds(value, limit)
    if not fine:
        raise ValueError(f"{name} is {value!r}; it must be {' and '.join(rules)}.")


def require_number(value: float, name: str, *, above: float | None = None, at_least: float | None = None) -> float:
    """Check a setting: a finite number, above (or at least) a bound.

    >>> require_number(0.5, "temperature", above=0)
    0.5
    >>> require_number(-1, "temperature", above=0)
    Traceback (most recent call last):
        ...
    ValueError: temperature is -1; it must be a finite number above 0.
    """
    if type(value) is float and value < math.inf:  # the usual case, before the slow questions
        if above is not None and above < value:
            return value
        if at_least is not None and at_least <= value:
            return value
    rule = f"above {above:g}" if above is not None else f"of at least {at_least:g}"
    good = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    good = good and math.isfinite(value)
    good = good and (above is None or value > above) and (at_least is None or value >= at_least)
    if not good:
        raise ValueError(f"{name} is {value!r}; it must be a finite number {rule}.")
    return float(value)


def require_count(value: int, name: str, *, at_least: int) -> int:
    """Check a setting that counts something.

    >>> require_count(3, "window", at_least=1)
    3
    """
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < at_least:
        raise ValueError(f"{name} is {value!r}; it must be a whole number of at least {at_least}.")
    return int(value)


def share_or_count(name: str, value: float, whole: int = 1) -> int:
    """A number of steps: below 1 it is a share of `whole`.

    >>> share_or_count("random_steps", 0.05, 6000), share_or_count("random_steps", 2000, 6000)
    (300, 2000)
    """
    require(name, value, at_least=0)
    return round(value * whole) if value < 1 else int(value)


def settings_from(kind: type[Settings], values: Mapping[str, Any]) -> Settings:
    """A dataclass of settings from values by name; each must be of its default's type, and one that it does not have is
    refused with those that it has.

    >>> settings_from(Ramp, {"start": 1.0, "end": 0.5})
    Ramp(start=1.0, end=0.5)
    >>> settings_from(Ramp, {"strat": 1.0})
    Traceback (most recent call last):
    ...
    ValueError: there is no setting 'strat'; did you mean 'start'? Known: start, end.
    """
    known = {field.name: field.default for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    given = dict(values)
    for name, value in given.items():
        if name not in known:
            raise ValueError(f"there is no setting {name!r};{near_miss(name, known)} Known: {', '.join(known)}.")
        default = known[name]
        if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
            given[name] = float(value)
        elif isinstance(default, (bool, int, float, str)) and type(value) is not type(default):
            raise ValueError(f"{name} is {value!r}; it must be of type {type(default).__name__}.")
    return kind(**given)


@dataclass(frozen=True)
class Ramp:
    """A number that moves linearly from `start` to `end` while a share goes from 0 to 1.

    >>> Ramp.parse("1.0:0.25")(0.5), str(Ramp(1, 0.25)), str(Ramp.parse("1"))
    (0.625, '1.0:0.25', '1.0')
    """

    start: float
    end: float

    @classmethod
    def parse(cls, given: object, name: str = "the ramp", above: float = 0.0) -> Ramp:
        """From "1.0", from "1.0:0.25", from a number, or from a ramp."""
        try:
            ends = [float(part) for part in str(given).split(":")]
        except ValueError:
            ends = []
        if len(ends) not in (1, 2) or not all(above < end < math.inf for end in ends):
            raise ValueError(f"{name} is {given!r}; it must be a number above {above:g}, or two as in 1.0:0.25.")
        return cls(ends[0], ends[-1])

    def __str__(self) -> str:
        first, last = float(self.start), float(self.end)
        return str(first) if first == last else f"{first}:{last}"

    def __call__(self, share: float) -> float:
        """The value at that share, which is taken to be at most 1."""
        return self.start + (self.end - self.start) * min(1.0, max(0.0, share))


@dataclass(frozen=True)
class Scale:
    """What rewards are multiplied by: a rule, or a number.

    >>> str(Scale.parse("2")), Scale("none").factor, Scale().factor
    ('2.0', 1.0, None)
    """

    rule: str | float = "first"

    @classmethod
    def parse(cls, given: object, name: str = "scale") -> Scale:
        """From "first", from "none", from a number, or from a scale."""
        text = str(given)
        if text in ("first", "none"):
            return cls(text)
        try:
            factor = float(text)
        except ValueError:
            factor = math.nan
        if not 0 < factor < math.inf:
            raise ValueError(f"{name} is {given!r}; it must be one of first, none, or a number above 0.")
        return cls(factor)

    @property
    def factor(self) -> float | None:
        """The number; None where the first episode with a reward gives it."""
        if isinstance(self.rule, str):
            return None if self.rule == "first" else 1.0
        return self.rule

    def __str__(self) -> str:
        return str(self.rule)
