"""What is each part of `orca_progress` worth? Runs with it and runs without, in three worlds.

    python -m benchmarks.parts      from the files in results/, which hold the command of every run

A row of the first table takes one part away, one of the second adds something that is no part of it. What is lost is
the mean over the worlds of how far the runs so changed are behind those as it is, and its standard error comes from how
much runs differ in each world. It is told twice: against all runs as it is, which are more, and against those of the
same seeds, in case a seed is a lucky one for both. A run *fails* if it ends below a tenth of the expert's return. Only
what was tried in all three worlds has a mean.
"""

import json
from pathlib import Path
from statistics import fmean

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
ADDED = ("progress_sharp", "progress_fine", "progress_best_scale", "progress_stricter",
         "progress_more_updates", "progress_pretrained")  # fmt: skip
"""Of the ablation, what adds something; the others take something away."""
FAILS = 0.1
NAMES = ("all runs as it is", "those of the same seeds")
"""What runs are compared with."""


def scores(path):
    """Method → seed → return of the last checkpoint, as a share of the expert's."""
    found = {}
    for result in load_results(path).done:
        found.setdefault(result.values["method"], {})[result.values["seed"]] = result.score("normalised")
    return found


def told(runs):
    """Their mean, and how many they are."""
    return f"{fmean(runs.values()):.2f} ({len(runs)})" if runs else ""


def row(runs, method):
    """A line of a table; and what is lost against all runs and against those of the same seeds, if it has a mean."""
    there = [name for name in WORLDS if method in runs[name]]
    changed = [[*runs[name][method].values()] for name in there]
    losses = None
    if len(there) == len(WORLDS) and method != WHOLE:
        whole = [[*runs[name][WHOLE].values()] for name in there]
        same = [[runs[name][WHOLE][seed] for seed in runs[name][method]] for name in there]
        losses = [difference_and_error(one, changed) for one in (whole, same)]
    fails = sum(score < FAILS for world in changed for score in world)
    cells = [
        "as it is" if method == WHOLE else METHODS[method].label,
        *(told(runs[name].get(method)) for name in WORLDS),
        *(["", ""] if losses is None else [f"{lost:+.2f} ± {error:.2f}" for lost, error in losses]),
        f"{fails} of {sum(map(len, changed))}",
    ]
    return f"| {' | '.join(cells)} |", losses


def page():
    """The page with both tables, and by method what is lost."""
    runs = {name: scores(path) for name, path in WORLDS.items()}
    lines = [
        "# What each part of `orca_progress` is worth",
        "",
        "`python -m benchmarks.parts`, from `results/`: return of the last checkpoint as a share of the expert's on",
        "ten held-out episodes, mean over runs (how many). Lost: the mean over the three worlds of how far that is",
        "behind the method as it is, with its standard error, against all its runs and against those of the same",
        f"seeds. Fails: runs that end below {FAILS}.",
    ]
    kept = {}
    for title, methods in (
        ("taken away", [name for name in ABLATION if name not in ADDED]),
        ("added", [WHOLE, *ADDED]),
    ):
        lines += ["", f"| {title} | {' | '.join(WORLDS)} | lost | same seeds | fails |", "|" + "---|" * 7]
        for method in methods:
            if any(method in runs[name] for name in WORLDS):
                line, losses = row(runs, method)
                lines.append(line)
                kept |= {} if losses is None else {method: dict(zip(NAMES, losses, strict=True))}
    return "\n".join(lines) + "\n", kept


def main():
    """Print and keep the tables, and draw the first."""
    text, kept = page()
    print(text, end="")
    (RESULTS / "parts.md").write_text(text)
    (RESULTS / "parts.json").write_text(json.dumps(kept, indent=1) + "\n")
    draw({method: lost for method, lost in kept.items() if method not in ADDED})


def draw(kept):
    """What is lost without each part, the most on top: against all runs, and against those of the same seeds."""
    rows = sorted(kept.items(), key=lambda item: item[1][NAMES[0]])
    figure = Figure(figsize=(7.5, 0.36 * len(rows) + 1), layout="constrained")
    axis = figure.subplots()
    axis.axvline(0, color="black", linewidth=0.8)
    for name, shift, mark, colour in zip(NAMES, (0.14, -0.14), "os", ("#0072B2", "#E69F00"), strict=True):
        lost, error = zip(*(one[name] for _, one in rows), strict=True)
        at = [k + shift for k in range(len(rows))]
        axis.errorbar(lost, at, xerr=error, fmt=mark, color=colour, capsize=3, label=f"against {name}")
    axis.set_yticks(range(len(rows)), [METHODS[method].label for method, _ in rows], fontsize=9)
    axis.set_xlabel("return lost, mean of three worlds (± standard error)", fontsize=9)
    axis.grid(axis="x", alpha=0.3)
    axis.legend(fontsize=8, loc="lower right")
    figure.savefig(PICTURE, dpi=100)


if __name__ == "__main__":
    main()
