"""The table of a study: ours with its error, the paper's beside it, holes where nothing has run."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources

import numpy as np

from orcalign.checks import require
from orcalign.envs import find_suite, find_task
from orcalign.experiments.results import CHECKPOINTS, METRICS, StudyResults, label, score_matrices, setting
from orcalign.experiments.statistics import (
    Interval,
    interquartile_mean,
    mean_and_error,
    probability_of_improvement,
    with_interval,
)
from orcalign.experiments.study import SEEDED
from orcalign.training.presets import RECIPES

AVERAGE = "average"
MARK = "\N{DAGGER}"
"""Behind a column whose network stands in for the paper's."""


@dataclass(frozen=True)
class PaperTable:
    """A table of the paper."""

    source: str
    rows: str
    columns: str
    values: dict[str, dict[str, list[float]]]
    """Row to column to mean and standard error."""
    average: dict[str, list[float]] = field(default_factory=dict)
    steps: int | None = None
    seeds: int | None = None
    unit: str = ""


@cache
def paper_table(study: str) -> PaperTable | None:
    """What the paper has for a study; None if it has no numbers.

    >>> paper_table("misaligned").values["door-close"]["orca"]
    [0.88, 0.01]
    """
    file = resources.files("orcalign.experiments").joinpath("paper_values.json")
    entry = json.loads(file.read_text("utf-8")).get(study)
    return PaperTable(**entry) if isinstance(entry, dict) else None


@dataclass(frozen=True)
class Entry:
    """A place in the table."""

    mean: float
    error: float | None
    """Standard error over runs, that is over seeds; None where there is one run, or the average has holes."""
    runs: int
    """0 for what nobody has learned: a value that stands beside."""
    missing: int
    """Runs that the plan has and that are not done."""


@dataclass(frozen=True)
class Aggregate:
    """What a column says over all tasks that every column has."""

    mean: Interval
    iqm: Interval
    better: Interval | None
    """Probability that the table's first column improves on this one; None for the first itself."""


@dataclass(frozen=True)
class StudyTable:
    """Rows of entries, and what they were made of."""

    name: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    headings: tuple[str, ...]
    """Columns, in words."""
    entries: dict[tuple[str, str], Entry]
    """By row and column; holes are left out."""
    aggregates: dict[str, Aggregate]
    shared: int
    """Tasks (and settings) that the aggregates are over."""
    paper: PaperTable | None
    caption: tuple[str, ...]
    differs: Mapping[str, str]
    """By column, what besides the reward is otherwise than in most columns; empty where all is shared or unknown."""
    substitutes: Mapping[str, str] = field(default_factory=dict)
    """By column, what stands in for the paper's network; such columns are marked."""

    def best(self, row: str) -> set[str]:
        """The top column of a row of what was learned, and those within its standard error."""
        there = {name: self.entries[row, name] for name in self.columns if (row, name) in self.entries}
        found = {name: entry for name, entry in there.items() if entry.runs}
        if not found or max(entry.mean for entry in found.values()) <= 0:
            return set()
        top = max(found.values(), key=lambda entry: entry.mean)
        return {name for name, entry in found.items() if entry.mean >= top.mean - (top.error or 0.0)}

    def of_paper(self, row: str, column: str) -> list[float] | None:
        """The paper's value at that place; its average only beside one over the same rows."""
        if self.paper is None:
            return None
        if row == AVERAGE:
            same = {*self.paper.values, AVERAGE} == set(self.rows)
            return self.paper.average.get(column) if same else None
        return self.paper.values.get(row, {}).get(column)


def make_table(runs: StudyResults, metric: str | None = None, checkpoint: str = "last") -> StudyTable:
    """The table of a study, as far as it has been run, of one checkpoint of every run."""
    study = runs.study
    metric = metric or study.metric
    require("metric", metric, tuple(METRICS))
    require("checkpoint", checkpoint, tuple(CHECKPOINTS))
    rows, columns = runs.labels(study.rows), runs.labels(study.columns)
    planned: Counter[tuple[str, str]] = Counter()
    scored: dict[tuple[str, str], dict[tuple[str, str], float]] = {}
    for cell in runs.cells:
        score = None if cell.result is None else cell.result.score(metric, checkpoint)
        run = cell.values.get("seed", "") + cell.values.get("demo_number", "")
        for row in (label(cell.values, study.rows), AVERAGE):
            place = row, label(cell.values, study.columns)
            planned[place] += 1
            if score is not None:
                scored.setdefault(place, {})[setting(cell.values, study.columns), run] = score
    entries = {
        place: Entry(*_over_runs(found), len(found), planned[place] - len(found)) for place, found in scored.items()
    }
    matrices, shared = score_matrices(runs.done, metric, study.columns, columns, checkpoint)
    first = next(iter(matrices), "")
    without = reference_entries(rows) if metric == "return" and study.rows == "task" else {}
    entries |= without
    aggregates = {
        name: Aggregate(
            with_interval(lambda one: float(np.mean(one)), scores),
            with_interval(interquartile_mean, scores),
            None if name == first else with_interval(probability_of_improvement, matrices[first], scores),
        )
        for name, scores in matrices.items()
    }
    paper = paper_table(study.paper or study.name) if metric == study.metric else None
    if paper is not None and (paper.rows, paper.columns) != (study.rows, study.columns):
        paper = None
    others = tuple(dict.fromkeys(who for _, who in without))
    return StudyTable(
        study.name, (*rows, AVERAGE), (*columns, *others), (*marked_headings(runs, columns), *others), entries,
        aggregates, shared, paper, _caption(runs, metric, checkpoint, paper), runs.differs or {}, runs.substitutes,
    )  # fmt: skip


def _over_runs(scores: Mapping[tuple[str, str], float]) -> tuple[float, float | None]:
    """Mean, and its standard error over runs, each of which has all settings; `scores` are by setting and run."""
    settings, numbers = ({key[k] for key in scores} for k in (0, 1))
    if len(scores) < len(settings) * len(numbers):
        return float(np.mean([*scores.values()])), None
    return mean_and_error([float(np.mean([scores[one, run] for one in settings])) for run in sorted(numbers)])


def heading(column: str) -> str:
    """A column in words.

    >>> heading("orca_np"), heading("temporal_ot pixels"), heading("white noise")
    ('ORCA (NP)', 'TemporalOT, pixels', 'white noise')
    """
    first, _, rest = column.partition(" ")
    if first not in RECIPES:
        return column
    return f"{RECIPES[first].label}, {rest}" if rest else RECIPES[first].label


def marked_headings(runs: StudyResults, columns: tuple[str, ...]) -> tuple[str, ...]:
    """Columns in words; behind those whose network stands in for another there is a mark."""
    return tuple(f"{heading(one)} {MARK}" if one in runs.substitutes else heading(one) for one in columns)


def substitute_lines(runs: StudyResults) -> list[str]:
    """What the marks mean."""
    return [f"{MARK} {heading(column)}: {words}." for column, words in runs.substitutes.items()]


def _caption(runs: StudyResults, metric: str, checkpoint: str, paper: PaperTable | None) -> tuple[str, ...]:
    results = runs.done
    shown = [result.values for result in results] or [cell.values for cell in runs.cells]
    seeds = {next((values[name] for name in SEEDED if name in values), "0") for values in shown}
    versions = sorted({result.versions["orcalign"] for result in results})
    hours = sum(result.seconds for result in results) / 3600
    lines = [
        f"{runs.study.summary}: {METRICS[metric]}, mean (standard error over seeds, where there are several).",
        f"Ours: preset {runs.preset}, {runs.steps:,} agent steps, {len(seeds)} "
        f"seed{'' if len(seeds) == 1 else 's'}; {len(results)} of {len(runs.cells)} runs are done"
        + (f", {hours:.1f} hours of training, orcalign {', '.join(versions)}." if results else "."),
    ]
    counts = sorted({len(result.episodes(metric, checkpoint)) for result in results} - {0})
    if counts:
        lines.append(
            f"Evaluation episodes a run: {' to '.join(str(n) for n in dict.fromkeys((counts[0], counts[-1])))}."
        )
    lines += substitute_lines(runs)
    if runs.differs is None and len(runs.labels(runs.study.columns)) > 1:
        lines.append("The file does not say what else than the reward differs between columns.")
    if checkpoint != "last":
        lines.append(f"Shown is {CHECKPOINTS[checkpoint]}.")
    if paper is not None:
        lines.append(f"In italics: the paper's own values ({paper_budget(paper)}).")
    return tuple(lines)


def reference_entries(rows: Sequence[str]) -> dict[tuple[str, str], Entry]:
    """By task and name, the returns that come without learning; nothing unless all rows are tasks that have some.

    >>> found = reference_entries(["humanoid-arms-out", "humanoid-arms-down"])
    >>> found["humanoid-arms-out", "no action"].mean, found["average", "holds the goal's angles"].mean > 80
    (0.0, True)
    >>> reference_entries(["door-close"])
    {}
    """
    known = [find_suite(spec.suite).references(spec) for spec in map(find_task, rows)]
    if not all(known):
        return {}
    found = {(row, who): value for row, returns in zip(rows, known, strict=True) for who, value in returns.items()}
    for who in known[0]:
        found[AVERAGE, who] = float(np.mean([returns[who] for returns in known]))
    return {place: Entry(value, None, 0, 0) for place, value in found.items()}


def paper_budget(paper: PaperTable) -> str:
    """Where the paper has its values, and what they cost.

    >>> paper_budget(paper_table("misaligned"))
    'Table 1, 1,000,000 steps, 3 seeds'
    """
    words = [paper.source]
    words += [f"{paper.steps:,} steps"] if paper.steps else []
    words += [f"{paper.seeds} seeds"] if paper.seeds else []
    return ", ".join(words)
