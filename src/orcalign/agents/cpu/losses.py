"""What critics and actor learn from a pair of critics, as kernels: losses, and their gradients."""

from __future__ import annotations

import numpy as np

from orcalign.agents.cpu.kernels import Array
from orcalign.matching.kernel import reordering_kernel


@reordering_kernel
def towards(after: Array, returns: Array, discounts: Array, values: Array, d: Array) -> tuple[float, float]:
    """The critics' loss and mean value; into ``d`` [2, B] the gradient of the ``values`` [2, B].

    They go to the return plus what the smaller of the values ``after`` [2, B] is worth today.

    >>> d = np.zeros((2, 1), "f")
    >>> one = np.ones(1, "f")
    >>> towards(np.float32([[3], [2]]), one, one / 2, np.float32([[1], [4]]), d)
    (2.5, 2.5)
    >>> d.tolist()
    [[-1.0], [2.0]]
    """
    heads, rows = values.shape
    loss, total = np.float32(0), np.float32(0)
    for r in range(rows):
        target = returns[r] + discounts[r] * np.minimum(after[0, r], after[1, r])
        for k in range(heads):
            error = values[k, r] - target
            d[k, r] = error * np.float32(2 / (heads * rows))
            loss += error * error
            total += values[k, r]
    count = np.float32(heads * rows)
    return float(loss / count), float(total / count)


@reordering_kernel
def upwards(values: Array, d: Array) -> float:
    """Minus the mean of the smaller of both ``values`` [2, B], the actor's loss; its gradient into ``d`` [2, B].

    >>> d = np.zeros((2, 2), "f")
    >>> upwards(np.float32([[1, 5], [3, 4]]), d)
    -2.5
    >>> d.tolist()
    [[-0.5, 0.0], [0.0, -0.5]]
    """
    rows = values.shape[1]
    total, each = np.float32(0), np.float32(-1 / rows)
    for r in range(rows):
        total += np.minimum(values[0, r], values[1, r])
        first = values[0, r] <= values[1, r]
        d[0, r] = each if first else np.float32(0)
        d[1, r] = np.float32(0) if first else each
    return float(-total / np.float32(rows))
