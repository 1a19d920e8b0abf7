"""Batches of random numbers, for updates that need no meaning."""

from __future__ import annotations

import numpy as np

from orcalign.agents import Batch


def random_batch(seed, shape=(5,), action_dim=2, size=16):
    rng = np.random.default_rng(seed)

    def look():
        if len(shape) == 3:
            return rng.integers(0, 256, (size, *shape), dtype=np.uint8)
        return rng.standard_normal((size, *shape)).astype(np.float32)

    return Batch(
        look(),
        rng.uniform(-1, 1, (size, action_dim)).astype(np.float32),
        rng.standard_normal(size).astype(np.float32),
        rng.choice([0, 0.97], size).astype(np.float32),
        look(),
    )
