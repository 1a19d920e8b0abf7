from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def frames():
    """Seven smooth, different pictures [7,48,64,3]: noise alone would hide errors of orientation."""
    y, x = np.mgrid[0:48, 0:64]
    pictures = [
        np.stack([3 * x + 9 * t, 5 * y, 255 * ((x + 3 * t) // 16 % 2) * (y > 8 * t % 40)], axis=-1) % 256
        for t in range(7)
    ]
    return np.stack(pictures).astype(np.uint8)


@pytest.fixture
def cosine():
    """Smallest cosine between rows [T,D] and [T,D]."""

    def smallest(a, b):
        a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
        return float(((a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)).min())

    return smallest
