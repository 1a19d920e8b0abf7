"""What the runs of a study gave, read from their folders. Runs that are missing are holes, not errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from orcalign.experiments.cell_folder import CellFolder
from orcalign.experiments.planning import Plan
from orcalign.experiments.statistics import Scores
from orcalign.experiments.study import Values, parts
from orcalign.training.ranges import require

METRICS = {
    "normalised": "return, as a share of the expert's",
    "return": "return: agent steps that report success",
    "success_rate": "share of episodes that end in success",
    "coverage": "ordered coverage of the demo at the end",
}
CURVE = ("step", "normalised", "return", "success_rate", "coverage")
"""Columns of a result's curve."""
_EPISODES = {"return": "returns", "success_rate": "successes", "coverage": "coverages"}


@dataclass(frozen=True)
class Result:
    """A run that came to its end."""

    values: Values
    last: dict[str, Any]
    """The last evaluation."""
    curve: list[list[Any]]
    """A row an evaluation, see CURVE; steps include those of a pretraining."""
    expert_return: float | None
    seconds: float
    versions: dict[str, str]

    def episodes(self, metric: str) -> list[float]:
        """The metric of every episode of the last evaluation; none if it cannot be known."""
        if metric == "normalised":
            if not self.expert_return:
                return []
            return [value / self.expert_return for value in self.last["returns"]]
        return [float(value) for value in self.last[_EPISODES[metric]]]

    def score(self, metric: str) -> float | None:
        """Their mean."""
        episodes = self.episodes(metric)
        return float(np.mean(episodes)) if episodes else None

    def line(self, metric: str) -> list[tuple[int, float]]:
        """The learning curve."""
        place = CURVE.index(metric)
        return [(row[0], float(row[place])) for row in self.curve if row[place] is not None]


def read_results(plan: Plan, out: Path) -> list[Result]:
    """Of the cells that are done, in the order of the plan."""
    found = []
    for cell in plan.cells:
        done = CellFolder(out, cell.key).done()
        if done is not None:
            found.append(
                Result(
                    # The cell may have been run for another study, which calls it something else.
                    cell.values, done["last"], done["curve"], done["expert_return"], done["seconds"],
                    {**done["versions"], "orcalign": done["orcalign"]},
                )
            )  # fmt: skip
    return found


def label(values: Values, side: str) -> str:
    """The name of a row or column.

    >>> label({"method": "orca", "context": "3"}, "method+context")
    'orca 3'
    """
    return " ".join(values[name] for name in parts(side))


def labels(plan: Plan, side: str) -> tuple[str, ...]:
    """Names of all rows or columns that the plan has."""
    return tuple(dict.fromkeys(label(cell.values, side) for cell in plan.cells))


def score_matrices(
    results: Sequence[Result], metric: str, columns: str, names: Sequence[str]
) -> tuple[dict[str, Scores], int]:
    """[N, K] per column, over the tasks (and settings) that every column has; and how many those are.

    Where one has more runs of a task than another, the first ones count: an average over tasks needs as many of each.
    """
    require("metric", metric, tuple(METRICS))
    left_out = {*parts(columns), "seed", "demo_number"}
    runs: dict[str, dict[str, list[float]]] = {name: {} for name in names}
    for result in results:
        score = result.score(metric)
        if score is not None:
            task = " ".join(value for name, value in result.values.items() if name not in left_out)
            runs[label(result.values, columns)].setdefault(task, []).append(score)
    present = {name: tasks for name, tasks in runs.items() if tasks}
    shared = [
        task
        for task in dict.fromkeys(task for tasks in present.values() for task in tasks)
        if all(task in tasks for tasks in present.values())
    ]
    if not shared:
        return {}, 0
    matrices = {}
    for name, tasks in present.items():
        count = min(len(tasks[task]) for task in shared)
        matrices[name] = np.array([[tasks[task][n] for task in shared] for n in range(count)])
    return matrices, len(shared)
