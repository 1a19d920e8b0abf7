"""What is between the networks of DrQ-v2, as kernels: noise on actions, and the way back through it."""

from __future__ import annotations

import numpy as np

from orcalign.agents.cpu.kernels import Array
from orcalign.matching.kernel import reordering_kernel


@reordering_kernel
def nearby(actions: Array, noise: Array, bound: float, out: Array) -> None:
    """``actions`` [B, A] plus ``noise`` within ``bound``, within -1 to 1, into ``out``.

    >>> out = np.zeros((1, 3), "f")
    >>> nearby(np.float32([[0.5, 0.9, -1]]), np.float32([[-9, 0.25, -0.25]]), 0.25, out)
    >>> out.tolist()
    [[0.25, 1.0, -1.0]]
    """
    most, one = np.float32(bound), np.float32(1)
    rows, size = actions.shape
    for r in range(rows):
        for k in range(size):
            # Not min and max, which would make a number of what is none.
            x = noise[r, k]
            x = most if x > most else x
            x = actions[r, k] + (-most if x < -most else x)
            x = one if x > one else x
            out[r, k] = -one if x < -one else x


@reordering_kernel
def through_tanh(d_actions: Array, actions: Array, raw: Array, penalty: float, d_raw: Array) -> float:
    """From the gradient of ``actions`` [B, A], the tanh of ``raw``, to that of ``raw``; and the penalty on it.

    >>> d_raw, half = np.zeros((1, 1), "f"), np.float32([[0.5]])
    >>> through_tanh(np.float32([[4]]), half, np.float32([[2]]), 0.25, d_raw), d_raw.tolist()
    (1.0, [[4.0]])
    """
    rows, size = raw.shape
    count = np.float32(rows * size)
    weight = np.float32(penalty)
    squares = np.float32(0)
    for r in range(rows):
        for k in range(size):
            x = actions[r, k]
            d_raw[r, k] = d_actions[r, k] * (np.float32(1) - x * x)
            if weight > 0:
                d_raw[r, k] += raw[r, k] * (np.float32(2) * weight / count)
                squares += raw[r, k] * raw[r, k]
    return float(weight * squares / count)
