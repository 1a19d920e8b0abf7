"""How far maps are apart in the places that differ most, in units of a demo; the formulas are at `FineModel`."""

from __future__ import annotations

from typing import Any, final

import numpy as np
import numpy.typing as npt

from orcalign.encoders.protocol import Features
from orcalign.matching.kernel import reordering_kernel
from orcalign.matching.match import FloatArray

WORST = 3
"""Places of which a distance is the mean."""
FORGIVEN = 0.2
"""Share of the unit up to which a difference from the beginning on is taken off."""
FLOOR = 0.6
"""Share of the change from a demo frame to its neighbours that means nothing."""
NEIGHBOURS = 60
"""Demos of more frames have neighbours further away: their 60th part."""
START = 3
"""Demo frames to any of which an attempt's first one may be similar."""


@final
class FineCosts:
    """Costs of an episode against one demo, by its worst places; the formulas are at `FineModel`.

    Args:
        demo: [J, places x channels, and for each place whether it was seen].
        places: how many.
    """

    def __init__(self, demo: npt.ArrayLike, places: int) -> None:
        self._places = places
        maps, seen = self._parts(np.asarray(demo, np.float32))
        self._scale = (maps.reshape(-1, maps.shape[2]).std(axis=0) + 1e-3).astype(np.float32)
        self._demo = np.ascontiguousarray(maps / self._scale)
        nothing = np.zeros(places, np.float32)
        self._between, self._between_whole = far_places(self._demo, seen, self._demo, nothing)
        J = len(self._demo)
        self.unit = float(self._between.max()) or 1.0
        near = max(1, round(J / NEIGHBOURS))
        self.change = np.array([self._between[j, max(0, j - near) : j + near + 1].max() for j in range(J)])

    def __call__(self, features: npt.ArrayLike, first: npt.ArrayLike) -> FloatArray:
        """Costs [T, J] of an episode's features [T, D], of which `first` [D] begins it."""
        return self._cost(self._far(features, first)[0])

    def whole(self, features: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Root mean squares over all places, [T, J] and [J, J] of the demo's own."""
        rows = np.asarray(features)
        return self._far(rows, rows[0])[1], self._between_whole

    def _far(self, features: npt.ArrayLike, first: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        maps, seen = self._parts(np.asarray(features, np.float32))
        begins, _ = self._parts(np.asarray(first, np.float32)[None])
        start = ((self._demo[:START] - begins / self._scale) ** 2).sum(axis=2).min(axis=0)
        start = np.minimum(start, (FORGIVEN * self.unit) ** 2).astype(np.float32)
        return far_places(np.ascontiguousarray(maps / self._scale), seen, self._demo, start)

    def between_demo_frames(self) -> FloatArray:
        """Costs [J, J] of the demo's frames to one another."""
        return self._cost(self._between)

    def _cost(self, far: FloatArray) -> FloatArray:
        return np.maximum(far - FLOOR * self.change, 0) / self.unit

    def _parts(self, rows: Features) -> tuple[Features, npt.NDArray[np.bool_]]:
        """Maps [T, places, channels], and which places were seen [T, places]."""
        return rows[:, : -self._places].reshape(len(rows), self._places, -1), rows[:, -self._places :] > 0


def far_places(
    rows: Features, seen: npt.NDArray[np.bool_], demo: Features, start: Features
) -> tuple[FloatArray, FloatArray]:
    """Distances [T, J] of maps [T, K, C] that saw [T, K] to [J, K, C]: mean of the worst places, and of all.

    >>> demo = np.zeros((1, 4, 1), np.float32)
    >>> rows = np.array([1, 5, 7, 3], np.float32).reshape(1, 4, 1)
    >>> worst, whole = far_places(rows, np.ones((1, 4), bool), demo, np.zeros(4, np.float32))
    >>> worst.tolist(), (whole**2).round(6).tolist()
    ([[5.0]], [[21.0]])
    """
    worst, whole = np.empty((len(rows), len(demo))), np.empty((len(rows), len(demo)))
    _far_places(rows, seen, demo, start, min(WORST, rows.shape[1]), worst, whole)
    return worst, whole


@reordering_kernel
def _far_places(rows: Any, seen: Any, demo: Any, start: Any, count: int, worst: Any, whole: Any) -> None:
    T, K, C = rows.shape
    best = np.zeros(count, np.float32)
    for t in range(T):
        for j in range(len(demo)):
            best[:] = 0
            total, places = np.float64(0), 0
            for k in range(K):
                if not seen[t, k]:
                    continue
                square = np.float32(0)
                for c in range(C):
                    difference = rows[t, k, c] - demo[j, k, c]
                    square += difference * difference
                square = max(square - start[k], np.float32(0))
                total += np.float64(square)
                places += 1
                i = count - 1
                if square > best[i]:
                    while i > 0 and best[i - 1] < square:
                        best[i] = best[i - 1]
                        i -= 1
                    best[i] = square
            whole[t, j] = np.sqrt(total / max(places, 1))
            total = np.float64(0)
            for i in range(count):
                total += np.sqrt(np.float64(best[i]))
            worst[t, j] = total / count
