"""What is between the networks of SAC, as a kernel: the way back through a draw from the policy."""

from __future__ import annotations

import numpy as np

from orcalign.agents.cpu.kernels import Array
from orcalign.matching.kernel import reordering_kernel


@reordering_kernel
def through_draw(
    d_actions: Array,
    actions: Array,
    stray: Array,
    raw: Array,
    lowest: float,
    highest: float,
    alpha: float,
    d_raw: Array,
) -> None:
    """From the gradient of ``actions`` [B, A] to that of ``raw`` [B, 2A], means and log deviations before bounds.

    ``stray`` is how far from their means they were drawn. What the mean of their log probabilities, times ``alpha``,
    adds to the loss is added here.

    >>> one, d_raw = np.ones((1, 1), "f"), np.zeros((1, 2), "f")
    >>> through_draw(4 * one, one / 2, 2 * one, np.float32([[0, 0]]), -1, 1, 0.5, d_raw)
    >>> d_raw.tolist()
    [[3.5, 6.5]]
    """
    rows, size = actions.shape
    share = np.float32(alpha / rows)
    for r in range(rows):
        for k in range(size):
            x = actions[r, k]
            # Of the log probability: -log(1 - tanh(raw)^2) has the slope 2 tanh(raw).
            d = d_actions[r, k] * (np.float32(1) - x * x) + share * (x + x)
            d_raw[r, k] = d
            free = lowest <= raw[r, size + k] <= highest
            d_raw[r, size + k] = d * stray[r, k] - share if free else np.float32(0)
