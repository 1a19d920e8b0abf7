"""orcalign warmup"""

from __future__ import annotations

import os
import time

from rich.console import Console
from rich.progress import track


def warmup() -> None:
    """Compile the matching kernels now, so that the first real call does not have to.

    They are kept in numba's cache; after an update of orcalign, numba or the CPU this is worth repeating.
    """
    import numpy as np

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
    console.print(f"ready after {time.perf_counter() - start:.1f} s", highlight=False)
