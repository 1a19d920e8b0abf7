"""The light of one recording brought to that of another: a smooth field between two pictures, a gain for each frame."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.ndimage import gaussian_filter

from orcalign.matching.kernel import kernel

Picture = npt.NDArray[np.float32]

CHANGED = 0.15
"""Difference of logarithms from which a place shows another thing rather than another light."""
DARK, BRIGHT = 10.0, 245.0
"""Values beyond which a camera tells nothing of the light."""
STRONGEST = 1.2
"""Largest logarithm of a gain: 3.3 times as bright."""
UNNOTICED = 0.01
"""Gains this near to 1 are left alone."""


class LightField(NamedTuple):
    """By how much a recording has to be brightened, place by place and colour by colour."""

    logs: Picture
    """[h,w,3]"""

    @property
    def overall(self) -> npt.NDArray[np.float64]:
        """[3] Its middle, for each colour."""
        return np.median(self.logs.reshape(-1, 3).astype(np.float64), axis=0)

    @property
    def uneven(self) -> float:
        """How much it differs from place to place."""
        grey = self.logs.mean(axis=2)
        return float(np.subtract(*np.percentile(grey, [95, 5])))


def usable(picture: Picture, reference: Picture) -> npt.NDArray[np.bool_]:
    """[h,w] Where both pictures [h,w,3] are neither black nor blown out."""
    both = np.concatenate([picture, reference], axis=2)
    return np.asarray((both.min(axis=2) > DARK) & (both.max(axis=2) < BRIGHT))


def light_field(picture: Picture, reference: Picture, seen: npt.NDArray[np.bool_]) -> LightField | None:
    """The smooth field that brings the light of a picture [h,w,3] to the reference's; None if it is the same.

    Places that show something else are weighed down, those that were not `seen` [h,w] are left out.

    >>> reference = np.full((30, 40, 3), 100, np.float32)
    >>> field = light_field(reference * 0.7, reference, np.ones((30, 40), bool))
    >>> np.exp(field.overall).round(3).tolist()
    [1.429, 1.429, 1.429]
    """
    there = usable(picture, reference) & seen
    if there.mean() < 0.1:
        return None
    logs = np.log(np.maximum(reference, 1) / np.maximum(picture, 1))
    slope = _slope(logs, there)
    rest = logs - slope
    weights = there[..., None] / np.square(1 + np.square(rest / CHANGED))
    sigma = (max(logs.shape) / 6, max(logs.shape) / 6, 0)
    weight = gaussian_filter(weights.astype(np.float32), sigma, truncate=2.5)
    field = gaussian_filter((rest * weights).astype(np.float32), sigma, truncate=2.5) / (weight + 0.01) + slope
    if np.percentile(np.abs(field), 95) < 2 * UNNOTICED:
        return None
    return LightField(np.clip(field, -STRONGEST, STRONGEST).astype(np.float32))


def _slope(logs: Picture, there: npt.NDArray[np.bool_]) -> Picture:
    """[h,w,3] The plane through most of the logarithms: a lamp at one side, which a moving mean would flatten."""
    y, x = (np.arange(side) / side - 0.5 for side in logs.shape[:2])
    axes = np.stack([np.ones(logs.shape[:2]), *np.broadcast_arrays(x[None], y[:, None])], axis=-1)
    basis, planes = axes[there], np.zeros((3, 3))
    planes[0] = np.median(logs[there], axis=0)
    for _ in range(4):
        for c in range(3):
            rest = logs[there][:, c] - basis @ planes[:, c]
            weights = basis.T / np.square(1 + np.square(rest / CHANGED))
            planes[:, c] += np.linalg.solve(weights @ basis + 1e-3 * len(rest) * np.diag([0.0, 1, 1]), weights @ rest)
    return np.asarray(axes @ planes, np.float32)


def gain(picture: Picture, reference: Picture, seen: npt.NDArray[np.bool_]) -> Picture:
    """[3] The gain of one frame [h,w,3] that brings what has not changed to the reference; 1 where nobody can tell."""
    there = usable(picture, reference) & seen
    if there.mean() < 0.1:
        return np.ones(3, np.float32)
    logs = np.median(np.log(reference[there] / picture[there]), axis=0)
    logs[np.abs(logs) < UNNOTICED] = 0
    return np.asarray(np.exp(np.clip(logs, -STRONGEST, STRONGEST)), np.float32)


@kernel
def relight(frame: Any, field: Any, gains: Any) -> None:
    """frame uint8 [H,W,3] times field [h,w,3], stretched over it, times gains [3]; in place."""
    H, W = frame.shape[0], frame.shape[1]
    h, w = field.shape[0], field.shape[1]
    line = np.empty((w, 3), np.float32)
    for y in range(H):
        Y = min(max((y + 0.5) * h / H - 0.5, 0.0), h - 1.0)
        top = min(int(Y), h - 2) if h > 1 else 0
        below = np.float32(Y - top)
        for x in range(w):
            for c in range(3):
                up, low = field[top, x, c], field[min(top + 1, h - 1), x, c]
                line[x, c] = (up + (low - up) * below) * gains[c]
        for x in range(W):
            X = min(max((x + 0.5) * w / W - 0.5, 0.0), w - 1.0)
            left = min(int(X), w - 2) if w > 1 else 0
            right = np.float32(X - left)
            for c in range(3):
                a, b = line[left, c], line[min(left + 1, w - 1), c]
                value = frame[y, x, c] * (a + (b - a) * right) + np.float32(0.5)
                frame[y, x, c] = np.uint8(min(value, np.float32(255)))
