"""Costs between frames whose rows do not depend on one another, down to the last bit.

A matrix product of one row and the same row inside a product of many differ in their last bits, because
BLAS adds in another order. A reward given live and the one computed afterwards should be the same number,
so here no addition ever rounds: directions are rounded to multiples of 2^-26, their products are multiples
of 2^-52, and no partial sum of the products of two unit vectors exceeds 1 by more than rounding (Cauchy and
Schwarz), so all of them are exact in float64, in any order, on any number of threads.

Rounding the directions moves a cosine distance by some 1e-8; two engines of one encoder differ by 1e-3.
"""

from __future__ import annotations

from typing import final

import numpy as np
import numpy.typing as npt

from orcalign.matching.costs import distance as distance_named
from orcalign.matching.inputs import as_float_array
from orcalign.matching.match import FloatArray

GRID = 2.0**26
BLOCK = 64
"""Rows at a time: bounds the memory that float64 copies of features take."""


@final
class FrameCosts:
    """Distances of learner frames to one demo's frames, in float64.

    cosine: 1/2 |u - v|^2 of the directions u and v (exactly 0 for equal features); a zero vector is at
    distance 1 from all but another zero vector, as in `orcalign.matching.cosine`. euclidean: as in
    `orcalign.matching.euclidean`, row by row.

    Args:
        demo_features: [J, D], finite.
        distance: "cosine" or "euclidean".

    >>> costs = FrameCosts(np.array([[2.0, 0.0], [0.0, 3.0], [-1.0, 0.0]]))
    >>> costs(np.array([[1.0, 0.0]])).tolist()
    [[0.0, 1.0, 2.0]]
    """

    def __init__(self, demo_features: npt.ArrayLike, distance: str = "cosine") -> None:
        self._far = distance_named(distance)
        self.distance = distance
        self._demo = _features(demo_features, "demo_features")
        self.num_frames, self.dim = self._demo.shape
        if distance == "cosine":
            self._demo = np.concatenate(
                [directions(self._demo[start : start + BLOCK]) for start in range(0, self.num_frames, BLOCK)]
            )
            self._half_squares = _half_squares(self._demo)

    def __call__(self, features: npt.ArrayLike) -> FloatArray:
        """Costs [T, J] of learner features [T, D]."""
        rows = _features(features, "features")
        if rows.shape[1] != self.dim:
            raise ValueError(
                f"features have size {rows.shape[1]} and the demo's {self.dim}; both must come from the same "
                f"encoder with the same settings."
            )
        out = np.empty((len(rows), self.num_frames))
        step = BLOCK if self.distance == "cosine" else 1
        for start in range(0, len(rows), step):
            block = rows[start : start + step]
            out[start : start + step] = (
                self._cosine(directions(block)) if self.distance == "cosine" else self._far(block, self._demo)
            )
        return out

    def between_demo_frames(self) -> FloatArray:
        """Costs [J, J] of the demo's frames to one another."""
        return self._cosine(self._demo) if self.distance == "cosine" else self(self._demo)

    def _cosine(self, unit: FloatArray) -> FloatArray:
        squares = _half_squares(unit)
        out: FloatArray = squares[:, None] + self._half_squares - unit @ self._demo.T
        nowhere, demo_nowhere = squares == 0, self._half_squares == 0
        if nowhere.any() or demo_nowhere.any():
            out[nowhere[:, None] != demo_nowhere] = 1.0
        np.clip(out, 0.0, 2.0, out=out)
        return out


def directions(features: FloatArray) -> FloatArray:
    """Rows [T, D] scaled to length 1 and rounded to multiples of 2^-26; zero rows stay zero.

    >>> directions(np.array([[3.0, 4.0]])).round(6).tolist()
    [[0.6, 0.8]]
    """
    wide = np.array(features, np.float64, order="C")
    largest = np.abs(wide).max(axis=1, keepdims=True)
    wide /= np.where(largest == 0, 1.0, largest)
    # Along the last axis of a contiguous array NumPy adds each row in the same way, however many there are.
    length = np.sqrt((wide * wide).sum(axis=1, keepdims=True))
    wide *= GRID / np.where(length == 0, 1.0, length)
    np.rint(wide, out=wide)
    wide /= GRID
    return wide


def _half_squares(unit: FloatArray) -> FloatArray:
    squares: FloatArray = (unit * unit).sum(axis=1) / 2
    return squares


def _features(values: npt.ArrayLike, name: str) -> FloatArray:
    array = as_float_array(values, name)
    if array.ndim != 2 or array.size == 0:
        raise ValueError(
            f"{name} has shape {array.shape}; it must be [T, D] with at least one frame "
            f"(a single frame is features[None])."
        )
    if not np.isfinite(array).all():
        t, d = (int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(
            f"{name}[{t}, {d}] is {array[t, d]}; features must be finite, so check the frame or the encoder."
        )
    return array
