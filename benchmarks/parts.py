"""What is each part of `orca_progress` worth? Runs with it and runs without, in three worlds.

    python -m benchmarks.parts      from the files in results/, which hold the command of every run

A row of the table takes one part away. In each world the runs without it are compared with those as it is, of the same
seeds; the difference is the mean over the worlds of what is lost without the part, and its standard error comes from
how much runs differ in each world. A run *fails* if it ends below a tenth of the expert's return. Only parts that were
taken away in all three worlds are in the mean.
"""

import json
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from matplotlib.figure import Figure

from orcalign.experiments.methods import ABLATION, METHODS
from orcalign.experiments.results_file import load_results
from orcalign.experiments.statistics import difference_and_error

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
PICTURE = ROOT / "docs" / "images" / "parts.png"
WORLDS = {
    "nav2d": ROOT / "results" / "nav2d-ablation.json",
    "button-press": ROOT / "results" / "ablation-button-press.json",
    "window-open": ROOT / "results" / "ablation-window-open.json",
}
WHOLE = "orca_progress"
FAILS = 0.1


class Compared(NamedTuple):
    """Runs of one world with a part and without it, of the same seeds."""

    having: list[float]
    lacking: list[float]


def scores(path):
    """Method → seed → return of the last checkpoint, as a share of the expert's."""
    found = {}
    for result in load_results(path).done:
        found.setdefault(result.values["method"], {})[int(result.values["seed"])] = result.score("normalised")
    return found


def compare(runs, method):
    """The runs of a world with a part and without it; None where it was not taken away."""
    if method not in runs:
        return None
    seeds = sorted(set(runs[method]) & set(runs[WHOLE]))
    return Compared(*([runs[name][seed] for seed in seeds] for name in (WHOLE, method)))


def told(world):
    """As it is, and without, and of how many seeds."""
    if world is None:
        return ""
    return f"{fmean(world.having):.2f} → {fmean(world.lacking):.2f} ({len(world.having)})"


def main():
    """Print and keep the table, and draw it."""
    runs = {name: scores(path) for name, path in WORLDS.items()}
    lines = [
        "# What each part of `orca_progress` is worth",
        "",
        "`python -m benchmarks.parts`, from `results/`: return of the last checkpoint as a share of the expert's on",
        "ten held-out episodes, with the part → without it, of the same seeds (how many). Lost: the mean over the",
        f"three worlds of what is lost without it, with its standard error. Fails: runs that end below {FAILS}.",
        "",
        f"| taken away | {' | '.join(WORLDS)} | lost | fails with it | without |",
        "|" + "---|" * 7,
    ]
    kept = {}
    for method in ABLATION:
        worlds = [compare(runs[name], method) for name in WORLDS]
        there = [world for world in worlds if world is not None]
        if method == WHOLE or not there:
            continue
        having, lacking = zip(*there, strict=True)
        mean = ""
        if len(there) == len(WORLDS):
            lost, error = difference_and_error(having, lacking)
            mean = f"{lost:+.2f} ± {error:.2f}"
            kept[method] = {"label": METHODS[method].label, "lost": lost, "error": error}
        fails = [sum(score < FAILS for world in side for score in world) for side in (having, lacking)]
        count = sum(map(len, having))
        cells = [METHODS[method].label, *map(told, worlds), mean, *(f"{k} of {count}" for k in fails)]
        lines.append(f"| {' | '.join(cells)} |")
    print("\n".join(lines[6:]))
    (RESULTS / "parts.md").write_text("\n".join(lines) + "\n")
    (RESULTS / "parts.json").write_text(json.dumps(kept, indent=1) + "\n")
    draw(kept)


def draw(kept):
    """What each part is worth, the most first."""
    rows = sorted(kept.values(), key=lambda row: row["lost"])
    figure = Figure(figsize=(7.5, 0.3 * len(rows) + 1), layout="constrained")
    axis = figure.subplots()
    axis.axvline(0, color="black", linewidth=0.8)
    for k, row in enumerate(rows):
        told = row["lost"] > row["error"]
        axis.errorbar(row["lost"], k, xerr=row["error"], fmt="o" if told else "s", capsize=3,
                      color="#0072B2" if told else "#E69F00")  # fmt: skip
    axis.set_yticks(range(len(rows)), [row["label"] for row in rows], fontsize=9)
    axis.set_xlabel("return lost without it, mean of three worlds (± standard error)", fontsize=9)
    axis.grid(axis="x", alpha=0.3)
    figure.savefig(PICTURE, dpi=100)


if __name__ == "__main__":
    main()
