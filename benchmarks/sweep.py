"""What a sweep adds to the runs that it runs, and how large a grid it can look after.

    python -m benchmarks.sweep [--quick] [--ray]

Cells are nav2d runs with the small networks of a laptop, sized to about a minute each (seconds with --quick).
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.timing import machine, store
from orcalign import __version__
from orcalign.experiments.cells import CellFolder
from orcalign.experiments.planning import Plan, plan_study
from orcalign.experiments.study import Budget, Study, find_study
from orcalign.experiments.sweep import SweepSettings, read_progress, sweep_study
from orcalign.experiments.worker import LocalBackend

BARE = """
import sys, time
from pathlib import Path
from benchmarks.sweep import cells
from orcalign.training import Training, start_run
plan = cells(int(sys.argv[2]))
for cell in plan.cells:
    run = start_run(cell.config, Path(sys.argv[1]) / cell.key)
    training = Training(run, 0, "cpu")
    training.go()
    training.close()
"""


def cells(steps: int) -> Plan:
    """Two runs of the same length."""
    study = Study(
        "bench",
        "two runs",
        {"recipe": ("orca_np",), "task": ("nav2d",)},
        budgets={"laptop": Budget(steps, 2)},
    )
    return plan_study(study)


def bare(folder: Path, steps: int) -> float:
    """Seconds of the two runs, one after the other in one process, imports included as in a sweep."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", BARE, str(folder), str(steps)], check=True)
    return time.perf_counter() - start


def swept(folder: Path, steps: int, jobs: int, ray: bool = False) -> float:
    """Seconds of a sweep over them, from planning to the last result; without starting Ray itself."""
    backend: Any
    if ray:
        from orcalign.experiments.ray_backend import RayBackend
        from orcalign.training.ray_players import connect

        connect()
        backend = lambda: RayBackend(folder, jobs)  # noqa: E731
    else:
        backend = lambda: LocalBackend(folder, jobs)  # noqa: E731
    start = time.perf_counter()
    assert sweep_study(cells(steps), folder, backend, SweepSettings(device="cpu")).complete
    return time.perf_counter() - start


def large_grid(folder: Path) -> dict[str, float]:
    """Seconds to plan 10,010 cells, and to read the state of as many that are done."""
    start = time.perf_counter()
    plan = plan_study(find_study("misaligned"), seeds=143)
    planned = time.perf_counter() - start
    done = json.dumps({"format": 1, "orcalign": __version__, "last": {"returns": [0] * 10}})
    for cell in plan.cells:
        place = CellFolder(folder, cell.key)
        place.path.mkdir(parents=True)
        place.done_file.write_text(done)
    start = time.perf_counter()
    progress = read_progress(plan, folder)
    return {
        "cells": len(plan.cells),
        "plan": planned,
        "read": time.perf_counter() - start,
        "done": len(progress.done),
    }


def main() -> None:
    quick, ray = "--quick" in sys.argv, "--ray" in sys.argv
    steps = 600 if quick else 5000
    here, times = machine(), {}
    folder = Path(tempfile.mkdtemp(prefix="orcalign-bench-"))
    try:
        # In turn, twice: a busy moment should not hit one of them alone.
        for name in ("a", "b") if not quick else ("a",):
            for kind, measure in {
                "bare": lambda place: bare(place, steps),
                "one": lambda place: swept(place, steps, 1),
                "two": lambda place: swept(place, steps, 2),
                **({"ray": lambda place: swept(place, steps, 1, ray=True)} if ray else {}),
            }.items():
                seconds = measure(folder / f"{kind}-{name}")
                times[kind] = min(seconds, times.get(kind, seconds))
                print(f"{kind}: {seconds:.1f} s", flush=True)
        grid = large_grid(folder / "grid")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    repeats = "once" if quick else "twice, and the quicker one counts"
    lines = [
        "# Sweep: what it adds",
        "",
        f"`python -m benchmarks.sweep{' --ray' * ray}` on {here['cpu']}, {here['cores']} cores. Two nav2d runs of "
        f"{steps:,} agent steps, {times['bare'] / 2:.0f} s each; everything in turn, {repeats}.",
        "",
        "| | seconds | to reach |",
        "|---|---|---|",
        f"| bare runs, one after the other | {times['bare']:.1f} | |",
        f"| sweep, one job at a time | {times['one']:.1f} ({times['one'] / times['bare'] - 1:+.1%}) | under +3% |",
        f"| sweep, two jobs side by side | {times['two']:.1f} ({times['one'] / times['two']:.2f} times) | 1.8 times |",
    ]
    if ray:
        lines.append(
            f"| on Ray, one job at a time | {times['ray']:.1f} ({times['ray'] / times['bare'] - 1:+.1%}) | under +5% |"
        )
    lines += [
        f"| planning {grid['cells']:,} cells | {grid['plan']:.2f} | both under 5 |",
        f"| reading the state of them | {grid['read']:.2f} | |",
    ]
    table = "\n".join(lines) + "\n"
    print(table)
    if not quick:
        about = {"command": "python -m benchmarks.sweep", "machine": here, "steps": steps}
        store("sweep", {**about, "seconds": times, "grid": grid}, table)


if __name__ == "__main__":
    main()
