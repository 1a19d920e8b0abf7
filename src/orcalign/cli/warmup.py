"""orcalign warmup"""

from __future__ import annotations

import os
import time

from rich.console import Console
from rich.progress import track


def warmup() -> None:
    """Compile the kernels now (matching, distances, pictures, networks), so that the first real call does not have to.

    They are kept in numba's cache; after an update of orcalign, numba or the CPU this is worth repeating.
    """
    import numpy as np

    from orcalign.agents.drqv2.cpu.kernels import layer_of_one, normalise, normalise_back
    from orcalign.costs import FrameCosts
    from orcalign.encoders.resize import resize
    from orcalign.envs.rendering.layers import compose, shrink
    from orcalign.matching import MATCHERS, OrcaTracker, context

    os.environ["ORCALIGN_QUIET"] = "1"  # the progress bar says it
    console = Console()
    start = time.perf_counter()
    jobs = [(matcher, dtype) for matcher in MATCHERS.values() for dtype in (np.float64, np.float32)]
    for matcher, dtype in track(jobs, description="compiling", console=console):
        cost = np.ones((2, 12, 12), dtype)
        matcher(cost)
        context(cost)
    OrcaTracker(2).push([0.0, 0.0])
    picture = np.zeros((4, 4, 3), np.uint8)
    resize(picture[None], 2)
    small, depth = shrink(picture, 2, flip=False), np.zeros((4, 4), np.float32)
    compose(picture, depth, picture, depth, small, 2, flip=False)
    for dtype in (np.float64, np.float32):
        FrameCosts(np.ones((2, 4), dtype))(np.ones((1, 4), dtype))
    layer, row = np.ones((2, 4), np.float32), np.ones(4, np.float32)
    normalise(layer, row, row, row, True, row[:2], layer)
    normalise_back(layer, layer, layer, row, True, row[:2], True, row, row, row)
    layer_of_one(row, np.ones((4, 4), np.float32), row, row, row, True, row)
    console.print(f"ready after {time.perf_counter() - start:.1f} s", highlight=False)
