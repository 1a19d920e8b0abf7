"""Measuring on a machine that others use too: the best of many short runs, all in one process."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def seconds(call: Callable[[], Any], budget: float = 0.6) -> float:
    """Best time of one call, over as many repeats as fit into the budget (at least two)."""
    call()
    start = time.perf_counter()
    call()
    once = max(time.perf_counter() - start, 1e-7)
    batch = max(1, int(0.002 / once))
    best, spent = once, 0.0
    while spent < budget:
        start = time.perf_counter()
        for _ in range(batch):
            call()
        spent += time.perf_counter() - start
        best = min(best, (time.perf_counter() - start) / batch)
    return best


def together(calls: dict[str, Callable[[], Any]], rounds: int = 3) -> dict[str, float]:
    """Best time of each, taking turns, so that a busy moment does not hit one of them alone."""
    times = [{name: seconds(call, 0.25) for name, call in calls.items()} for _ in range(rounds)]
    return {name: min(row[name] for row in times) for name in calls}


def machine() -> dict[str, Any]:
    """What the numbers were measured on."""
    cpu = "unknown"
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = [line for line in info.read_text().splitlines() if line.startswith(("model name", "flags"))]
        cpu = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), cpu)
        flags = next((line.split(":")[1].split() for line in lines if line.startswith("flags")), [])
        cpu += ", AVX-512" if "avx512f" in flags else ", AVX2" if "avx2" in flags else ""
    packages = ("numpy", "numba", "scipy", "POT", "tslearn", "dtaidistance")
    return {
        "cpu": cpu,
        "cores": len(os.sched_getaffinity(0)),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in packages},
    }


def store(name: str, content: dict[str, Any], table: str) -> None:
    """Keep the numbers as JSON and the table as Markdown, side by side."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n")
    (RESULTS / f"{name}.md").write_text(table)


def readable(value: float) -> str:
    """Seconds in the unit that suits them.

    >>> readable(0.00123)
    '1.23 ms'
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"
