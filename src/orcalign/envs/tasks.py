"""What a task is, a row of data, and how a name becomes one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, final, get_args

from orcalign.checks import near_miss, require, require_count
from orcalign.envs.suite import SUITES, all_suites, find_suite
from orcalign.video import keep

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Difficulty = Literal["easy", "medium", "hard", "unknown"]


@dataclass(frozen=True)
class TaskSpec:
    """A task: which environment, seen how, for how long.

    >>> TaskSpec("door-close", "metaworld", "door-close-v3", "corner", 125, action_repeat=2).agent_steps
    63
    >>> TaskSpec("door-close", "metaworld", "door-close-v3", "corner", 0)
    Traceback (most recent call last):
    ...
    ValueError: episode_steps of task 'door-close' is 0; it must be a whole number of at least 1.
    """

    name: str
    suite: str
    """Its family, a name in `orcalign.envs.suite.SUITES`."""
    env_id: str
    """Name of the environment in its suite."""
    camera: str | None = None
    """Camera of a MuJoCo scene; None where the environment has only one view."""
    episode_steps: int = 1000
    """Simulation steps after which the episode is truncated."""
    action_repeat: int = 1
    """Simulation steps for which the agent's action is held."""
    difficulty: Difficulty = "unknown"
    success: str = "as the environment reports it"
    """When info["success"] is true, in one line."""
    misaligned: str | None = None
    """Frames of the aligned demo that make the misaligned one, as `orcalign.video.keep` reads them."""
    sentence: str = ""
    """What is to be done, in words, for rewards that read; empty where nobody has said it."""
    settings: tuple[tuple[str, str | int | float | bool], ...] = ()
    """Keyword arguments of the environment."""
    time: bool = True
    """Whether a flat observation also tells the share of the episode that is over, as the paper's Meta-world has it."""

    def __post_init__(self) -> None:
        for name in ("name", "env_id"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name).strip():
                raise ValueError(f"a task has {name}={getattr(self, name)!r}; give a name that is not empty.")
        require(f"suite of task {self.name!r}", self.suite, tuple(SUITES))
        require(f"difficulty of task {self.name!r}", self.difficulty, get_args(Difficulty))
        for name in ("episode_steps", "action_repeat"):
            count = require_count(getattr(self, name), f"{name} of task {self.name!r}", at_least=1)
            object.__setattr__(self, name, count)  # a plain int, which JSON knows
        find_suite(self.suite).check(self)
        if self.misaligned is not None:
            keep(self.misaligned, self.agent_steps)

    @property
    def agent_steps(self) -> int:
        """Agent steps of a whole episode, the last one cut short where the repeat does not divide it."""
        return -(-self.episode_steps // self.action_repeat)


@final
class _Tables(Mapping[str, TaskSpec]):
    """The tables of all suites as one; looked up when it is used, so that suites can be imported in any order."""

    def _joined(self) -> dict[str, TaskSpec]:
        return {name: spec for suite in all_suites() for name, spec in suite.tasks.items()}

    def __getitem__(self, name: str) -> TaskSpec:
        return self._joined()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._joined())

    def __len__(self) -> int:
        return len(self._joined())


TASKS: Mapping[str, TaskSpec] = _Tables()
"""The paper's ten Meta-world tasks, the 2D navigation, and what other suites have in their tables."""


def find_task(name: str | TaskSpec) -> TaskSpec:
    """The task of that name: one of `TASKS`, or what a suite knows besides, such as any other Meta-world v3 task, a
    registered Gymnasium id (`Pendulum-v1`), `module:id` where importing the module registers it, or `module:function`
    where the function returns an environment.

    >>> find_task("door-close").camera, find_task("drawer-open-v3").episode_steps
    ('corner', 175)
    >>> find_task("door-clos")
    Traceback (most recent call last):
    ...
    ValueError: no task is called 'door-clos'; did you mean 'door-close'? Known: ...
    """
    if isinstance(name, TaskSpec):
        return name
    if not isinstance(name, str) or not name.strip():
        raise ValueError(f"the task is {name!r}; give a name. {_known()}")
    for suite in all_suites():
        found = suite.find(name)
        if found is not None:
            return found
    names = dict.fromkeys(one for suite in all_suites() for one in suite.names)
    hint = "".join(suite.hint(name) for suite in all_suites()) or near_miss(name, names)
    raise ValueError(f"no task is called {name!r};{hint} {_known()}")


def _known() -> str:
    others = (suite.others for suite in all_suites() if suite.others)
    return f"Known: {', '.join([*TASKS, *others])}."


def episode_return(task: str | TaskSpec, success: npt.NDArray[np.bool_]) -> float:
    """The return of an episode, given whether each of its agent steps [T] reports success; its suite counts.

    >>> import numpy as np
    >>> episode_return("door-close", np.array([False, True, True]))
    2
    """
    spec = find_task(task)
    return find_suite(spec.suite).episode_return(success, spec)
