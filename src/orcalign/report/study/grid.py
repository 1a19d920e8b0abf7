"""What the page of a study has one panel, and one row of videos, for."""

from __future__ import annotations

from orcalign.experiments.results import StudyCell, StudyResults
from orcalign.experiments.study import parts


def study_settings(runs: StudyResults) -> dict[str, list[StudyCell]]:
    """Cells by what is neither column nor seed, in the order of the study: mostly by task.

    An axis that is the same everywhere is not part of the name, except the task.
    """
    sides = {*parts(runs.study.columns), "seed", "demo_number"}
    axes = [name for name in runs.cells[0].values if name not in sides]
    axes = [name for name in axes if name == "task" or len(runs.labels(name)) > 1]
    axes.sort(key=lambda name: name != "task")
    found: dict[str, list[StudyCell]] = {}
    for cell in runs.cells:
        words = [cell.values[name] if name == "task" else f"{name} {cell.values[name]}" for name in axes]
        found.setdefault(", ".join(words) or "all", []).append(cell)
    return found
