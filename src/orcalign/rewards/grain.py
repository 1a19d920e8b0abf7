"""How much of what changes from picture to picture is the grain of camera and codec."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

CELLS = 32
"""Pictures are compared by the mean colours of 32x32 cells, which averages sensor and codec noise away."""
NOISE = 3.0
"""Largest change of a cell, in levels of 255, up to which two pictures are the same; more if they are grainy."""
PAIRS = 16
"""Of frames that follow each other, by which the grain of a demo is measured."""
PIXELS = 256
"""Rows and columns by which it is measured, at most."""
GRAIN = 16.0
"""Standard deviation, in levels of 255, up to which changes can be grain: what differs by more are other pictures."""
DEVIATIONS = 6.0
"""Standard deviations that none of the 3,072 values of some dozens of pictures exceeds by chance."""


def cell_noise(frames: npt.NDArray[np.uint8]) -> float:
    """Largest change of a cell that the grain of the pictures [J,H,W,3] explains, in levels of 255.

    Grain is what half of all pixels change by from one frame to the next, and each on its own: a cell, which
    averages many, hardly changes by it in large pictures, and visibly in small ones. What moves changes a cell
    as much as its pixels, and most of a picture does not move.

    >>> grain = np.random.default_rng(0).normal(100, 5, (9, 64, 64, 3)).astype(np.uint8)
    >>> cell_noise(np.zeros((9, 64, 64, 3), np.uint8)), round(cell_noise(grain))
    (3.0, 14)
    """
    J, H, W, _ = frames.shape
    if J < 2:
        return NOISE
    before = np.unique(np.linspace(0, J - 2, min(J - 1, PAIRS)).round().astype(np.int64))
    # Single pixels tell it, so that of large pictures a few are enough.
    few = frames[:, :: -(-H // PIXELS), :: -(-W // PIXELS)]
    changes = few[before + 1].astype(np.int16) - few[before]
    sizes = np.abs(changes - np.median(changes)).ravel()
    half = sizes.size // 2
    # Of a normal distribution the half that deviates less does so by 0.3247 standard deviations on average.
    spread = float(np.partition(sizes, half)[:half].mean()) / 0.3247
    if spread > GRAIN:
        return NOISE
    # The triangle that makes a cell of n pixels leaves 2/3 of what their plain mean would.
    left = min(1.0, 2 / 3 * CELLS / float(np.sqrt(H * W)))
    return max(NOISE, DEVIATIONS * spread * left)
