"""Every matcher by its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from orcalign.checks import near_miss, require
from orcalign.matching.bottleneck import bottleneck
from orcalign.matching.dtw import dtw
from orcalign.matching.linear import even, final_frame, nearest, segment, threshold
from orcalign.matching.match import Match
from orcalign.matching.orca import orca
from orcalign.matching.orca_log import orca_log
from orcalign.matching.orca_progress import orca_progress
from orcalign.matching.pooling import POOLS
from orcalign.matching.soft_dtw import soft_dtw
from orcalign.matching.transport import ot, temporal_ot


@dataclass(frozen=True)
class Matcher:
    """A way of matching, callable like its function."""

    name: str
    function: Callable[..., Match]
    causal: bool
    """Whether reward[t] needs nothing after t, so that it can be given at every step; with the default settings."""
    summary: str
    pools: tuple[str, ...] = POOLS
    """How its rewards against several demos may be pooled; the first is its default."""

    def __call__(self, cost: npt.ArrayLike, **settings: Any) -> Match:
        """Match with the settings of the function."""
        return self.function(cost, **settings)


MATCHERS: dict[str, Matcher] = {
    matcher.name: matcher
    for matcher in (
        Matcher("orca", orca, True, "ordered coverage: all frames before the last in order, the last now"),
        Matcher("orca_log", orca_log, True, "ordered coverage in the log domain, for very long demos"),
        Matcher("orca_progress", orca_progress, True, "orca plus the increase of progress", pools=("best",)),
        Matcher("bottleneck", bottleneck, True, "ordered coverage by its worst moment instead of the product"),
        Matcher("ot", ot, False, "optimal transport over all pairs of frames"),
        Matcher("temporal_ot", temporal_ot, False, "optimal transport inside a band around the diagonal"),
        Matcher("dtw", dtw, False, "dynamic time warping, the cheapest path"),
        Matcher("soft_dtw", soft_dtw, False, "all warping paths, weighed by their cost"),
        Matcher("threshold", threshold, True, "subgoals ticked off one after the other"),
        Matcher("final_frame", final_frame, True, "distance to the demo's last frame"),
        Matcher("even", even, True, "mean distance to all demo frames"),
        Matcher("nearest", nearest, True, "distance to the closest demo frame"),
        Matcher("segment", segment, False, "distance to the closest demo frame of the same share of time"),
    )
}


def matcher(name: str) -> Matcher:
    """The matcher of that name.

    >>> matcher("orca").causal
    True
    >>> matcher("temporal-ot")
    Traceback (most recent call last):
        ...
    ValueError: no matcher is called 'temporal-ot'; did you mean 'temporal_ot'? Known: orca, orca_log, ...
    """
    if name in MATCHERS:
        return MATCHERS[name]
    raise ValueError(f"no matcher is called {name!r};{near_miss(name, MATCHERS)} Known: {', '.join(MATCHERS)}.")


def require_pool(name: str, how: str = "auto") -> str:
    """How the matcher of that name pools its rewards against several demos: as asked or, for "auto", its default.

    >>> require_pool("orca"), require_pool("orca_progress"), require_pool("orca", "best")
    ('max', 'best', 'best')
    >>> require_pool("orca_progress", "max")
    Traceback (most recent call last):
        ...
    ValueError: pool is 'max', but orca_progress pays progress when it is made, and the highest of several demos' \
increments at every step would pay the same progress once per demo; use pool='best'.
    """
    require("pool", how, ("auto", *POOLS))
    pools = matcher(name).pools
    if how == "auto":
        return pools[0]
    if how not in pools:
        raise ValueError(
            f"pool is {how!r}, but {name} pays progress when it is made, and the highest of several demos' increments "
            f"at every step would pay the same progress once per demo; use pool={pools[0]!r}."
        )
    return how
