"""make bench: every matcher against the loops and libraries that people use today, in one run.

python -m benchmarks.matching [--quick]
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import ot as pot
from dtaidistance import dtw as dtai
from tslearn.metrics import dtw_path_from_metric, soft_dtw_alignment

from benchmarks.timing import machine, readable, seconds, store, together
from orcalign.matching import MATCHERS, OrcaTracker, band_mask, context, dtw, orca, ot, soft_dtw, temporal_ot
from orcalign.matching.threads import cores

SHAPES = {
    "100x100": (1, 100, 100),
    "300x100": (1, 300, 100),
    "1000x1000": (1, 1000, 1000),
    "64 of 63x20": (64, 63, 20),
}


def python_orca(cost: np.ndarray) -> list[float]:
    """The loop of the paper's Algorithm 1 in plain Python over a NumPy array, as public code has it."""
    T, J = cost.shape
    P = np.exp(-cost)
    C = np.zeros((T, J))
    for t in range(T):
        for j in range(J):
            left = C[t, j - 1] if j > 0 else 1.0
            before = C[t - 1, j] if t > 0 else 0.0
            C[t, j] = max(before, left * P[t, j])
    return [C[t, J - 2] * P[t, J - 1] for t in range(T)]


def python_dtw(cost: np.ndarray) -> np.ndarray:
    """Accumulated costs of DTW in plain Python over a NumPy array."""
    T, J = cost.shape
    D = np.full((T + 1, J + 1), np.inf)
    D[0, 0] = 0
    for t in range(T):
        for j in range(J):
            D[t + 1, j + 1] = cost[t, j] + min(D[t, j], D[t, j + 1], D[t + 1, j])
    return D


def numpy_log_sinkhorn(cost: np.ndarray, mask: np.ndarray, epsilon: float, tolerance: float) -> np.ndarray:
    """Masked Sinkhorn in the log domain, to the same sum of column errors."""
    T, J = cost.shape
    M = np.where(mask, -cost / epsilon, -np.inf)
    g = np.zeros(J)
    for _ in range(10_000):
        f = -math.log(T) - _logsumexp(M + g, 1)
        columns = _logsumexp(M + f[:, None], 0)
        if np.abs(np.exp(columns + g) - 1 / J).sum() <= tolerance:
            break
        g = -math.log(J) - columns
    return np.exp(M + f[:, None] + g)


def _logsumexp(x: np.ndarray, axis: int) -> np.ndarray:
    peak = x.max(axis=axis, keepdims=True)
    return np.squeeze(peak, axis) + np.log(np.exp(x - peak).sum(axis=axis))


def pot_at(cost: np.ndarray, epsilon: float, method: str, error: float) -> Any:
    """POT's solver set up to stop at our column error: it tests the 2-norm, every tenth sweep."""
    T, J = cost.shape
    a, b = np.full(T, 1 / T), np.full(J, 1 / J)
    for threshold in 10.0 ** np.arange(-2, -14, -0.25):
        plan = pot.sinkhorn(a, b, cost, epsilon, method=method, stopThr=threshold, numItermax=100_000)
        if np.abs(plan.sum(axis=0) - b).sum() + np.abs(plan.sum(axis=1) - a).sum() <= error:
            break
    return lambda: pot.sinkhorn(a, b, cost, epsilon, method=method, stopThr=threshold, numItermax=100_000)


def matchers_by_shape(dtype: type, budget: float) -> dict[str, dict[str, float]]:
    """Seconds per matcher and shape."""
    rows: dict[str, dict[str, float]] = {}
    rng = np.random.default_rng(0)
    for label, (B, T, J) in SHAPES.items():
        cost = rng.random((B, T, J)).astype(dtype)
        cost = cost if B > 1 else cost[0]
        calls: dict[str, Callable[..., Any]] = dict(MATCHERS)
        calls["context (3 frames)"] = context
        calls["limit: np.exp"] = np.exp
        calls["limit: one pass (copy)"] = np.copy
        for name, call in calls.items():
            rows.setdefault(name, {})[label] = seconds(partial(call, cost), budget)
    return rows


def bar(what: str, ours: float, rival: str, theirs: float, at_least: float) -> dict[str, Any]:
    """One promise: theirs / ours has to reach `at_least`."""
    ratio = theirs / ours
    numbers = {"ours": ours, "theirs": theirs, "ratio": ratio, "needed": at_least}
    return {"bar": what, "rival": rival, **numbers, "met": ratio >= at_least}


def orca_bars(cost: np.ndarray) -> list[dict[str, Any]]:
    times = together({"orca": partial(orca, cost), "exp": partial(np.exp, cost), "loop": partial(python_orca, cost)})
    tracker, row = OrcaTracker(100), cost[0]
    return [
        bar("ORCA: 60 times the Python loop", times["orca"], "Python loop", times["loop"], 60),
        bar("ORCA: at most 1.5 times np.exp", times["orca"], "np.exp", times["exp"], 1 / 1.5),
        bar("OrcaTracker.push, J = 100: under 10 µs", seconds(partial(tracker.push, row)), "10 µs", 1e-5, 1),
    ]


def transport_bars(cost: np.ndarray, epsilon: float) -> list[dict[str, Any]]:
    banded, full = temporal_ot(cost, epsilon=epsilon), ot(cost, epsilon)
    loop = partial(numpy_log_sinkhorn, cost, band_mask(*cost.shape), epsilon, 1e-9)
    error = max(float(full.marginal_error), 1e-9)
    times = together(
        {
            "temporal_ot": partial(temporal_ot, cost, epsilon=epsilon),
            "loop": loop,
            "ot": partial(ot, cost, epsilon),
            "plain": pot_at(cost, epsilon, "sinkhorn", error),
            "log": pot_at(cost, epsilon, "sinkhorn_log", error),
        }
    )
    title = f"TemporalOT, epsilon {epsilon:g} ({int(banded.sweeps)} sweeps): 50 times NumPy log-Sinkhorn"
    start = f"OT, epsilon {epsilon:g} ({int(full.sweeps)} sweeps):"
    return [
        bar(title, times["temporal_ot"], "NumPy log-Sinkhorn", times["loop"], 50),
        bar(f"{start} faster than POT's sinkhorn_log", times["ot"], "POT sinkhorn_log", times["log"], 1),
        bar(f"{start} at most twice POT's sinkhorn", times["ot"], "POT sinkhorn", times["plain"], 0.5),
    ]


def warping_bars(rng: np.random.Generator) -> list[dict[str, Any]]:
    x, y = rng.random(300), rng.random(100)
    cost = (x[:, None] - y) ** 2
    times = together(
        {
            "dtw": partial(dtw, cost),
            "tslearn": partial(dtw_path_from_metric, cost, metric="precomputed"),
            "dtaidistance": lambda: dtai.best_path(dtai.warping_paths_fast(x, y)[1]),
            "loop": partial(python_dtw, cost),
            "soft": partial(soft_dtw, cost),
            "soft tslearn": partial(soft_dtw_alignment, x[:, None], y[:, None]),
        }
    )
    return [
        bar("DTW with its path: not slower than tslearn", times["dtw"], "tslearn", times["tslearn"], 1),
        bar("... than dtaidistance (C)", times["dtw"], "dtaidistance", times["dtaidistance"], 1),
        bar("... 50 times the Python loop", times["dtw"], "Python loop", times["loop"], 50),
        bar("soft DTW: not slower than tslearn", times["soft"], "tslearn", times["soft tslearn"], 1),
    ]


def core_bars(rng: np.random.Generator) -> list[dict[str, Any]]:
    batch = rng.random((256, 300, 100))
    both = seconds(partial(orca, batch), 1.5)
    os.environ["ORCALIGN_THREADS"] = "1"
    one = seconds(partial(orca, batch), 1.5)
    del os.environ["ORCALIGN_THREADS"]
    code = "import time; start = time.perf_counter(); import orcalign; print(time.perf_counter() - start)"
    start_up = min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(5))
    return [
        bar(f"ORCA, batch of 256 x 300x100: {cores()} cores against 1", both, "1 thread", one, 1.5),
        bar("import orcalign: under half a second", start_up, "0.5 s", 0.5, 1),
    ]


def bars() -> list[dict[str, Any]]:
    """What was promised at 300x100 in float64, each measured in turns with its rival."""
    rng = np.random.default_rng(0)
    cost = rng.random((300, 100))
    transport = [row for epsilon in (1.0, 0.05) for row in transport_bars(cost, epsilon)]
    return [*orca_bars(cost), *transport, *warping_bars(rng), *core_bars(rng)]


def as_markdown(here: dict[str, Any], promised: list[dict[str, Any]], by_dtype: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in here["versions"].items())
    lines = [
        "# Matching: how fast",
        "",
        f"`make bench` on {here['cpu']}, {here['cores']} cores, Python {here['python']}, {versions}.",
        "Uniform random costs, seed 0; best of many runs, one thread unless said otherwise. Read them as ratios:",
        "absolute times vary with the machine's load.",
        "",
        "## What was promised, at 300x100 in float64",
        "",
        "| bar | ours | rival | theirs | theirs / ours | needed | met |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in promised:
        ours, theirs, met = readable(row["ours"]), readable(row["theirs"]), "yes" if row["met"] else "**no**"
        numbers = f"{row['ratio']:.3g} | {row['needed']:.2g}"
        lines.append(f"| {row['bar']} | {ours} | {row['rival']} | {theirs} | {numbers} | {met} |")
    for dtype, rows in by_dtype.items():
        lines += ["", f"## All matchers, {dtype}", "", "| | " + " | ".join(SHAPES) + " |"]
        lines += ["|---" * (len(SHAPES) + 1) + "|"]
        for name, times in rows.items():
            lines.append(f"| {name} | " + " | ".join(readable(times[shape]) for shape in SHAPES) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    warnings.simplefilter("ignore")
    quick = "--quick" in sys.argv
    here = machine()
    promised = bars()
    by_dtype = {dtype.__name__: matchers_by_shape(dtype, 0.05 if quick else 0.4) for dtype in (np.float64, np.float32)}
    table = as_markdown(here, promised, by_dtype)
    print(table)
    if not quick:
        store(
            "matching",
            {"command": "make bench", "machine": here, "bars": promised, "seconds": by_dtype},
            table,
        )
        print("stored in benchmarks/results")


if __name__ == "__main__":
    main()
