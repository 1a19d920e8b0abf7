"""A study: axes, a budget, and what its table looks like."""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orcalign.checks import require
from orcalign.experiments.axes import AXES
from orcalign.training.presets import PRESETS

Values = dict[str, str]
"""A value on every axis: one cell."""


@dataclass(frozen=True)
class Budget:
    """How much is spent on every cell."""

    steps: int
    """Agent steps of a run; a method that is pretrained shares them between its two stages."""
    seeds: int = 1
    """Runs of every cell, with seeds 0, 1, …; a study with an axis for seeds of its own has those."""
    axes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Axes that are other ones at this budget."""

    def __post_init__(self) -> None:
        require("steps", self.steps, at_least=1)
        require("seeds", self.seeds, at_least=1)


LAPTOP = Budget(50_000)
PAPER = Budget(1_000_000, seeds=3)


@dataclass(frozen=True)
class Study:
    """A grid of runs.

    >>> study = Study("mine", "two tasks", {"task": ("nav2d", "nav2d-order"), "method": ("orca_np", "ot")})
    >>> len(list(study.cells(study.budget("laptop")))), study.rows, study.columns
    (4, 'task', 'method')
    """

    name: str
    summary: str
    axes: Mapping[str, tuple[str, ...]]
    """Axis to values, in the order of the table."""
    rows: str = "task"
    columns: str = "method"
    """The axes of the table; everything else is averaged."""
    source: str = ""
    """Where the paper has it."""
    budgets: Mapping[str, Budget] = field(default_factory=lambda: {"laptop": LAPTOP, "paper": PAPER})
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of every run, as {"agent.hidden": 512}; where an axis says otherwise, the axis counts."""
    metric: str = "normalised"
    """What of the last evaluation is shown."""
    kind: str = "training"
    """Or `latency`, which trains nothing."""
    paper: str = ""
    """The study whose values of the paper are shown beside; left empty, those under its own name."""
    file: str = ""
    """Where it was read from, if it does not ship."""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z0-9][\w.-]*", self.name):
            raise ValueError(
                f"the study's name is {self.name!r}; it becomes the name of a folder, so use letters, digits, - and _."
            )
        if self.kind == "latency":
            return
        for name in self.axes:
            require("axis", name, tuple(AXES))
        for preset, budget in self.budgets.items():
            require("preset", preset, tuple(PRESETS))
            for name in budget.axes:
                require("axis", name, tuple(AXES))
            if "task" not in {**self.axes, **budget.axes}:
                raise ValueError(f"study {self.name!r} has no axis 'task'; say what is to be learned.")
        for name, values in self.axes.items():
            if not values:
                raise ValueError(
                    f"the axis {name!r} of study {self.name!r} has no values; give at least one."
                )
        if self.columns == "method" and "method" not in self.axes:
            raise ValueError(f"study {self.name!r} has no axis 'method'; add one, or name other columns.")
        for name in (*parts(self.rows), *parts(self.columns)):
            require("axis of the table", name, tuple(self.axes))

    def budget(self, preset: str) -> Budget:
        """What the study spends with that preset."""
        require("preset", preset, tuple(self.budgets))
        return self.budgets[preset]

    def grid(self, budget: Budget) -> dict[str, tuple[str, ...]]:
        """All axes at that budget, with the seeds; in the order in which cells are run."""
        axes = {**self.axes, **budget.axes}
        if "seed" not in axes and "demo_number" not in axes:
            axes["seed"] = tuple(str(seed) for seed in range(budget.seeds))
        return axes

    def cells(self, budget: Budget, only: Mapping[str, Sequence[str]] | None = None) -> Iterator[Values]:
        """One mapping of axes to values for every cell."""
        axes = self.grid(budget)
        for name, wanted in (only or {}).items():
            require("axis", name, tuple(axes))
            for value in wanted:
                require(name, value, axes[name])
            axes[name] = tuple(value for value in axes[name] if value in wanted)
        for values in itertools.product(*axes.values()):
            yield dict(zip(axes, values, strict=True))


def parts(side: str) -> tuple[str, ...]:
    """The axes of a side of the table.

    >>> parts("method+context")
    ('method', 'context')
    """
    return tuple(side.split("+"))


def parse_only(words: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """What --only says: values of one axis add up, axes narrow each other.

    >>> parse_only(["task=push,task=door-open", "method=orca"])
    {'task': ('push', 'door-open'), 'method': ('orca',)}
    """
    found: dict[str, tuple[str, ...]] = {}
    for word in itertools.chain.from_iterable(text.split(",") for text in words):
        name, equals, value = word.strip().partition("=")
        if not equals or not name or not value:
            raise ValueError(f"--only is {word!r}; give axis=value, such as task=door-close.")
        found[name] = (*found.get(name, ()), value)
    return found


FIELDS = ("name", "summary", "axes", "rows", "columns", "steps", "seeds", "settings", "metric")


def read_study(path: Path) -> Study:
    """A study in a YAML file: `axes`, and any of name, summary, rows, columns, steps, seeds, settings, metric."""
    import yaml

    try:
        values = yaml.safe_load(path.read_text("utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"{str(path)!r} is not YAML ({' '.join(str(error).split())}).") from None
    if not isinstance(values, dict) or not isinstance(values.get("axes"), dict):
        raise ValueError(f"{str(path)!r} has no axes; write, for example, axes: {{task: [door-close]}}.")
    for name in values:
        if name not in FIELDS:
            near = difflib.get_close_matches(str(name), FIELDS, n=1)
            hint = f" did you mean {near[0]!r}?" if near else ""
            raise ValueError(
                f"{str(path)!r} has a field {name!r}, which a study does not;{hint} Known: {', '.join(FIELDS)}."
            )
    axes = {
        str(name): tuple(str(value) for value in (entry if isinstance(entry, list) else [entry]))
        for name, entry in values["axes"].items()
    }
    budgets = {
        preset: Budget(values.get("steps", base.steps), values.get("seeds", base.seeds))
        for preset, base in (("laptop", LAPTOP), ("paper", PAPER))
    }
    settings = values.get("settings", {})
    if not isinstance(settings, dict):
        raise ValueError(
            f"{str(path)!r}: settings is {settings!r}; write, for example, {{agent.hidden: 512}}."
        )
    rest = {name: values[name] for name in ("rows", "columns", "settings", "metric") if name in values}
    name, summary = str(values.get("name", path.stem)), str(values.get("summary", f"from {path.name}"))
    return Study(name, summary, axes, budgets=budgets, file=str(path), **rest)
