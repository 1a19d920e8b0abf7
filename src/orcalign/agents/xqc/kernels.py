"""What is between the products of XQC's networks, as kernels: BatchNorm and ReLU, and distributions of values."""

from __future__ import annotations

import numpy as np

from orcalign.agents.cpu.kernels import Array
from orcalign.matching.kernel import reordering_kernel


@reordering_kernel
def normalise_columns(
    z: Array, mean: Array, variance: Array, share: float, epsilon: float, scale: Array, spread: Array
) -> None:
    """``z`` [B, N] less the mean of each column, by its deviation; running statistics take their ``share``.

    ``scale`` [N] becomes what it was multiplied by, ``spread`` [N] is written over.

    >>> z, mean, variance, scale = np.float32([[1], [3]]), np.zeros(1, "f"), np.ones(1, "f"), np.zeros(1, "f")
    >>> normalise_columns(z, mean, variance, 0.5, 0.0, scale, np.zeros(1, "f"))
    >>> z.tolist(), mean.tolist(), variance.tolist()
    ([[-1.0], [1.0]], [1.0], [1.5])
    """
    rows, size = z.shape
    count, part = np.float32(rows), np.float32(share)
    for k in range(size):
        scale[k] = spread[k] = np.float32(0)
    for r in range(rows):
        for k in range(size):
            scale[k] += z[r, k]
    for k in range(size):
        scale[k] /= count
        mean[k] += part * (scale[k] - mean[k])
    for r in range(rows):
        for k in range(size):
            z[r, k] -= scale[k]
            spread[k] += z[r, k] * z[r, k]
    for k in range(size):
        # As torch has it: without bias for later, as it is for now.
        variance[k] += part * (spread[k] / (count - np.float32(1)) - variance[k])
        scale[k] = np.float32(1) / np.sqrt(spread[k] / count + np.float32(epsilon))
    for r in range(rows):
        for k in range(size):
            z[r, k] *= scale[k]


@reordering_kernel
def rectify(z: Array, gain: Array, shift: Array, y: Array) -> None:
    """Gain, shift and ReLU of what is normalised: ``z`` [B, N] → ``y`` [B, N].

    >>> y, one = np.zeros((1, 2), "f"), np.ones(2, "f")
    >>> rectify(np.float32([[-3, 2]]), 2 * one, one, y)
    >>> y.tolist()
    [[0.0, 5.0]]
    """
    rows, size = z.shape
    for r in range(rows):
        for k in range(size):
            y[r, k] = z[r, k] * gain[k] + shift[k]
        for k in range(size):
            # Not max(y, 0), which would make a 0 of what is no number.
            y[r, k] = np.float32(0) if y[r, k] < 0 else y[r, k]


@reordering_kernel
def columns_back(d: Array, y: Array, z: Array, gain: Array, scale: Array, d_gain: Array, d_shift: Array) -> None:
    """The way back: ``d`` [B, N] goes from the gradient of ``y`` to that of the product; gain and shift get theirs.

    >>> one, d, d_gain, d_shift = np.ones(1, "f"), np.float32([[1], [3]]), np.zeros(1, "f"), np.zeros(1, "f")
    >>> columns_back(d, np.ones((2, 1), "f"), np.float32([[-1], [1]]), one, one, d_gain, d_shift)
    >>> d.tolist(), d_gain.tolist(), d_shift.tolist()
    ([[0.0], [0.0]], [2.0], [4.0])
    """
    rows, size = d.shape
    count = np.float32(rows)
    for k in range(size):
        d_gain[k] = d_shift[k] = np.float32(0)
    for r in range(rows):
        for k in range(size):
            d[r, k] = d[r, k] if y[r, k] > 0 else np.float32(0)
            d_shift[k] += d[r, k]
            d_gain[k] += d[r, k] * z[r, k]
    for r in range(rows):
        for k in range(size):
            d[r, k] = gain[k] * scale[k] * (d[r, k] - (d_shift[k] + z[r, k] * d_gain[k]) / count)


@reordering_kernel
def learned_from(
    chances: Array, worth: Array, returns: Array, discounts: Array, cost: Array, bound: float, out: Array
) -> None:
    """Into ``out`` [B, N]: what critics are to say, from the ``chances`` [2, B, N] of values from -bound to bound.

    It is the one of both that is ``worth`` [2, B] less, its values less ``cost`` [B], discounted, and with returns.

    >>> out, one = np.zeros((1, 3), "f"), np.ones(1, "f")
    >>> learned_from(np.float32([[[0, 0, 1]], [[0, 1, 0]]]), np.float32([[1], [0]]), one / 2, one, 0 * one, 1.0, out)
    >>> out.tolist()
    [[0.0, 0.5, 0.5]]
    """
    rows, atoms = out.shape
    most, step = np.float32(bound), np.float32(2 * bound / (atoms - 1))
    for b in range(rows):
        one = chances[0, b] if worth[0, b] <= worth[1, b] else chances[1, b]
        for k in range(atoms):
            out[b, k] = np.float32(0)
        for k in range(atoms):
            value = returns[b] + discounts[b] * (np.float32(k) * step - most - cost[b])
            value = most if value > most else value
            place = ((-most if value < -most else value) + most) / step
            # What is no number has no place, and its chance will be none either.
            low = min(int(place), atoms - 2) if place >= 0 else 0
            upper = (place - np.float32(low)) * one[k]
            out[b, low] += one[k] - upper
            out[b, low + 1] += upper
