"""Results of one study from several places: machines that share no folder, or one machine and an earlier file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from orcalign.experiments.results import Result, StudyCell, StudyResults

Key = tuple[str, ...]


def join_results(runs: StudyResults, others: Sequence[StudyResults]) -> StudyResults:
    """All cells of all of them; a cell that is done somewhere is done.

    They must be of one study with one budget for each run, made by one version of orcalign. A cell that is done in
    two places must have the same numbers in both: nobody but its owner can say which of two runs counts.

    >>> from pathlib import Path
    >>> from orcalign.experiments import STUDIES, plan_study
    >>> from orcalign.experiments.results import read_results
    >>> quick = read_results(plan_study(STUDIES["quick"]), Path("no-such-folder"))
    >>> parts = [quick.narrowed({"task": (task,)}) for task in ("button-press", "door-close")]
    >>> joined = join_results(parts[0], parts[1:])
    >>> len(joined.cells), joined.only
    (8, {'task': ('button-press', 'door-close')})
    """
    cells: dict[Key, StudyCell] = {}
    places: dict[Key, str] = {}
    for one in (runs, *others):
        _require_same_budget(runs, one)
        for cell in one.cells:
            key = tuple(cell.values[name] for name in runs.cells[0].values)
            known = cells.get(key)
            if known is not None and known.result is not None:
                if cell.result is not None and _numbers(known.result) != _numbers(cell.result):
                    raise ValueError(
                        f"{' '.join(key)} is done in {places[key]!r} and in {str(one.source)!r}, with other numbers; "
                        f"write one of the two anew without it: orcalign table STUDY --only ... --results FILE."
                    )
                continue
            cells[key], places[key] = cell, str(one.source)
    _require_one_version(cells, places)
    axes = [_in_order(column) for column in zip(*cells, strict=True)]
    ordered = sorted(
        cells, key=lambda key: [values.index(value) for values, value in zip(axes, key, strict=True)]
    )
    only = {
        name: tuple(dict.fromkeys(value for one in (runs, *others) for value in one.only[name]))
        for name in runs.only
        if all(name in one.only for one in others)
    }
    seeds = max(one.seeds for one in (runs, *others))
    return replace(runs, cells=tuple(cells[key] for key in ordered), seeds=seeds, only=only)


def _in_order(column: Sequence[str]) -> list[str]:
    """Values of an axis as they come, numbers by their size: seeds 2 and 3 may be here, and 0 and 1 there."""
    values = list(dict.fromkeys(column))
    return sorted(values, key=int) if all(value.isdecimal() for value in values) else values


def _require_same_budget(runs: StudyResults, other: StudyResults) -> None:
    for what, mine, theirs in (
        ("the study", runs.study.name, other.study.name),
        ("the settings", dict(runs.study.settings), dict(other.study.settings)),
        ("the preset", runs.preset, other.preset),
        ("the number of steps", runs.steps, other.steps),
        ("the axes", [*runs.cells[0].values], [*other.cells[0].values]),
    ):
        if mine != theirs:
            raise ValueError(
                f"{what} of {str(runs.source)!r}: {mine}, of {str(other.source)!r}: {theirs}; only results of one "
                f"study with one budget can be joined."
            )


def _numbers(result: Result) -> tuple[list[float], list[list[Any]]]:
    return result.episodes("return"), result.curve


def _require_one_version(cells: dict[Key, StudyCell], places: dict[Key, str]) -> None:
    versions = {
        cell.result.versions["orcalign"]: places[key]
        for key, cell in cells.items()
        if cell.result is not None
    }
    if len(versions) > 1:
        told = ", ".join(f"{version} in {place!r}" for version, place in versions.items())
        raise ValueError(
            f"the runs were made by several versions of orcalign: {told}; their numbers do not belong into one table."
        )
