"""Statistics over runs: what a table says about recipes, with intervals that a few seeds allow.

Scores are [N, K]: N runs (seeds) of each of K tasks. The measures are those of Agarwal et al. (2021), "Deep
reinforcement learning at the edge of the statistical precipice"; a test compares them with their library, rliable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.float64]
REPEATS = 2000
"""Of the bootstrap."""


@dataclass(frozen=True)
class Interval:
    """A value and where it lies with 95% confidence; low and high are None where one run tells nothing."""

    value: float
    low: float | None = None
    high: float | None = None


def mean_and_error(values: Sequence[float]) -> tuple[float, float | None]:
    """Mean and standard error (None for a single value).

    >>> mean_and_error([0.0, 1.0])
    (0.5, 0.5)
    """
    array = np.asarray(values, float)
    if len(array) == 1:
        return float(array[0]), None
    return float(array.mean()), float(array.std(ddof=1) / np.sqrt(len(array)))


def interquartile_mean(scores: Scores) -> float:
    """Mean of the middle half of all runs of all tasks: robust to outliers, and uses more runs than a median.

    >>> interquartile_mean(np.array([[0.0, 1.0, 2.0, 100.0]]))
    1.5
    """
    ordered = np.sort(scores, axis=None)
    cut = int(0.25 * ordered.size)
    return float(ordered[cut : ordered.size - cut].mean())


def probability_of_improvement(ours: Scores, others: Scores) -> float:
    """How probable it is that a run of ours beats a run of theirs on a task drawn at random; a tie counts half.

    >>> probability_of_improvement(np.array([[1.0], [2.0]]), np.array([[1.0], [0.0]]))
    0.875
    """
    higher = ours[:, None] > others[None]
    same = ours[:, None] == others[None]
    return float((higher + 0.5 * same).mean())


def profile(scores: Scores, thresholds: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """[len(thresholds)] Share of runs above each threshold.

    >>> profile(np.array([[0.0, 0.5], [1.0, 0.5]]), np.array([0.0, 0.5])).tolist()
    [0.75, 0.25]
    """
    found: npt.NDArray[np.float64] = (scores.reshape(-1, 1) > thresholds).mean(0)
    return found


def stratified_bootstrap(
    statistic: Callable[..., npt.ArrayLike], *groups: Scores, repeats: int = REPEATS, seed: int = 0
) -> npt.NDArray[np.float64]:
    """[2, ...] 2.5% and 97.5% quantiles of the statistic, when runs are drawn again within each task.

    >>> low, high = stratified_bootstrap(interquartile_mean, np.arange(12.0).reshape(3, 4))
    >>> bool(low < 5.5 < high)
    True
    """
    rng = np.random.default_rng(seed)
    drawn = []
    for _ in range(repeats):
        again = [np.take_along_axis(one, rng.integers(len(one), size=one.shape), axis=0) for one in groups]
        drawn.append(statistic(*again))
    found: npt.NDArray[np.float64] = np.quantile(np.asarray(drawn, float), [0.025, 0.975], axis=0)
    return found


def with_interval(statistic: Callable[..., float], *groups: Scores, repeats: int = REPEATS) -> Interval:
    """The statistic with its interval; with one run of a task there is nothing to draw from, so no interval.

    >>> with_interval(interquartile_mean, np.array([[0.2, 0.4]]))
    Interval(value=0.30000000000000004, low=None, high=None)
    """
    value = float(statistic(*groups))
    if min(len(one) for one in groups) < 2:
        return Interval(value)
    low, high = stratified_bootstrap(statistic, *groups, repeats=repeats)
    return Interval(value, float(low), float(high))
