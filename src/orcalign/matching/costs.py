"""From features to cost matrices: distances between frames, and their mean over a few frames in step."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from orcalign.checks import require, require_count
from orcalign.matching.kernel import kernel, reordering_kernel
from orcalign.matching.match import FloatArray, as_float_array, as_valid_episodes
from orcalign.matching.threads import for_chunks

DIRECTIONS = ("future", "past")
BLOCK = 256
"""Rows at a time: bounds the memory that float64 copies of features take."""


def cosine(x: npt.ArrayLike, y: npt.ArrayLike) -> FloatArray:
    """Cosine distances, in [0, 2].

    A zero vector has no direction: it is at distance 1 from every vector but another zero vector, from
    which it is at distance 0.

    Args:
        x: [T, D] or [B, T, D] learner features.
        y: [J, D] demo features.

    Returns:
        [T, J] or [B, T, J], in float32 if both are float32 and else in float64.

    >>> cosine([[1.0, 0.0], [0.0, 0.0]], [[2.0, 0.0], [0.0, 3.0], [-1.0, 0.0], [0.0, 0.0]]).tolist()
    [[0.0, 1.0, 2.0, 1.0], [1.0, 1.0, 1.0, 0.0]]
    """
    a, b = _feature_pair(x, y)
    rows, demo = a.reshape(-1, a.shape[-1]), directions(b)
    squares = half_squares(demo)
    out = np.empty((len(rows), len(b)), np.result_type(a, b))
    for start in range(0, len(rows), BLOCK):
        out[start : start + BLOCK] = between_directions(directions(rows[start : start + BLOCK]), demo, squares)
    return out.reshape(*a.shape[:-1], len(b))


def half_squares(u: FloatArray) -> FloatArray:
    """[T] of directions [T, D]: 1/2 |u|^2, which is 1/2 up to rounding, or 0."""
    squares: FloatArray = (u * u).sum(axis=-1) / 2
    return squares


def between_directions(u: FloatArray, v: FloatArray, v_squares: FloatArray) -> FloatArray:
    """Cosine distances [T, J] = 1/2 |u - v|^2 of directions [T, D] and [J, D], whose `half_squares` are known.

    >>> between_directions(np.eye(2), np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([0.5, 0.0])).tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    squares = half_squares(u)
    out: FloatArray = squares[:, None] + v_squares - _products(u, v)
    nowhere, other_nowhere = squares == 0, v_squares == 0
    if nowhere.any() or other_nowhere.any():
        out[nowhere[:, None] != other_nowhere] = 1.0
    # Rounding leaves distances slightly outside; nothing else can.
    np.clip(out, 0.0, 2.0, out=out)
    return out


def _products(u: FloatArray, v: FloatArray) -> FloatArray:
    """u v^T [T, J]. For a single live frame BLAS wakes its threads, which on a busy machine takes 100 times as long."""
    if len(u) > 1 or u.dtype != np.float64 or v.dtype != np.float64:
        return u @ v.T
    out = np.empty((1, len(v)))
    _dot_products(u[0], v, out[0])
    return out


@reordering_kernel
def _dot_products(row: Any, v: Any, out: Any) -> None:
    for j in range(v.shape[0]):
        total = 0.0
        for d in range(row.size):
            total += row[d] * v[j, d]
        out[j] = total


def directions(features: FloatArray, grid: float = 0.0) -> FloatArray:
    """Rows [T, D] scaled to length 1; with a grid, rounded to multiples of 1 / grid in float64. Zero rows stay zero.

    >>> directions(np.array([[3.0, 4.0]])).round(6).tolist()
    [[0.6, 0.8]]
    """
    rows = np.ascontiguousarray(features)
    out = np.empty(rows.shape, np.float64 if grid else rows.dtype)
    for_chunks(len(rows), rows.size, lambda start, stop: _directions(rows, out, grid, start, stop))
    return out


@kernel
def _directions(features: Any, out: Any, grid: float, start: int, stop: int) -> None:
    """Row by row, and every row in the same way, however many there are."""
    for t in range(start, stop):
        row = features[t]
        largest = 0.0
        for value in row:
            largest = max(largest, abs(np.float64(value)))
        if largest == 0:
            out[t] = 0
            continue
        # Scaled first, so that no square overflows.
        _scale(row, largest, (grid or 1.0) / math.sqrt(_square_sum(row, largest)), grid, out[t])


@reordering_kernel
def _square_sum(row: Any, largest: float) -> float:
    total = 0.0
    for value in row:
        scaled = np.float64(value) / largest
        total += scaled * scaled
    return total


@kernel
def _scale(row: Any, largest: float, factor: float, grid: float, out: Any) -> None:
    if grid == 0:
        for i in range(row.size):
            out[i] = np.float64(row[i]) / largest * factor
    else:
        for i in range(row.size):
            out[i] = np.rint(np.float64(row[i]) / largest * factor) / grid


def euclidean(x: npt.ArrayLike, y: npt.ArrayLike) -> FloatArray:
    """Euclidean distances, from differences and not from squares, so that equal features are at 0.

    Shapes and dtypes as of `cosine`.

    >>> euclidean([[0.0, 0.0]], [[3.0, 4.0], [0.0, 0.0]]).tolist()
    [[5.0, 0.0]]
    """
    from scipy.spatial.distance import cdist

    a, b = _feature_pair(x, y)
    flat = cdist(a.reshape(-1, a.shape[-1]), b)
    distances: FloatArray = flat.reshape(*a.shape[:-1], b.shape[0]).astype(np.result_type(a, b), copy=False)
    return distances


DISTANCES: dict[str, Callable[[npt.ArrayLike, npt.ArrayLike], FloatArray]] = {
    "cosine": cosine,
    "euclidean": euclidean,
}


def distance(name: str) -> Callable[[npt.ArrayLike, npt.ArrayLike], FloatArray]:
    """The distance of that name."""
    require("distance", name, tuple(DISTANCES))
    return DISTANCES[name]


def context(
    cost: npt.ArrayLike, window: int = 3, direction: str = "future", *, lengths: npt.ArrayLike | None = None
) -> FloatArray:
    """Replace each cost by its mean over `window` frames in step, which steadies a noisy distance.

        future: out[t, j] = mean of cost[min(t+k, T-1), min(j+k, J-1)] over k = 0 .. window-1
        past:   out[t, j] = mean of cost[max(t-k, 0), max(j-k, 0)]     over k = 0 .. window-1

    `future` is what the paper ran. It looks ahead, so a reward from it is known only `window - 1` frames
    later; `past` keeps a causal matcher causal. Cost and lengths are as in `orca`, and what comes out is like cost.

    >>> context([[0.0, 3.0], [3.0, 0.0]], window=2, direction="past").tolist()
    [[0.0, 1.5], [1.5, 0.0]]
    """
    window = require_count(window, "window", at_least=1)
    require("direction", direction, DIRECTIONS)
    episodes = as_valid_episodes(cost, lengths)
    out = episodes.empty(columns=True)
    _average_in_step(episodes.cost, episodes.lengths, window, direction == "future", out)
    return episodes.unwrap(out)  # type: ignore[no-any-return]


@kernel
def _average_in_step(cost: Any, lengths: Any, window: int, ahead: bool, out: Any) -> None:
    B, _, J = cost.shape
    real = cost.dtype.type
    for b in range(B):
        T = lengths[b]
        for t in range(T):
            for j in range(J):
                out[b, t, j] = cost[b, t, j]
            for k in range(1, window):
                row = min(t + k, T - 1) if ahead else max(t - k, 0)
                # Columns whose partner lies inside, then those that are held at the edge.
                inside = max(0, J - k)
                if ahead:
                    for j in range(inside):
                        out[b, t, j] += cost[b, row, j + k]
                    for j in range(inside, J):
                        out[b, t, j] += cost[b, row, J - 1]
                else:
                    for j in range(min(k, J)):
                        out[b, t, j] += cost[b, row, 0]
                    for j in range(inside):
                        out[b, t, j + k] += cost[b, row, j]
            for j in range(J):
                out[b, t, j] /= real(window)


def _feature_pair(x: npt.ArrayLike, y: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    a, b = as_features(x, "x", (2, 3)), as_features(y, "y")
    if a.shape[-1] != b.shape[-1]:
        raise ValueError(
            f"x has features of size {a.shape[-1]} and y of size {b.shape[-1]}; both must come from the same "
            f"encoder with the same settings."
        )
    return a, b


def as_features(values: npt.ArrayLike, name: str, ranks: tuple[int, ...] = (2,)) -> FloatArray:
    """Check features [T, D] or, where the ranks allow it, [B, T, D]: finite numbers, at least one an axis.

    >>> as_features([[1.0, float("nan")]], "x")
    Traceback (most recent call last):
        ...
    ValueError: x[0, 1] is nan; features must be finite, so check the frame or the encoder.
    """
    array = as_float_array(values, name)
    if array.ndim not in ranks or array.size == 0:
        wanted = " or ".join("[T, D]" if rank == 2 else "[B, T, D]" for rank in ranks)
        raise ValueError(f"{name} has shape {array.shape}; it must be {wanted} with at least one entry an axis.")
    if not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(
            f"{name}{list(where)} is {array[where]}; features must be finite, so check the frame or the encoder."
        )
    return array
