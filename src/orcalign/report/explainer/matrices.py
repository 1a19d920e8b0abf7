"""Matrices [T, J] → whole numbers that a page can carry, and which demo frame to show for each row."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import numpy as np
import numpy.typing as npt

from orcalign.report.explainer.data import FloatArray, PageResult

MOST = 640
"""Rows and columns that are kept: more than a screen shows of one heatmap."""
_DECADES = 6


def embed_matrix(values: FloatArray, bits: int) -> dict[str, Any]:
    """The matrix [T, J] as 8- or 16-bit steps between its least and its greatest value, in base64.

    Where most of what is not 0 lies below a fiftieth of the greatest value (coverage of a long demo), steps
    are taken in the logarithm over at most six decades, and the page says so. A side above `MOST` is thinned
    to `MOST` evenly chosen rows or columns: cells stay exact, some are left out.

    >>> heat = embed_matrix(np.array([[0.0, 0.5], [0.25, 1.0]]), bits=8)
    >>> from base64 import b64decode
    >>> heat["low"], heat["high"], heat["log"], list(b64decode(heat["data"]))
    (0.0, 1.0, False, [0, 128, 64, 255])
    """
    kept = values[np.ix_(kept_indices(values.shape[0]), kept_indices(values.shape[1]))].astype(np.float64)
    low, high = float(kept.min()), float(kept.max())
    positive = kept[kept > 0]
    log = bool(low >= 0 and positive.size and (positive < high / 50).mean() > 0.5)
    if log:
        low = max(float(positive.min()), high * 10.0**-_DECADES)
        kept = np.log(np.maximum(kept, low) / low) / np.log(high / low)
    else:
        # Halves first: the difference of two very large numbers of either sign would overflow.
        kept = (kept / 2 - low / 2) / (high / 2 - low / 2) if high > low else np.zeros_like(kept)
    steps = np.rint(kept * (2**bits - 1)).astype(f"<u{bits // 8}")
    return {
        "rows": steps.shape[0],
        "columns": steps.shape[1],
        "bits": bits,
        "low": low,
        "high": high,
        "log": log,
        "data": b64encode(steps.tobytes()).decode("ascii"),
    }


def kept_indices(count: int) -> npt.NDArray[np.int64]:
    """Which of `count` rows or columns the page keeps; the page's script counts in the same way.

    >>> kept_indices(3).tolist(), len(kept_indices(1000)), int(kept_indices(1000)[-1])
    ([0, 1, 2], 640, 999)
    """
    kept = min(count, MOST)
    # Whole numbers, rounded half up: JavaScript's Math.round and NumPy's differ on halves of floats.
    return (2 * np.arange(kept) * (count - 1) + max(kept - 1, 1)) // (2 * max(kept - 1, 1))


def followed(result: PageResult, cost: FloatArray) -> npt.NDArray[np.int64]:
    """[T] The demo frame to show beside each learner frame.

    It is the one that the method matches most with t, and of several equally matched the one at the least
    cost. Ordered coverage names none, its rows only fall (C[t, 0] is always the greatest): the position that
    the story tells is taken then.
    """
    assignment = result.assignment
    if (np.diff(assignment, axis=1) <= 0).all():
        return np.asarray(np.clip(result.story.position, 0, assignment.shape[1] - 1), np.int64)
    best = assignment >= assignment.max(axis=1, keepdims=True)
    return np.asarray(np.where(best, cost, np.inf).argmin(axis=1), np.int64)
