"""Environments: suites of tasks, rendering, wrappers, scripted experts, demos.

Nothing heavy is imported here: Gymnasium and the simulators come in when they are used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from orcalign.envs.metaworld import HELD_OUT_TASKS, PAPER_TASKS
from orcalign.envs.seeds import choosing_seed, demo_seed, eval_seed, train_seed
from orcalign.envs.suite import SUITES, Suite, find_suite
from orcalign.envs.tasks import TASKS, TaskSpec, episode_return, find_task

if TYPE_CHECKING:
    from orcalign.envs.demo_making import make_demo, make_demos
    from orcalign.envs.expert_returns import expert_return, measure_expert_returns
    from orcalign.envs.experts import Episode, make_expert, rollout_expert
    from orcalign.envs.making import make
    from orcalign.envs.wrappers import (
        ActionRepeat,
        EpisodeReward,
        Frames,
        StackedPixels,
        StepReward,
        TimeFraction,
    )

_LATER = {
    "demo_making": ("make_demo", "make_demos"),
    "expert_returns": ("expert_return", "measure_expert_returns"),
    "experts": ("Episode", "make_expert", "rollout_expert"),
    "making": ("make",),
    "wrappers": ("ActionRepeat", "EpisodeReward", "Frames", "StackedPixels", "StepReward", "TimeFraction"),
}

__all__ = [
    "HELD_OUT_TASKS",
    "PAPER_TASKS",
    "SUITES",
    "TASKS",
    "ActionRepeat",
    "Episode",
    "EpisodeReward",
    "Frames",
    "StackedPixels",
    "StepReward",
    "Suite",
    "TaskSpec",
    "TimeFraction",
    "choosing_seed",
    "demo_seed",
    "episode_return",
    "eval_seed",
    "expert_return",
    "find_suite",
    "find_task",
    "make",
    "make_demo",
    "make_demos",
    "make_expert",
    "measure_expert_returns",
    "rollout_expert",
    "train_seed",
]


def __getattr__(name: str) -> Any:
    for module, names in _LATER.items():
        if name in names:
            globals()[name] = getattr(importlib.import_module(f"orcalign.envs.{module}"), name)
            return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
