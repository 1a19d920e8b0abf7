"""From a study to runs: what is to be run, and under which name.

A cell is addressed by what decides its numbers, the effective config of its run: studies that share a run share it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from orcalign.checks import require
from orcalign.experiments.study import SEEDED, Budget, Study, Values
from orcalign.training.config import TrainConfig
from orcalign.training.config_mapping import from_word, is_section, to_mapping
from orcalign.training.presets import config as config_of


@dataclass(frozen=True)
class Cell:
    """One run of a study."""

    values: Values
    key: str
    """16 hexadecimal digits: the same for every study that has this run."""
    config: TrainConfig


@dataclass(frozen=True)
class Plan:
    """What a sweep does, in this order."""

    study: Study
    preset: str
    budget: Budget
    cells: tuple[Cell, ...]
    jobs: dict[str, Cell]
    """What there is to run, by key: two cells may be one run."""
    only: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The part of the grid that was asked for; empty for all of it."""


def plan_study(
    study: Study,
    preset: str = "laptop",
    steps: int | None = None,
    seeds: int | None = None,
    only: Mapping[str, Sequence[str]] | None = None,
) -> Plan:
    """The cells of a study.

    >>> study = Study("mine", "", {"recipe": ("orca", "temporal_ot"), "task": ("nav2d",)})
    >>> [(cell.config.recipe, cell.config.steps) for cell in plan_study(study, steps=600).cells]
    [('orca', 600), ('temporal_ot', 600)]
    """
    if study.kind != "training":
        raise ValueError(f"study {study.name!r} trains nothing; there is no grid of runs to plan.")
    told: dict[str, Any] = {n: v for n, v in (("steps", steps), ("seeds", seeds)) if v is not None}
    budget = replace(study.budget(preset), **told)
    cells = []
    for values in study.cells(budget, only):
        config = _config(study, preset, budget.steps, values)
        cells.append(Cell(values, cell_key(config), config))
    jobs: dict[str, Cell] = {}
    for cell in cells:
        jobs.setdefault(cell.key, cell)
    return Plan(study, preset, budget, tuple(cells), jobs, dict(only or {}))


def _config(study: Study, preset: str, steps: int, values: Values) -> TrainConfig:
    settings: dict[str, Any] = {"steps": steps, **study.settings}
    for name in ("variant", *(name for name in values if name != "variant")):
        if name in values:
            settings |= axis_settings(study, name, values[name])
    # Thousands of cells are a few dozen configs, each with many seeds.
    seed = settings.pop("seed", 0)
    made = _made(values["task"], preset, values.get("recipe"), json.dumps(settings))
    return replace(made, seed=seed)


@cache
def _made(task: str, preset: str, recipe: str | None, settings: str) -> TrainConfig:
    return config_of(task, preset, recipe, json.loads(settings))


def axis_settings(study: Study, name: str, value: str) -> Mapping[str, Any]:
    """What a value on an axis means for the config of a run.

    >>> study = Study("mine", "", {"task": ("nav2d",), "demos": ("2", "4-mixed")}, columns="demos")
    >>> axis_settings(study, "demos", "4-mixed"), axis_settings(study, "reward.context", "3")
    ({'demo.demos': 4, 'demo.demo_kind': 'mixed'}, {'reward.context': 3})
    """
    if name in ("task", "recipe"):
        return {}
    if name == "variant":
        require("variant", value, tuple(study.variants))
        return study.variants[value]
    if name == "demos":
        count, _, mixed = value.partition("-")
        if not count.isdigit() or mixed not in ("", "mixed"):
            raise ValueError(f"demos is {value!r}; give a number, such as 4, or 4-mixed for different speeds.")
        return {"demo.demos": int(count), **({"demo.demo_kind": "mixed"} if mixed else {})}
    if name in SEEDED:
        if not value.isdigit():
            raise ValueError(f"{name} is {value!r}; it must be a whole number, such as 0.")
        # Another demo, and another seed with it: recipes that are compared get the same pair.
        demo = {"demo_number": "demo.demo_seed", "demo_variant": "demo.demo_variant"}.get(name)
        return {"seed": int(value), **({} if demo is None else {demo: int(value)})}
    dotted = {"demo_kind": "demo.demo_kind"}.get(name, name)
    return {dotted: from_word(dotted, value)}


def cell_key(config: TrainConfig) -> str:
    """The address of a run: a hash of everything that decides its numbers."""
    topics = {name: value for name, value in vars(config).items() if name != "recipe"}
    plain = {name: _plain(value) if is_section(value) else value for name, value in topics.items()}
    if config.demo.demo:
        plain["demo"] = {**plain["demo"], "demo": [_content(path) for path in config.demo.demo]}
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:16]


@cache
def _plain(section: Any) -> dict[str, Any]:
    # Thousands of cells are made of a few dozen of these. Settings that are equal must give one text: 500.0 is 500.
    return {
        name: int(value) if isinstance(value, float) and value.is_integer() else value
        for name, value in to_mapping(section).items()
    }


@cache
def _content(name: str) -> str:
    """Of a user's own demo: the file may move, but it must not change."""
    path, digest = Path(name), hashlib.sha256()
    files = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()
