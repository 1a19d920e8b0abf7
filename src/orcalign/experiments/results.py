"""What the cells of a study gave, read from their folders. Runs that are missing are holes, not errors."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from orcalign.checks import require
from orcalign.experiments.cells import CellFolder
from orcalign.experiments.planning import Cell, Plan
from orcalign.experiments.statistics import Scores
from orcalign.experiments.study import SEEDED, Study, Values, check_only, parts
from orcalign.locks import is_held
from orcalign.training.config import DemoConfig
from orcalign.training.config_mapping import to_mapping
from orcalign.training.follow_config import FOLLOW
from orcalign.training.imitating import substitute

METRICS = {
    "normalised": "return, as a share of the expert's",
    "return": "return: agent steps that report success",
    "success_rate": "share of episodes that end in success",
    "coverage": "ordered coverage of the demo in the last tenth of the episode",
}
CHECKPOINTS = {
    "last": "the last checkpoint of every run",
    "coverage": "the checkpoint of every run that covered the video best; success had no say in it",
}
PAPERS = {"reward.paid by": "pictures", "policy.sees also": ""}
"""What no column has otherwise without saying so, even if all have, because the paper's values stand beside them."""
STATES = ("done", "running", "stopped", "failed", "missing")
CURVE = ("step", "normalised", "return", "success_rate", "coverage")
"""Columns of a result's curve."""
_EPISODES = {"return": "returns", "success_rate": "successes", "coverage": "coverages"}


@dataclass(frozen=True)
class Result:
    """A run that came to its end."""

    values: Values
    last: dict[str, Any]
    """The last evaluation."""
    best: dict[str, Any] | None
    """The evaluation that the run chose by coverage; None where it was not kept."""
    curve: list[list[Any]]
    """A row an evaluation, see CURVE."""
    expert_return: float | None
    seconds: float
    versions: dict[str, str]
    finished: str = ""
    """When, in UTC."""
    demo_hash: str = ""

    def episodes(self, metric: str, checkpoint: str = "last") -> list[float]:
        """The metric of every episode of the evaluation of a checkpoint; none if it cannot be known."""
        evaluation = self.last if checkpoint == "last" else self.best
        if evaluation is None:
            return []
        if metric == "normalised":
            expert = self.expert_return
            return [value / expert for value in evaluation["returns"]] if expert else []
        return [float(value) for value in evaluation[_EPISODES[metric]]]

    def score(self, metric: str, checkpoint: str = "last") -> float | None:
        """Their mean."""
        episodes = self.episodes(metric, checkpoint)
        return float(np.mean(episodes)) if episodes else None

    def line(self, metric: str) -> list[tuple[int, float]]:
        """The learning curve."""
        place = CURVE.index(metric)
        return [(row[0], float(row[place])) for row in self.curve if row[place] is not None]


@dataclass(frozen=True)
class StudyCell:
    """A cell of a study, and what has come of it."""

    values: Values
    key: str
    """The hash of its effective config."""
    demo: str
    """What is imitated, in a few words."""
    steps: int
    """Agent steps that it is given."""
    state: str
    """One of STATES: a stopped one can go on."""
    played: int = 0
    """Agent steps so far."""
    error: str = ""
    """Of one that failed."""
    result: Result | None = None
    run: Path | None = None
    """The run's folder, where there is one."""


@dataclass(frozen=True)
class StudyResults:
    """A study as far as it has been run: what tables, plots and pages are made of."""

    study: Study
    preset: str
    steps: int
    seeds: int
    cells: tuple[StudyCell, ...]
    """All that were asked for, in the order of the plan."""
    source: Path
    """Folder of the sweep, or the file of results."""
    only: Mapping[str, Sequence[str]] = field(default_factory=dict)
    from_file: bool = False
    """Then there are numbers, but no run folders."""
    differs: Mapping[str, str] | None = None
    """For each column what its learner, frames or collection have otherwise than most columns (see `differences`);
    None in a file that does not say so."""
    substitutes: Mapping[str, str] = field(default_factory=dict)
    """For each column whose network stands in for the paper's, what does."""

    @property
    def folder(self) -> Path:
        """Where pictures and pages of it go, if nothing else is said."""
        return self.source.parent if self.from_file else self.source

    @property
    def done(self) -> list[Result]:
        """What the cells gave that are done, in the order of the plan."""
        return [cell.result for cell in self.cells if cell.result is not None]

    def labels(self, side: str) -> tuple[str, ...]:
        """Names of all rows or columns that there are."""
        return tuple(dict.fromkeys(label(cell.values, side) for cell in self.cells))

    def command(self, cell: StudyCell | None = None) -> str:
        """What to type to run it, or one cell of it, again."""
        only = self.only if cell is None else {name: (value,) for name, value in cell.values.items()}
        words = ["orcalign", "sweep", self.study.file or self.study.name, "--preset", self.preset]
        words += ["--steps", str(self.steps), "--seeds", str(self.seeds)]
        chosen = [f"{name}={value}" for name, values in only.items() for value in values]
        return shlex.join([*words, *(["--only", ",".join(chosen)] if chosen else [])])

    def narrowed(self, only: Mapping[str, Sequence[str]]) -> StudyResults:
        """A part of it."""
        check_only({name: self.labels(name) for name in self.cells[0].values}, only)
        cells = (cell for cell in self.cells if all(cell.values[name] in only[name] for name in only))
        return replace(self, cells=tuple(cells), only={**self.only, **only})


def read_results(plan: Plan, out: Path) -> StudyResults:
    """The cells of a plan, as they stand in the folder of a sweep.

    >>> from orcalign.experiments import find_study, plan_study
    >>> runs = read_results(plan_study(find_study("quick")), Path("no-such-folder"))
    >>> len(runs.cells), runs.cells[0].state, runs.done
    (12, 'missing', [])
    """
    budget = plan.budget
    cells = tuple(_read_cell(cell, out) for cell in plan.cells)
    return StudyResults(
        plan.study, plan.preset, budget.steps, budget.seeds, cells, out, plan.only, differs=differences(plan),
        substitutes=substitutes(plan),
    )  # fmt: skip


def differences(plan: Plan) -> dict[str, str]:
    """What columns do not share besides the reward, which is what they compare: each has what is not as in most.

    Who is paid by more than pictures, or sees more than its observation, says so in any case.

    >>> from orcalign.experiments import Study, plan_study
    >>> study = Study("mine", "", {"recipe": ("ot", "dtw", "orca_progress"), "task": ("door-close",)})
    >>> differences(plan_study(study))["orca_progress"]
    'learning_rate 0.0003, gamma 0.95, action_penalty 0.01'
    >>> differences(plan_study(study, only={"recipe": ("ot", "dtw")}))
    {}
    """
    first = plan.cells[0].values
    columns: dict[str, dict[str, Any]] = {}
    for cell in plan.cells:
        # Of one task, because suites have settings of their own.
        if cell.values["task"] == first["task"]:
            columns.setdefault(label(cell.values, plan.study.columns), _shared_settings(cell, plan.study))
    names = dict.fromkeys(name for one in columns.values() for name in one)
    usual = {name: Counter(str(one.get(name)) for one in columns.values()).most_common(1)[0][0] for name in names}
    usual |= PAPERS
    found = {
        column: ", ".join(f"{name.partition('.')[2]} {one[name]}" for name in one if str(one[name]) != usual[name])
        for column, one in columns.items()
    }
    return found if any(found.values()) else {}


def substitutes(plan: Plan) -> dict[str, str]:
    """For each column whose network stands in for the paper's, what does.

    >>> from orcalign.experiments import Study, plan_study
    >>> substitutes(plan_study(Study("mine", "", {"recipe": ("ot", "roboclip"), "task": ("door-close",)})))
    {'roboclip': 'I3D (Kinetics-400) in the place of S3D (HowTo100M)'}
    """
    found = {label(cell.values, plan.study.columns): substitute(cell.config) for cell in plan.cells}
    return {column: words for column, words in found.items() if words}


def _shared_settings(cell: Cell, study: Study) -> dict[str, Any]:
    plain = to_mapping(cell.config)
    flat = {f"{part}.{name}": value for part in ("agent", "encoder", "collect") for name, value in plain[part].items()}
    reward, follow = cell.config.reward, cell.config.follow
    flat |= PAPERS
    if reward.reward == FOLLOW:
        flat |= {"reward.paid by": "true states", "policy.sees also": " ".join(follow.sees)}
    elif reward.guide:
        flat["policy.sees also"] = "progress"
    return {name: value for name, value in flat.items() if name not in parts(study.columns)}


def _read_cell(cell: Cell, out: Path) -> StudyCell:
    folder = CellFolder(out, cell.key)
    steps = cell.config.steps
    about = StudyCell(cell.values, cell.key, demo_words(cell.config.demo), steps, "missing")
    done = folder.done()
    if done is not None:
        # The cell may have been run for another study, which calls it something else.
        result = Result(
            cell.values, done["last"], done.get("best"), done["curve"], done["expert_return"], done["seconds"],
            {**done["versions"], "orcalign": done["orcalign"]}, done.get("finished", ""), done.get("demo_hash", ""),
        )  # fmt: skip
        return replace(about, state="done", played=steps, result=result, run=folder.run)
    if not folder.path.is_dir():
        return about
    started = folder.started()
    about = replace(about, played=folder.steps() if started else 0, run=folder.run if started else None)
    failure = folder.failure()
    if is_held(folder.lock_file):
        return replace(about, state="running")
    if failure is not None:
        return replace(about, state="failed", error=str(failure.get("error", "")))
    return replace(about, state="stopped") if started else about


def demo_words(demo: DemoConfig) -> str:
    """What is imitated, in a few words.

    >>> demo_words(DemoConfig()), demo_words(DemoConfig(demo_kind="mixed", demos=4))
    ('one misaligned video', '4 mixed videos')
    """
    if demo.demo:
        return ", ".join(Path(name).name for name in demo.demo)
    return f"one {demo.demo_kind} video" if demo.demos == 1 else f"{demo.demos} {demo.demo_kind} videos"


def label(values: Values, side: str) -> str:
    """The name of a row or column.

    >>> label({"recipe": "orca", "reward.context": "3"}, "recipe+reward.context")
    'orca 3'
    """
    return " ".join(values[name] for name in parts(side))


def setting(values: Values, columns: str) -> str:
    """What the cells of one line of columns share: the task, and whatever else is neither column nor seed.

    >>> setting({"recipe": "orca", "task": "push", "demos": "4", "seed": "0"}, "recipe")
    'push 4'
    """
    left_out = {*parts(columns), *SEEDED}
    return " ".join(value for name, value in values.items() if name not in left_out)


def score_matrices(
    results: Sequence[Result], metric: str, columns: str, names: Sequence[str], checkpoint: str = "last"
) -> tuple[dict[str, Scores], int]:
    """[N, K] per column, over the tasks (and settings) that every column has; and how many those are.

    Where one has more runs of a task than another, the first ones count: an average over tasks needs as many of each.
    """
    require("metric", metric, tuple(METRICS))
    runs: dict[str, dict[str, list[float]]] = {name: {} for name in names}
    for result in results:
        score = result.score(metric, checkpoint)
        if score is not None:
            task = setting(result.values, columns)
            runs[label(result.values, columns)].setdefault(task, []).append(score)
    present = {name: tasks for name, tasks in runs.items() if tasks}
    first = next(iter(present.values()), {})
    shared = [task for task in first if all(task in tasks for tasks in present.values())]
    if not shared:
        return {}, 0
    matrices = {}
    for name, tasks in present.items():
        count = min(len(tasks[task]) for task in shared)
        matrices[name] = np.array([[tasks[task][n] for task in shared] for n in range(count)])
    return matrices, len(shared)
