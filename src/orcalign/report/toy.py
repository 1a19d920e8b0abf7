"""One picture for each of the paper's counterexamples, and a page that shows the three."""

from __future__ import annotations

import html
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from orcalign.files import write_file
from orcalign.matching import MATCHERS
from orcalign.matching.counterexamples import COUNTEREXAMPLES, Counterexample
from orcalign.report.plots import save_figure

SHOWN = {"ot": "OT", "dtw": "DTW", "temporal_ot": "TemporalOT", "orca": "ORCA"}
# Okabe and Ito's palette: told apart with any kind of colour vision, and by brightness in print.
GOOD, BAD, DEMO, RIGHT, WRONG = "#0072B2", "#E69F00", "#000000", "#00735C", "#B2182B"


def totals(case: Counterexample, matcher: str) -> tuple[float, float]:
    """Summed reward of the good and of the bad learner.

    >>> totals(COUNTEREXAMPLES["stalling"], "dtw")
    (0.0, 0.0)
    """
    good, bad = (float(MATCHERS[matcher](case.cost(learner)).reward.sum()) for learner in ("good", "bad"))
    return good, bad


def verdict(good: float, bad: float) -> str:
    """How a matcher ranks the two learners: "right", "tie" or "wrong".

    >>> verdict(1.0, 1.0)
    'tie'
    """
    if abs(good - bad) <= 1e-9 * max(1.0, abs(good), abs(bad)):
        return "tie"
    return "right" if good > bad else "wrong"


def draw_case(case: Counterexample) -> Any:
    """A matplotlib figure: the grid with the three paths, and per matcher both assignments and the totals."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13.5, 7.6), layout="constrained")
    figure.suptitle(case.title, fontsize=16, fontweight="bold")
    left, right = figure.subfigures(1, 2, width_ratios=[1, 2.35], squeeze=False)[0]
    _draw_grid(left.subplots(), case)
    axes = right.subplots(3, len(SHOWN), height_ratios=[1.25, 1.25, 1])
    for column, (matcher, label) in enumerate(SHOWN.items()):
        for row, learner in enumerate(("good", "bad")):
            axis = axes[row, column]
            _draw_assignment(axis, case, matcher, learner)
            if row == 0:
                axis.set_title(label, fontsize=14)
            if column == 0:
                ink = GOOD if learner == "good" else "#9A6A00"  # orange is too light for letters
                axis.set_ylabel(f"{learner} learner\nframe t", fontsize=11, color=ink)
        _draw_totals(axes[2, column], *totals(case, matcher), first=column == 0)
    return figure


def _draw_grid(axis: Any, case: Counterexample) -> None:
    cells = np.array([*case.demo, *case.good, *case.bad])
    width, height = cells.max(axis=0) + 1
    for x in range(width + 1):
        axis.plot([x - 0.5, x - 0.5], [-0.5, height - 0.5], color="0.8", linewidth=1, zorder=0)
    for y in range(height + 1):
        axis.plot([-0.5, width - 0.5], [y - 0.5, y - 0.5], color="0.8", linewidth=1, zorder=0)
    _draw_path(axis, case.bad, (0.11, 0.11), BAD, "bad learner (larger: stays longer)", "s", "--")
    _draw_path(axis, case.good, (-0.11, -0.11), GOOD, "good learner (larger: stays longer)", "o", "-")
    x, y = np.array(case.demo).T
    axis.scatter(x, y, s=900, facecolors="none", edgecolors=DEMO, linewidths=1.8, label="demo frame", zorder=1)
    for j, (column, row) in enumerate(case.demo):
        axis.annotate(str(j), (column - 0.42, row + 0.33), fontsize=12, fontweight="bold", color=DEMO)
    axis.set(xlim=(-0.55, width - 0.45), ylim=(-0.55, height - 0.45), xticks=[], yticks=[], aspect="equal")
    axis.set_frame_on(False)
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.01), ncols=1, frameon=False, fontsize=12, markerscale=0.6)


def _draw_path(
    axis: Any, path: Any, offset: tuple[float, float], colour: str, label: str, marker: str, line: str
) -> None:
    """Dots grow with the time spent in a cell; numbers would hide each other."""
    places = np.array(path, float) + offset
    x, y = places.T
    sizes = [45 + 40 * (path.count(cell) - 1) for cell in path]
    axis.plot(x, y, line, color=colour, linewidth=2.2, zorder=2)
    axis.scatter(x, y, s=sizes, color=colour, marker=marker, label=label, zorder=3, edgecolors="white")
    arrow = {"arrowstyle": "-|>", "color": colour, "lw": 1.6, "mutation_scale": 15}
    for here, there in pairwise(places):
        if (here != there).any():
            middle = (here + there) / 2
            axis.annotate("", xy=middle + 0.12 * (there - here), xytext=middle, arrowprops=arrow, zorder=4)


def _draw_assignment(axis: Any, case: Counterexample, matcher: str, learner: str) -> None:
    assignment = MATCHERS[matcher](case.cost(learner)).assignment
    T, J = assignment.shape
    # Plans hold shares of 1/T, the others values up to 1: each matcher has its own full scale.
    axis.imshow(assignment, cmap="cividis", vmin=0, vmax=1 if matcher in ("orca", "dtw") else 1 / T, aspect="auto")
    axis.set_xticks(range(J))
    axis.set_yticks(range(0, T, 2))
    axis.tick_params(labelsize=9, length=2)
    if learner == "bad":
        axis.set_xlabel("demo frame j", fontsize=10)


def _draw_totals(axis: Any, good: float, bad: float, first: bool) -> None:
    axis.bar([0, 1], [good, bad], color=[GOOD, BAD], width=0.62, hatch=["", "//"], edgecolor="white")
    axis.axhline(0, color="0.3", linewidth=1)
    span = max(abs(good), abs(bad), 1e-3)
    sign = 1 if good + bad >= 0 else -1
    for place, value in enumerate((good, bad)):
        axis.annotate(
            f"{value:.2f}", (place, value), textcoords="offset points", xytext=(0, 4 if sign > 0 else -5),
            ha="center", va="bottom" if sign > 0 else "top", fontsize=11,
        )  # fmt: skip
    axis.set_ylim(*((0, 1.35 * span) if sign > 0 else (-1.35 * span, 0.06 * span)))
    axis.set_xlim(-0.6, 1.6)
    axis.set_xticks([0, 1], ["good", "bad"], fontsize=11)
    axis.set_yticks([])
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)
    if first:
        axis.set_ylabel("summed\nreward", fontsize=11)
    outcome = verdict(good, bad)
    text = {"right": "✔ ranks them rightly", "tie": "✘ sees no difference", "wrong": "✘ prefers the bad"}
    colour = RIGHT if outcome == "right" else WRONG
    axis.set_xlabel(text[outcome], fontsize=12, fontweight="bold", color=colour)


def render_toy(folder: Path) -> list[Path]:
    """Draw all cases into `folder` as PNG and SVG, with an index page; returns the files, the page first."""
    import matplotlib

    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for case in COUNTEREXAMPLES.values():
        # Fixed names inside the SVG, no date: the same code gives the same bytes.
        with matplotlib.rc_context({"svg.hashsalt": "orcalign", "svg.fonttype": "path"}):
            figure = draw_case(case)
            for kind in ("png", "svg"):
                written.append(folder / f"{case.name}.{kind}")
                save_figure(figure, written[-1], metadata={"Date": None} if kind == "svg" else None)
    page = folder / "index.html"
    write_file(page, _page().encode())
    return [page, *written]


def _page() -> str:
    figures = "\n".join(
        f'<figure><img src="{case.name}.svg" alt="{html.escape(case.title)}"></figure>'
        for case in COUNTEREXAMPLES.values()
    )
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>orcalign: who rewards the right learner?</title>
<style>body{{font:16px/1.5 system-ui,sans-serif;max-width:1100px;margin:2rem auto;padding:0 1rem}}
body{{color:#111;background:#fff}}
img{{width:100%;height:auto}}figure{{margin:2rem 0;padding-top:1rem}}</style></head><body>
<h1>Who rewards the right learner?</h1>
<p>The three counterexamples of the paper. A demo jumps from subgoal to subgoal (circles); learners move one cell
per step. The good learner covers all subgoals in order, the bad one does not. Each matrix shows how a matcher
matches learner frames (down) with demo frames (across): brighter is more. For ORCA it is ordered coverage, which
stays once it is reached. Made by <code>orcalign toy</code>.</p>
{figures}
</body></html>
"""
