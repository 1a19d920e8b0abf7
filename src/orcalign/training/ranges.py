"""Checks of numbers and names in a config, and values that move during a run."""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import ge, gt, lt
from typing import Any


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
            near = difflib.get_close_matches(str(value), known, n=1)
            hint = f" did you mean {near[0]!r}?" if near else ""
            raise ValueError(f"{name} is {value!r};{hint} Known: {', '.join(known)}.")
        return
    rules = []
    fine = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    for limit, word, holds in ((at_least, "at least", ge), (above, "above", gt), (below, "below", lt)):
        if limit is not None:
            rules.append(f"{word} {limit:g}")
            fine = fine and holds(value, limit)
    if not fine:
        raise ValueError(f"{name} is {value!r}; it must be {' and '.join(rules)}.")


def share_or_count(name: str, value: float, whole: int = 1) -> int:
    """A number of steps: below 1 it is a share of `whole`.

    >>> share_or_count("random_steps", 0.05, 6000), share_or_count("random_steps", 2000, 6000)
    (300, 2000)
    """
    require(name, value, at_least=0)
    return round(value * whole) if value < 1 else int(value)


@dataclass(frozen=True)
class Ramp:
    """A number that moves linearly from `start` to `end` while a share goes from 0 to 1.

    >>> Ramp.parse("temperature", "1.0:0.25", above=0)(0.5)
    0.625
    """

    start: float
    end: float

    @classmethod
    def parse(cls, name: str, text: str, above: float) -> Ramp:
        """From "1.0", or "1.0:0.25"."""
        try:
            ends = [float(part) for part in str(text).split(":")]
        except ValueError:
            ends = []
        if len(ends) not in (1, 2) or not all(above < end < math.inf for end in ends):
            raise ValueError(
                f"{name} is {text!r}; it must be a number above {above:g}, or two as in 1.0:0.25."
            )
        return cls(ends[0], ends[-1])

    def __call__(self, share: float) -> float:
        """The value at that share, which is taken to be at most 1."""
        return self.start + (self.end - self.start) * min(1.0, max(0.0, share))
