"""From a study to jobs: what is to be run, under which name, and what has to be there first.

A cell is addressed by what decides its numbers, the effective config of its run. A method that is pretrained is two
runs: another cell up to its half, whose networks it begins with, and its own for the other half. As in the paper, that
first half is the other method's own run: it is played once, whoever asks for it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from orcalign.agents.settings import AgentSettings
from orcalign.checks import Ramp
from orcalign.experiments.axes import AXES, with_settings
from orcalign.experiments.methods import METHODS
from orcalign.experiments.study import Budget, Study, Values
from orcalign.training.config import DemoConfig, TrainConfig
from orcalign.training.presets import preset as preset_named
from orcalign.training.reward_config import RewardConfig


@dataclass(frozen=True)
class Start:
    """The networks that a run begins with: those of another cell after so many steps."""

    key: str
    step: int


@dataclass(frozen=True)
class Cell:
    """One run of a study."""

    values: Values
    key: str
    """16 hexadecimal digits: the same for every study that has this run."""
    config: TrainConfig
    """Without the place of the run it starts from, which is nobody's business but the machine's."""
    start: Start | None = None


@dataclass(frozen=True)
class Job:
    """A cell, to its end or up to a step."""

    cell: Cell
    until: int | None = None
    needs: str | None = None
    """The job that must be done first."""

    @property
    def id(self) -> str:
        """Key of the cell, and the step if it is not the end."""
        return self.cell.key if self.until is None else f"{self.cell.key}@{self.until}"

    @property
    def steps(self) -> int:
        """Agent steps at which it ends."""
        return self.cell.config.steps if self.until is None else self.until


@dataclass(frozen=True)
class Plan:
    """What a sweep does, in this order."""

    study: Study
    preset: str
    budget: Budget
    cells: tuple[Cell, ...]
    """Of the study; prerequisites are among the jobs only."""
    jobs: dict[str, Job]
    only: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The part of the grid that was asked for; empty for all of it."""


def plan_study(
    study: Study,
    preset: str = "laptop",
    steps: int | None = None,
    seeds: int | None = None,
    only: Mapping[str, Sequence[str]] | None = None,
) -> Plan:
    """Cells and jobs of a study.

    >>> study = Study("mine", "", {"method": ("orca", "temporal_ot"), "task": ("nav2d",)})
    >>> plan = plan_study(study, steps=600)
    >>> [(job.cell.values["method"], job.until) for job in plan.jobs.values()]
    [('temporal_ot', 300), ('orca', None), ('temporal_ot', None)]
    """
    if study.kind != "training":
        raise ValueError(f"study {study.name!r} trains nothing; there is no grid of runs to plan.")
    budget = study.budget(preset)
    budget = replace(
        budget,
        steps=budget.steps if steps is None else steps,
        seeds=budget.seeds if seeds is None else seeds,
    )
    cells: list[Cell] = []
    jobs: dict[str, Job] = {}
    halves: dict[str, str] = {}
    # Also those that --only leaves out: whoever plays the run first has to keep its half for them.
    methods = (METHODS[name] for name in study.grid(budget).get("method", ()) if name in METHODS)
    left_halfway = {method.pretrained_on for method in methods}
    for values in study.cells(budget, only):
        first, cell = make_cells(study, preset, budget.steps, values)
        cells.append(cell)
        needs = None
        if first is not None and cell.start is not None:
            half = Job(first, cell.start.step)
            jobs.setdefault(half.id, half)
            halves[first.key] = needs = half.id
        elif values.get("method") in left_halfway:
            half = Job(cell, budget.steps // 2)
            jobs.setdefault(half.id, half)
            halves[cell.key] = half.id
        jobs.setdefault(cell.key, Job(cell, needs=needs))
    for key, id in halves.items():
        if key in jobs:
            jobs[key] = replace(jobs[key], needs=id)
    return Plan(study, preset, budget, tuple(cells), _first_things_first(jobs), dict(only or {}))


def make_cells(study: Study, preset: str, steps: int, values: Values) -> tuple[Cell | None, Cell]:
    """A cell, and before it the one that it is pretrained with."""
    config = _config(study, preset, steps, values)
    method = METHODS.get(values.get("method", ""))
    if method is None or method.pretrained_on is None:
        return None, Cell(values, cell_key(config), config)
    if steps < 2:
        raise ValueError(f"steps is {steps}; a method that is pretrained needs at least 2.")
    _, first = make_cells(study, preset, steps, {**values, "method": method.pretrained_on})
    start = Start(first.key, steps // 2)
    collect = config.collect
    # Exploration goes on where the first half leaves it.
    noise = Ramp(collect.noise_start, collect.noise_end)(start.step / steps)
    config = replace(config, steps=steps - start.step, collect=replace(collect, noise_start=noise))
    return first, Cell(values, cell_key(config, start), config, start)


def _config(study: Study, preset: str, steps: int, values: Values) -> TrainConfig:
    own = {name: value for name, value in study.settings.items() if name.startswith(("reward.", "agent."))}
    others = {name: value for name, value in study.settings.items() if name not in own}
    demo_follows = "demo_kind" in values or "demo.demo" in others
    config = replace(_base(preset, values["task"], json.dumps(others), demo_follows), steps=steps)
    for name, axis in AXES.items():
        if name in values:
            config = axis.change(config, values[name])
    if not own:
        return config
    # After the axes: a method has settings of its own, which the study's win over.
    reward, agent = _with_own(config.reward, config.agent, config.task, json.dumps(own))
    return replace(config, reward=reward, agent=agent)


@cache
def _base(name: str, task: str, settings: str, demo_follows: bool) -> TrainConfig:
    return with_settings(preset_named(name, task, demo_follows), json.loads(settings))


@cache
def _with_own(
    reward: RewardConfig, agent: AgentSettings, task: str, settings: str
) -> tuple[RewardConfig, AgentSettings]:
    plain = TrainConfig(task, reward=reward, agent=agent, demo=DemoConfig(demo_kind="aligned"))
    changed = with_settings(plain, json.loads(settings))
    return changed.reward, changed.agent


def cell_key(config: TrainConfig, start: Start | None = None) -> str:
    """The address of a run: a hash of everything that decides its numbers."""
    topics: dict[str, Any] = {field.name: getattr(config, field.name) for field in dataclasses.fields(config)}
    plain = {
        name: _plain(value) if dataclasses.is_dataclass(value) else value for name, value in topics.items()
    }
    plain["reward"] |= {"start_from": None if start is None else f"{start.key}@{start.step}"}
    if config.demo.demo:
        plain["demo"] |= {"demo": [_content(path) for path in config.demo.demo]}
    text = json.dumps(plain, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def _plain_fields(settings: Any) -> dict[str, Any]:
    # Thousands of cells are made of a few dozen of these. Settings that are equal must give one text: 500.0 is 500.
    return {
        name: int(value) if isinstance(value, float) and value.is_integer() else value
        for name, value in dataclasses.asdict(settings).items()
    }


def _plain(settings: Any) -> dict[str, Any]:
    return dict(_plain_fields(settings))


@cache
def _content(name: str) -> str:
    """Of a user's own demo: the file may move, but it must not change."""
    path, digest = Path(name), hashlib.sha256()
    files = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _first_things_first(jobs: dict[str, Job]) -> dict[str, Job]:
    """The same jobs, each after the one that it needs."""
    ordered: dict[str, Job] = {}
    for job in jobs.values():
        needed = jobs.get(job.needs or "")
        if needed is not None:
            ordered.setdefault(needed.id, needed)
        ordered.setdefault(job.id, job)
    return ordered
