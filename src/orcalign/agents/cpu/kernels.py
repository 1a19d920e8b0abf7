"""Bias, LayerNorm and ReLU in one pass over a layer's matrix product, the way back, and Adam; a layer for one row."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from orcalign.matching.kernel import reordering_kernel

Array = npt.NDArray[np.float32]

EPSILON = np.float32(1e-5)
"""As torch's layer_norm has it."""
FIRST, SECOND, TINY = np.float32(1 - 0.9), np.float32(1 - 0.999), np.float32(1e-8)
"""What Adam's moments take of a new gradient, and what keeps it from dividing by 0."""


@reordering_kernel
def normalise(z: Array, bias: Array, gain: Array, shift: Array, relu: bool, scale: Array, y: Array) -> None:
    """Bias and LayerNorm, and ReLU if wanted: ``z`` [B, N] becomes what is normalised, ``y`` [B, N...] the result.

    >>> z, y, one, none = np.float32([[1, 3]]), np.zeros((1, 2), "f"), np.ones(2, "f"), np.zeros(2, "f")
    >>> normalise(z, none, one, one, True, np.zeros(1, "f"), y)
    >>> y.round(3).tolist()
    [[0.0, 2.0]]
    """
    rows, size = z.shape
    count = np.float32(size)
    for r in range(rows):
        total = np.float32(0)
        for k in range(size):
            z[r, k] += bias[k]
            total += z[r, k]
        mean = total / count
        squares = np.float32(0)
        for k in range(size):
            z[r, k] -= mean
            squares += z[r, k] * z[r, k]
        scale[r] = np.float32(1) / np.sqrt(squares / count + EPSILON)
        for k in range(size):
            z[r, k] *= scale[r]
            y[r, k] = z[r, k] * gain[k] + shift[k]
        if relu:
            for k in range(size):
                # Not max(y, 0), which would make a 0 of what is no number.
                y[r, k] = np.float32(0) if y[r, k] < 0 else y[r, k]


@reordering_kernel
def normalise_back(
    d: Array,
    y: Array,
    z: Array,
    gain: Array,
    relu: bool,
    scale: Array,
    learn: bool,
    d_gain: Array,
    d_shift: Array,
    d_bias: Array,
) -> None:
    """The way back: ``d`` [B, N...] goes from the gradient of the result to that of the matrix product.

    The result is ``y``, after a ReLU or a tanh. With ``learn`` the parameters' gradients are written, too.

    >>> one, none, d = np.ones((1, 1), "f"), np.zeros(1, "f"), np.float32([[3]])
    >>> d_gain, d_shift, d_bias = np.ones((3, 1), "f")
    >>> normalise_back(d, one, one, np.ones(1, "f"), True, np.ones(1, "f"), True, d_gain, d_shift, d_bias)
    >>> d.tolist(), d_gain.tolist(), d_shift.tolist()
    ([[-3.0]], [3.0], [3.0])
    """
    rows, size = z.shape
    count = np.float32(size)
    if learn:
        for k in range(size):
            d_gain[k] = d_shift[k] = d_bias[k] = np.float32(0)
    for r in range(rows):
        if relu:
            for k in range(size):
                d[r, k] = d[r, k] if y[r, k] > 0 else np.float32(0)
        else:
            for k in range(size):
                d[r, k] *= np.float32(1) - y[r, k] * y[r, k]
        if learn:
            for k in range(size):
                d_shift[k] += d[r, k]
                d_gain[k] += d[r, k] * z[r, k]
        mean = np.float32(0)
        along = np.float32(0)
        for k in range(size):
            d[r, k] *= gain[k]
            mean += d[r, k]
            along += d[r, k] * z[r, k]
        mean /= count
        along /= count
        for k in range(size):
            d[r, k] = scale[r] * (d[r, k] - mean - z[r, k] * along)
        if learn:
            for k in range(size):
                d_bias[k] += d[r, k]


@reordering_kernel
def rectified_back(d: Array, y: Array, learn: bool, d_bias: Array) -> None:
    """``d`` [B, N] goes from the gradient of ``y`` [B, N], bias and ReLU of a product, to that of the product.

    >>> d, d_bias = np.float32([[3, 4]]), np.zeros(2, "f")
    >>> rectified_back(d, np.float32([[0, 1]]), True, d_bias)
    >>> d.tolist(), d_bias.tolist()
    ([[0.0, 4.0]], [0.0, 4.0])
    """
    rows, size = d.shape
    if learn:
        for k in range(size):
            d_bias[k] = np.float32(0)
    for r in range(rows):
        for k in range(size):
            d[r, k] = d[r, k] if y[r, k] > 0 else np.float32(0)
        if learn:
            for k in range(size):
                d_bias[k] += d[r, k]


@reordering_kernel
def adam(
    weight: Array,
    gradient: Array,
    mean: Array,
    square: Array,
    follower: Array,
    rate: np.float32,
    root: np.float32,
    follow: bool,
    share: np.float32,
) -> None:
    """A step of Adam for ``weight`` [N], and then a ``follower`` goes ``share`` of the way to it if it is to.

    ``rate`` is the learning rate over the first moment's correction, ``root`` the root of the second's.

    >>> weight, mean, square, follower = np.zeros((4, 1), "f")
    >>> one = np.float32(1)
    >>> adam(weight, np.ones(1, "f"), mean, square, follower, one, one, True, one / 2)
    >>> [round(float(x[0]), 4) for x in (weight, mean, square, follower)]
    [-3.1623, 0.1, 0.001, -1.5811]
    """
    for k in range(len(weight)):
        g = gradient[k]
        mean[k] += FIRST * (g - mean[k])
        square[k] += SECOND * (g * g - square[k])
        weight[k] -= rate * mean[k] / (np.sqrt(square[k]) / root + TINY)
    if follow:
        for k in range(len(weight)):
            follower[k] += share * (weight[k] - follower[k])


@reordering_kernel
def dense_of_one(x: Array, weight: Array, bias: Array, y: Array) -> None:
    """``weight`` [N, D] times ``x`` [D] plus ``bias``, into ``y`` [N].

    >>> y = np.zeros(1, "f")
    >>> dense_of_one(np.float32([1, 2]), np.float32([[3, 4]]), np.float32([5]), y)
    >>> y.tolist()
    [16.0]
    """
    rows, columns = weight.shape
    for r in range(rows):
        total = np.float32(0)
        for k in range(columns):
            total += weight[r, k] * x[k]
        y[r] = total + bias[r]


@reordering_kernel
def layer_of_one(x: Array, weight: Array, bias: Array, gain: Array, shift: Array, relu: bool, y: Array) -> None:
    """The same with LayerNorm, and ReLU if wanted.

    >>> y, one = np.zeros(2, "f"), np.ones(2, "f")
    >>> layer_of_one(np.float32([1]), np.float32([[1], [3]]), 0 * one, one, one, True, y)
    >>> y.round(3).tolist()
    [0.0, 2.0]
    """
    dense_of_one(x, weight, bias, y)
    size = len(y)
    count = np.float32(size)
    total = np.float32(0)
    for k in range(size):
        total += y[k]
    mean = total / count
    squares = np.float32(0)
    for k in range(size):
        y[k] -= mean
        squares += y[k] * y[k]
    scale = np.float32(1) / np.sqrt(squares / count + EPSILON)
    for k in range(size):
        y[k] = y[k] * scale * gain[k] + shift[k]
        if relu:
            y[k] = np.float32(0) if y[k] < 0 else y[k]
