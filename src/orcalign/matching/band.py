"""Which pairs of frames TemporalOT may match: a band around the stretched diagonal.

A band is given by the columns lo[t] <= j < hi[t] of each row; both rise with t. Mass can be moved inside
such a band with uniform marginals if and only if the in-order plan (first mass to first room) fits, because
two crossing entries of any plan can be uncrossed without leaving it. That plan gives row t the columns from
floor(t J / T) to ceil((t+1) J / T) - 1, which makes feasibility a comparison of integers.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from orcalign.checks import require, require_count
from orcalign.matching.match import IntArray

BANDS = ("linear", "blocks")


def _width(J: int, window: int | None) -> int:
    """The window asked for, or ceil(J / 10), the paper's for misaligned demos."""
    return -(-J // 10) if window is None else require_count(window, "window", at_least=0)


def band_limits(T: int, J: int, window: int | None = None, band: str = "linear") -> tuple[IntArray, IntArray]:
    """First and one-past-last column of each row of the band: lo [T], hi [T].

    - `linear`: the cells that the diagonal from corner to corner crosses, widened by `window` cells to both
      sides along the shorter axis. Always feasible.
    - `blocks`: what the authors of the paper ran. Each demo column gets floor(T / J) rows in order, the last
      columns one row more where T is no multiple of J; then each row is widened by `window` columns. For
      T < J transposed. Not always feasible: see `window_that_fits`.

    >>> lo, hi = band_limits(4, 2, window=0)
    >>> lo.tolist(), hi.tolist()
    ([0, 0, 1, 1], [1, 1, 2, 2])
    """
    lo, hi, _ = checked_band(T, J, window, band)
    return lo.copy(), hi.copy()


def band_mask(T: int, J: int, window: int | None = None, band: str = "linear") -> npt.NDArray[np.bool_]:
    """The band of `band_limits` as a mask [T, J].

    >>> band_mask(3, 3, window=0).astype(int).tolist()
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    """
    lo, hi = band_limits(T, J, window, band)
    return (np.arange(J) >= lo[:, None]) & (np.arange(J) < hi[:, None])


def window_that_fits(T: int, J: int, window: int | None = None, band: str = "linear") -> int:
    """The smallest window, not below the one asked for, that leaves a plan with uniform marginals.

    >>> window_that_fits(63, 40, window=4, band="blocks")
    7
    """
    width = _width(J, window)
    while not checked_band(T, J, width, band)[2]:
        width += 1
    return width


def checked_band(T: int, J: int, window: int | None, band: str) -> tuple[IntArray, IntArray, bool]:
    """The band of `band_limits`, read-only, and whether the in-order plan lies inside it."""
    require("band", band, BANDS)
    return _band(T, J, _width(J, window), band)


@lru_cache(maxsize=256)
def _band(T: int, J: int, width: int, band: str) -> tuple[IntArray, IntArray, bool]:
    """Episodes of a run have few lengths: their bands are kept, which saves a tenth of a small TemporalOT."""
    if T >= J:
        lo, hi = _limits(T, J, width, band)
    else:  # Transposed: column j holds row t when lo[j] <= t < hi[j]; both rise with j, so these are counts.
        ends = _limits(J, T, width, band)
        hi, lo = (np.searchsorted(end, np.arange(T), side="right").astype(np.int64) for end in ends)
    lo.flags.writeable = hi.flags.writeable = False
    t = np.arange(T)
    return lo, hi, bool((t * J // T >= lo).all() and (-(-(t + 1) * J // T) <= hi).all())


def _limits(T: int, J: int, width: int, band: str) -> tuple[IntArray, IntArray]:
    """Row limits for T >= J."""
    t = np.arange(T)
    if band == "linear":
        lo, hi = t * J // T, -(-(t + 1) * J // T)
    else:
        sizes = np.full(J, T // J)
        sizes[J - T % J :] += 1
        lo = np.repeat(np.arange(J), sizes)
        hi = lo + 1
    return np.maximum(lo - width, 0), np.minimum(hi + width, J)
