"""A study: axes, a budget, and what its table looks like. Those that ship are YAML files like anybody's own."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from orcalign.checks import near_miss, require
from orcalign.training.config_mapping import field_types
from orcalign.training.presets import PRESETS

Values = dict[str, str]
"""A value on every axis: one cell."""
SEEDED = ("seed", "demo_number", "demo_variant")
"""Axes that give every value its own seed, too: a study with one of them has no other seeds."""
AXES = ("task", "recipe", "variant", "demo_kind", "demos", *SEEDED)
"""Axes that are more than a field of the config."""
STUDIES = (
    "misaligned", "quick", "aligned", "varying-misalignment", "number-of-demos", "pretraining", "encoders",
    "encoder-ranking", "image-policy", "latency", "temperature", "floor", "context", "progress-ablation",
    "follow", "follow-parts", "follow-pictures", "humanoid", "additional-baselines",
)  # fmt: skip
"""Those that ship: one for each table and figure of the paper that holds results, and our own."""


@dataclass(frozen=True)
class Budget:
    """How much is spent on every cell."""

    steps: int
    """Agent steps of a run; a recipe that is pretrained shares them between its two stages."""
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

    >>> study = Study("mine", "two tasks", {"task": ("nav2d", "nav2d-order"), "recipe": ("orca_np", "ot")})
    >>> len(list(study.cells(study.budget("laptop")))), study.rows, study.columns
    (4, 'task', 'recipe')
    """

    name: str
    summary: str
    axes: Mapping[str, tuple[str, ...]]
    """Axis to values, in the order of the table: one of `AXES`, or any field of the config, as reward.context."""
    rows: str = "task"
    columns: str = "recipe"
    """The axes of the table; everything else is averaged."""
    source: str = ""
    """Where the paper has it."""
    budgets: Mapping[str, Budget] = field(default_factory=lambda: {"laptop": LAPTOP, "paper": PAPER})
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of every run, as {"agent.hidden": 512}; where an axis says otherwise, the axis counts."""
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Settings by the values of the axis `variant`; in a file that has no such axis, all of them are run."""
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
        require("kind", self.kind, ("training", "latency"))
        if self.kind == "latency":
            return
        for preset, budget in self.budgets.items():
            require("preset", preset, tuple(PRESETS))
            for name in (*self.axes, *budget.axes):
                if name not in AXES and name not in field_types():
                    raise ValueError(
                        f"axis is {name!r};{near_miss(name, (*AXES, *field_types()))} Known: {', '.join(AXES)}, and "
                        "every field of the config, such as reward.context."
                    )
            if "task" not in {**self.axes, **budget.axes}:
                raise ValueError(f"study {self.name!r} has no axis 'task'; say what is to be learned.")
        empty = [name for name, values in self.axes.items() if not values]
        if empty:
            raise ValueError(f"the axis {empty[0]!r} of study {self.name!r} has no values; give at least one.")
        if self.columns == "recipe" and "recipe" not in self.axes:
            raise ValueError(f"study {self.name!r} has no axis 'recipe'; add one, or name other columns.")
        for name in (*parts(self.rows), *parts(self.columns)):
            require("axis of the table", name, tuple(self.axes))

    def budget(self, preset: str) -> Budget:
        """What the study spends with that preset."""
        require("preset", preset, tuple(self.budgets))
        return self.budgets[preset]

    def cells(self, budget: Budget, only: Mapping[str, Sequence[str]] | None = None) -> Iterator[Values]:
        """One mapping of axes to values for every cell, in the order in which they are run."""
        axes = {**self.axes, **budget.axes}
        if not set(SEEDED) & set(axes):
            axes["seed"] = tuple(str(seed) for seed in range(budget.seeds))
        check_only(axes, only or {})
        for name, wanted in (only or {}).items():
            axes[name] = tuple(value for value in axes[name] if value in wanted)
        for values in itertools.product(*axes.values()):
            yield dict(zip(axes, values, strict=True))


def check_only(axes: Mapping[str, Sequence[str]], only: Mapping[str, Sequence[str]]) -> None:
    """Refuse an axis, or a value on it, that there is not."""
    for name, wanted in only.items():
        require("axis", name, tuple(axes))
        for value in wanted:
            require(name, value, axes[name])


def parts(side: str) -> tuple[str, ...]:
    """The axes of a side of the table.

    >>> parts("recipe+reward.context")
    ('recipe', 'reward.context')
    """
    return tuple(side.split("+"))


def parse_only(words: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """What --only says: values of one axis add up, axes narrow each other.

    >>> parse_only(["task=push,task=door-open", "recipe=orca"])
    {'task': ('push', 'door-open'), 'recipe': ('orca',)}
    """
    found: dict[str, tuple[str, ...]] = {}
    for word in itertools.chain.from_iterable(text.split(",") for text in words):
        name, equals, value = word.strip().partition("=")
        if not equals or not name or not value:
            raise ValueError(f"--only is {word!r}; give axis=value, such as task=door-close.")
        found[name] = (*found.get(name, ()), value)
    return found


def find_study(name: str) -> Study:
    """The study of that name, or in that YAML file.

    >>> find_study("misalinged")
    Traceback (most recent call last):
    ...
    ValueError: study is 'misalinged'; did you mean 'misaligned'? Known: misaligned, quick, ...
    """
    if name.endswith((".yaml", ".yml")):
        try:
            text = Path(name).read_text("utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"{name!r} is not YAML ({error}).") from None
        return read_study(text, name)
    require("study", name, STUDIES)
    return _shipped(name)


@cache
def _shipped(name: str) -> Study:
    file = resources.files("orcalign.experiments").joinpath("studies", f"{name}.yaml")
    return replace(read_study(file.read_text("utf-8"), f"{name}.yaml"), file="")


FIELDS = (*(one.name for one in fields(Study) if one.name != "file"), "steps", "seeds")


def read_study(text: str, path: str) -> Study:
    """A study in YAML: `axes`, and any other field of a study; `steps` and `seeds` are the same in every budget."""
    import yaml

    try:
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"{path!r} is not YAML ({' '.join(str(error).split())}).") from None
    if not isinstance(values, dict) or not isinstance(values.get("axes"), dict):
        raise ValueError(f"{path!r} has no axes; write, for example, axes: {{task: [door-close]}}.")
    for name in values:
        if name not in FIELDS:
            raise ValueError(
                f"{path!r} has a field {name!r}, which a study does not;{near_miss(name, FIELDS)} "
                f"Known: {', '.join(FIELDS)}."
            )
    for name, example in (("settings", "{agent.hidden: 512}"), ("variants", "{small: {agent.hidden: 64}}"),
                          ("budgets", "{laptop: {steps: 5000}}")):  # fmt: skip
        if not isinstance(values.setdefault(name, {}), dict):
            raise ValueError(f"{path!r}: {name} is {values[name]!r}; write, for example, {example}.")
    shared = {name: values.pop(name) for name in ("steps", "seeds") if name in values}
    told = values.pop("budgets") or {"laptop": {}, "paper": {}}
    budgets = {}
    for preset, own in told.items():
        fresh = {**shared, **(own or {})}
        for name in fresh:
            require("field of a budget", name, tuple(one.name for one in fields(Budget)))
        fresh["axes"] = _axes(fresh.get("axes", {}))
        budgets[preset] = replace(PAPER if preset == "paper" else LAPTOP, **fresh)
    values = {"name": Path(path).stem, "summary": f"from {Path(path).name}", **values}
    axes = _axes(values["axes"])
    if values["variants"] and "variant" not in axes:
        axes = {"variant": tuple(map(str, values["variants"])), **axes}
    return Study(**{**values, "axes": axes, "budgets": budgets, "file": path})


def _axes(told: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    return {str(name): tuple(map(_word, entry if isinstance(entry, list) else [entry])) for name, entry in told.items()}


def _word(value: Any) -> str:
    """A value as it is typed: YAML has read true and null for what they mean."""
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
