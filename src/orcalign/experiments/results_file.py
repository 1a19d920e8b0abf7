"""The numbers of a study as one small file: it can be kept where run folders cannot, and drawn from by anyone.

Several of one study can be joined: machines that share no folder, or one machine and an earlier file."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from orcalign import __version__
from orcalign.checks import require
from orcalign.experiments.results import CURVE, STATES, Result, StudyCell, StudyResults
from orcalign.experiments.study import Study
from orcalign.files import write_file

FORMAT = 2
WHAT = "results of a study of orcalign"
_STUDY = ("name", "summary", "rows", "columns", "source", "metric", "paper", "file")
_BUDGET: dict[str, Callable[[StudyResults], Any]] = {
    "the study": lambda runs: runs.study.name,
    "the settings": lambda runs: dict(runs.study.settings),
    "the preset": lambda runs: runs.preset,
    "the number of steps": lambda runs: runs.steps,
    "the axes": lambda runs: [*runs.cells[0].values],
}
"""What results that are joined must have in common."""
Key = tuple[str, ...]
_EVALUATION = ("step", "returns", "successes", "coverages")
_FACTS = ("seconds", "finished", "versions", "demo_hash", "expert_return")


def save_results(runs: StudyResults, path: Path) -> None:
    """Write all cells of a study, with what came of them; a line a cell, so that differences can be read."""
    if not runs.done:
        raise ValueError(
            f"none of the {len(runs.cells)} runs of study {runs.study.name!r} is done in {str(runs.source)!r}, so "
            f"there are no results to keep; run it first: {runs.command()}"
        )
    study = runs.study
    if path.resolve() == (runs.source / f"{study.name}.json").resolve():
        raise ValueError(
            f"{str(path)!r} is where the sweep keeps what it was asked for; give another name, such as "
            f"results/{study.name}.json."
        )
    axes = {name: list(runs.labels(name)) for name in runs.cells[0].values}
    head: dict[str, Any] = {
        "what": WHAT,
        "format": FORMAT,
        "orcalign": __version__,
        "command": runs.command(),
        "study": {
            **{name: getattr(study, name) for name in _STUDY},
            "axes": axes,
            "settings": dict(study.settings),
            "variants": {name: dict(one) for name, one in study.variants.items()},
        },
        "preset": runs.preset,
        "steps": runs.steps,
        "seeds": runs.seeds,
        "only": {name: list(values) for name, values in runs.only.items()},
        "differs": None if runs.differs is None else dict(runs.differs),
        **({"substitutes": dict(runs.substitutes)} if runs.substitutes else {}),
        "curve": list(CURVE),
    }
    lines = [f" {json.dumps(name)}: {json.dumps(value)}," for name, value in head.items()]
    cells = ",\n".join(f"  {json.dumps(_cell(runs, cell), allow_nan=False)}" for cell in runs.cells)
    write_file(path, "\n".join(["{", *lines, ' "cells": [', cells, " ]", "}", ""]).encode())


def _cell(runs: StudyResults, cell: StudyCell) -> dict[str, Any]:
    about: dict[str, Any] = {
        "values": cell.values,
        "demo": cell.demo,
        "steps": cell.steps,
        "config": cell.key,
        "command": runs.command(cell),
        "state": cell.state,
        "played": cell.played,
        **({"error": cell.error} if cell.error else {}),
    }
    result = cell.result
    if result is None:
        return about
    facts = {name: getattr(result, name) for name in _FACTS}
    last, best = (
        None if one is None else {name: one[name] for name in _EVALUATION if name in one}
        for one in (result.last, result.best)
    )
    return {**about, **facts, "last": last, "best": best, "curve": result.curve}


def is_results_file(name: str) -> bool:
    """Whether a word in the place of a study's name means such a file.

    >>> is_results_file("results/quick.json"), is_results_file("quick")
    (True, False)
    """
    return name.endswith(".json")


def load_results(path: Path) -> StudyResults:
    """What `save_results` wrote: the study as it was, whatever has become of its settings since.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a.json").write_text("")
    ...     load_results(Path(folder) / "a.json")
    Traceback (most recent call last):
    ...
    ValueError: '.../a.json' is empty; results are written by: orcalign table STUDY --results FILE.
    """
    text = path.read_bytes().decode("utf-8", "replace")
    if not text.strip():
        _refuse(path, "is empty")
    try:
        values = json.loads(text, parse_constant=_no_number)
    except ValueError as error:
        _refuse(path, f"is not JSON ({error})")
    if not isinstance(values, dict) or values.get("what") != WHAT:
        _refuse(path, "holds no results of a study")
    if values.get("format") != FORMAT:
        raise ValueError(
            f"{str(path)!r} has format {values.get('format')}, and this version of orcalign reads {FORMAT}; use "
            f"the version that wrote it, {values.get('orcalign')}."
        )
    where = "the study"
    try:
        if values["curve"] != list(CURVE):
            raise ValueError(f"columns of curves are {values['curve']}, and not {list(CURVE)}")
        told = dict(values["study"])
        axes = {str(name): tuple(map(str, entry)) for name, entry in told.pop("axes").items()}
        words: dict[str, Any] = {name: str(told[name]) for name in _STUDY}
        study = Study(axes=axes, settings=told["settings"], variants=told["variants"], **words)
        cells = []
        for k, entry in enumerate(values["cells"]):
            where = f"cell {k}"
            cells.append(_read_cell(entry, set(axes)))
        where = "the head"
        only = {name: tuple(entry) for name, entry in values["only"].items()}
        said = values.get("differs")
        differs = None if said is None else {str(name): str(text) for name, text in said.items()}
        found = StudyResults(
            study, str(values["preset"]), int(values["steps"]), int(values["seeds"]), tuple(cells), path, only, True,
            differs, {str(name): str(text) for name, text in values.get("substitutes", {}).items()},
        )  # fmt: skip
    except KeyError as error:
        _refuse(path, f"is damaged: {where} has no {error}")
    except (ValueError, TypeError, AttributeError) as error:
        _refuse(path, f"is damaged: {where} cannot be read ({error})")
    if not found.done:
        _refuse(path, "holds no run that is done")
    return found


def _read_cell(entry: dict[str, Any], axes: set[str]) -> StudyCell:
    values = {str(name): str(value) for name, value in entry["values"].items()}
    if set(values) != axes:
        raise ValueError(f"it has values for {', '.join(values)}, and the study's axes are {', '.join(sorted(axes))}")
    require("state", entry["state"], STATES)
    about = StudyCell(
        values, str(entry["config"]), str(entry["demo"]), int(entry["steps"]), entry["state"], int(entry["played"]),
        str(entry.get("error", "")),
    )  # fmt: skip
    if entry["state"] != "done":
        return about
    expert, versions = entry["expert_return"], entry["versions"]
    result = Result(
        values,
        _read_evaluation(entry["last"]),
        None if entry["best"] is None else _read_evaluation(entry["best"]),
        [_row(row) for row in entry["curve"]],
        None if expert is None else float(expert),
        float(entry["seconds"]),
        # A table cannot do without the last one.
        {**{str(name): str(one) for name, one in versions.items()}, "orcalign": str(versions["orcalign"])},
        str(entry["finished"]),
        str(entry["demo_hash"]),
    )
    return replace(about, result=result)


def _read_evaluation(record: dict[str, Any]) -> dict[str, Any]:
    step, *lists = _EVALUATION
    return {step: int(record[step]), **{name: [float(value) for value in record[name]] for name in lists}}


def _row(row: list[Any]) -> list[Any]:
    if len(row) != len(CURVE):
        raise ValueError(f"a row of the curve has {len(row)} numbers; it must have {len(CURVE)}")
    return [int(row[0]), *(None if value is None else float(value) for value in row[1:])]


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _refuse(path: Path, why: str) -> NoReturn:
    raise ValueError(f"{str(path)!r} {why}; results are written by: orcalign table STUDY --results FILE.") from None


def join_results(runs: StudyResults, others: Sequence[StudyResults]) -> StudyResults:
    """All cells of all of them; a cell that is done somewhere is done.

    They must be of one study with one budget for each run, made by one version of orcalign. A cell that is done in
    two places must have the same numbers in both: nobody but its owner can say which of two runs counts.

    >>> from pathlib import Path
    >>> from orcalign.experiments import find_study, plan_study, read_results
    >>> quick = read_results(plan_study(find_study("quick")), Path("no-such-folder"))
    >>> parts = [quick.narrowed({"task": (task,)}) for task in ("button-press", "door-close")]
    >>> joined = join_results(parts[0], parts[1:])
    >>> len(joined.cells), joined.only
    (8, {'task': ('button-press', 'door-close')})
    """
    cells: dict[Key, StudyCell] = {}
    places: dict[Key, str] = {}
    for one in (runs, *others):
        for what, asked in _BUDGET.items():
            mine, theirs = asked(runs), asked(one)
            if mine != theirs:
                raise ValueError(
                    f"{what} of {str(runs.source)!r}: {mine}, of {str(one.source)!r}: {theirs}; only results of one "
                    f"study with one budget can be joined."
                )
        for cell in one.cells:
            key = tuple(cell.values[name] for name in runs.cells[0].values)
            known = cells.get(key)
            if known is not None and known.result is not None:
                mine, theirs = known.result, cell.result
                if theirs is not None and (
                    mine.episodes("return") != theirs.episodes("return") or mine.curve != theirs.curve
                ):
                    raise ValueError(
                        f"{' '.join(key)} is done in {places[key]!r} and in {str(one.source)!r}, with other numbers; "
                        f"write one of the two anew without it: orcalign table STUDY --only ... --results FILE."
                    )
                continue
            cells[key], places[key] = cell, str(one.source)
    made = {one.result.versions["orcalign"]: places[key] for key, one in cells.items() if one.result is not None}
    if len(made) > 1:
        told = ", ".join(f"{version} in {place!r}" for version, place in made.items())
        raise ValueError(
            f"the runs were made by several versions of orcalign: {told}; their numbers do not belong into one table."
        )
    axes = [_in_order(column) for column in zip(*cells, strict=True)]
    ordered = sorted(cells, key=lambda key: [axis.index(value) for axis, value in zip(axes, key, strict=True)])
    only = {
        name: tuple(dict.fromkeys(value for one in (runs, *others) for value in one.only[name]))
        for name in runs.only
        if all(name in one.only for one in others)
    }
    seeds = max(one.seeds for one in (runs, *others))
    said = [one.differs for one in (*others, runs)]
    differs = None if None in said else {name: text for one in said if one for name, text in one.items()}
    instead = {name: text for one in (*others, runs) for name, text in one.substitutes.items()}
    return replace(
        runs, cells=tuple(cells[key] for key in ordered), seeds=seeds, only=only, differs=differs, substitutes=instead
    )


def _in_order(column: Sequence[str]) -> list[str]:
    """Values of an axis as they come, numbers by their size: seeds 2 and 3 may be here, and 0 and 1 there."""
    values = list(dict.fromkeys(column))
    return sorted(values, key=int) if all(value.isdecimal() for value in values) else values
