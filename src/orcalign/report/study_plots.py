"""Pictures of a study: learning curves with bands, bars beside the paper's values, performance profiles."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from orcalign.experiments.results import METRICS, Result, StudyResults, label, score_matrices
from orcalign.experiments.statistics import mean_and_error, profile, stratified_bootstrap
from orcalign.experiments.tables import AVERAGE, StudyTable, heading, make_table
from orcalign.report.plots import save_figure

# Okabe and Ito's colours, which colour-blind people can tell apart; dashes and marks say it again.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("-", "--", "-.", ":")
MARKS = "osD^vPX"


def plot_study(runs: StudyResults, kind: str, path: Path, metric: str | None = None) -> None:
    """Draw one kind of picture into a file (.png, .svg or .pdf); what has not run is left out."""
    from matplotlib.figure import Figure

    metric = metric or runs.study.metric
    figure = Figure(layout="constrained")
    table = make_table(runs, metric)
    KINDS[kind](figure, runs, table, metric)
    figure.suptitle(textwrap.fill(table.caption[1], 90), fontsize=10)
    save_figure(figure, path)


def _style(columns: Sequence[str], name: str) -> dict[str, Any]:
    k = columns.index(name)
    return {
        "color": COLOURS[k % len(COLOURS)],
        "linestyle": DASHES[k % len(DASHES)],
        "marker": MARKS[k % len(MARKS)],
        "markersize": 4,
        "label": heading(name),
    }


def curves(figure: Any, runs: StudyResults, table: StudyTable, metric: str) -> None:
    """A panel a row; lines are means over runs, bands their standard error where there are several; dotted, what comes
    without learning."""
    study = runs.study
    rows, columns = runs.labels(study.rows), runs.labels(study.columns)
    across = min(5, len(rows))
    down = math.ceil(len(rows) / across)
    figure.set_size_inches(2.6 * across + 1.5, 2.3 * down + 1.2)
    # Shares can be compared between panels, and a flat line at 0 should look like one; returns differ by task.
    share = metric != "return"
    axes = figure.subplots(down, across, sharex=True, sharey=share, squeeze=False).ravel()
    for axis in axes[len(rows) :]:
        axis.set_visible(False)
    for axis, row in zip(axes, rows, strict=False):
        axis.set_title(row, fontsize=10)
        axis.grid(alpha=0.3)
        here = [result for result in runs.done if label(result.values, study.rows) == row]
        for column in columns:
            found = [result for result in here if label(result.values, study.columns) == column]
            steps, means, errors = mean_curve(found, metric)
            if steps:
                style = _style(columns, column)
                axis.plot(steps, means, **style)
                low, high = np.subtract(means, errors), np.add(means, errors)
                axis.fill_between(steps, low, high, color=style["color"], alpha=0.2, linewidth=0)
        for k, who in enumerate(table.columns[len(columns) :]):
            axis.axhline(table.entries[row, who].mean, color="0.4", linestyle=(0, (1, 1 + k)), linewidth=1, label=who)
    axes[0].locator_params(axis="x", nbins=3)
    axes[0].xaxis.set_major_formatter("{x:,.0f}")
    if share:
        axes[0].set_ylim(-0.05, max(1.05, axes[0].get_ylim()[1]))
    # Of the figure as a whole it would lie under the legend.
    for axis in axes[max(0, len(rows) - across) : len(rows)]:
        axis.set_xlabel("agent steps", fontsize=9)
        axis.tick_params(labelbottom=True)  # where the grid goes on below, and is empty there
    figure.supylabel(METRICS[metric], fontsize=10)
    _legend(figure, axes)


def mean_curve(results: Sequence[Result], metric: str) -> tuple[list[int], list[float], list[float]]:
    """Steps of a learning curve, the mean over runs at each, and its standard error (0 for a single run)."""
    found: dict[int, list[float]] = {}
    for result in results:
        for step, value in result.line(metric):
            found.setdefault(step, []).append(value)
    steps = sorted(found)
    pairs = [mean_and_error(found[step]) for step in steps]
    return steps, [mean for mean, _ in pairs], [error or 0.0 for _, error in pairs]


def bars(figure: Any, runs: StudyResults, table: StudyTable, metric: str) -> None:
    """A group a row, a bar a column; diamonds are the paper's own values."""
    columns, rows = table.columns, table.rows
    figure.set_size_inches(max(6.0, 0.28 * len(rows) * (len(columns) + 1) + 2), 4.2)
    axis = figure.subplots()
    width = 0.8 / len(columns)
    theirs = False
    for k, column in enumerate(columns):
        style = _style(columns, column)
        for r, row in enumerate(rows):
            place = r + (k - (len(columns) - 1) / 2) * width
            entry, paper = table.entries.get((row, column)), table.of_paper(row, column)
            if entry is not None:
                axis.bar(
                    place, entry.mean, width * 0.9, yerr=entry.error, color=style["color"], capsize=1.5,
                    error_kw={"linewidth": 0.8}, label=style.pop("label", None),
                )  # fmt: skip
            if paper is not None:
                theirs = True
                axis.plot(place, paper[0], marker="D", markersize=3.5, markerfacecolor="white",
                          markeredgecolor=style["color"], linestyle="none")  # fmt: skip
    names = ["average" if row == AVERAGE else row for row in rows]
    axis.set_xticks(range(len(rows)), names, rotation=30, ha="right", fontsize=9)
    axis.set_ylabel(METRICS[metric], fontsize=9)
    axis.grid(axis="y", alpha=0.3)
    if theirs and table.paper is not None:
        name = f"the paper, {table.paper.source}"
        axis.plot([], [], "D", markerfacecolor="white", color="#555", label=name)
    _legend(figure, [axis])


def profiles(figure: Any, runs: StudyResults, table: StudyTable, metric: str) -> None:
    """Share of runs above a score, for every score; bands are 95% of a stratified bootstrap."""
    figure.set_size_inches(6.5, 4.2)
    axis = figure.subplots()
    matrices, shared = score_matrices(runs.done, metric, runs.study.columns, table.columns)
    top = max([1.0, *(float(scores.max()) for scores in matrices.values())])
    thresholds = np.linspace(0, top * 1.02, 103)
    for column, scores in matrices.items():
        style = {**_style(table.columns, column), "marker": None}
        axis.plot(thresholds, profile(scores, thresholds), **style)
        if len(scores) > 1:
            low, high = stratified_bootstrap(lambda one: profile(one, thresholds), scores, repeats=500)
            axis.fill_between(thresholds, low, high, color=style["color"], alpha=0.2, linewidth=0)
    axis.set_xlabel(f"{METRICS[metric]} (x)", fontsize=9)
    axis.set_ylabel(f"share of runs above x, over {shared} settings", fontsize=9)
    axis.set_ylim(-0.02, 1.02)
    axis.grid(alpha=0.3)
    _legend(figure, [axis])


KINDS: dict[str, Callable[[Any, StudyResults, StudyTable, str], None]] = {
    "curves": curves,
    "bars": bars,
    "profiles": profiles,
}


def _legend(figure: Any, axes: Sequence[Any]) -> None:
    found: dict[str, Any] = {}
    for axis in axes:
        handles, names = axis.get_legend_handles_labels()
        found.update(zip(names, handles, strict=True))
    if found:
        figure.legend(
            found.values(), found.keys(), loc="outside lower center", ncols=min(4, len(found)), fontsize=9,
            frameon=False,
        )  # fmt: skip
