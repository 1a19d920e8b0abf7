"""The field's measures of a progress or score: does it rise with time, rank attempts, and tell failures?"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Numbers = npt.ArrayLike


def value_order_correlation(progress: Numbers, truth: Numbers | None = None) -> float | None:
    """VOC: Spearman's rank correlation of progress [T] with time, or with the true progress [T]; from -1 to 1.

    None where either has but one value.

    >>> value_order_correlation([0.1, 0.2, 0.9]), value_order_correlation([0.9, 0.1]), value_order_correlation([1, 1])
    (1.0, -1.0, None)
    """
    values = _ranks(progress)
    times = _ranks(np.arange(len(values)) if truth is None else truth)
    return _correlation(values, times)


def kendall_tau(scores: Numbers, truth: Numbers) -> float | None:
    """Kendall's tau-b of scores [N] with what is known of them [N]; both higher for better. None without an order.

    >>> kendall_tau([0.1, 0.5, 0.9], [1, 2, 3]), kendall_tau([0.1, 0.9, 0.5], [1, 2, 3]), kendall_tau([1, 2], [3, 3])
    (1.0, 0.333..., None)
    """
    above, over = (np.sign(np.subtract.outer(a, a)) for a in map(_array, (scores, truth)))
    size = np.sqrt(float((above != 0).sum()) * float((over != 0).sum()))
    return float((above * over).sum() / size) if size else None


def failure_auroc(scores: Numbers, success: npt.ArrayLike) -> float | None:
    """How probable it is that a failure scores below a success, a tie counting half; None if all are one or the other.

    >>> failure_auroc([0.1, 0.5, 0.5], [False, False, True])
    0.75
    """
    values, done = _array(scores), np.asarray(success, bool)
    good, bad = values[done], values[~done]
    if not len(good) or not len(bad):
        return None
    # By ranks: all pairs of a large data set do not fit into memory.
    ranks = _ranks(np.concatenate([good, bad]))[: len(good)]
    return float((ranks.sum() - len(good) * (len(good) + 1) / 2) / (len(good) * len(bad)))


def _array(values: Numbers) -> npt.NDArray[np.float64]:
    return np.asarray(values, np.float64)


def _ranks(values: Numbers) -> npt.NDArray[np.float64]:
    """From 1; equal values share the mean of theirs."""
    from scipy.stats import rankdata

    ranks: npt.NDArray[np.float64] = rankdata(_array(values))
    return ranks


def _correlation(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> float | None:
    a, b = a - a.mean(), b - b.mean()
    size = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b / size) if size else None
