"""Environments: tasks as data, Meta-world, 2D navigation, rendering, wrappers, scripted experts, demos.

Nothing heavy is imported here: Gymnasium and the simulators come in when they are used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from orcalign.envs.seeds import choosing_seed, demo_seed, eval_seed, train_seed
from orcalign.envs.spec import TaskSpec
from orcalign.envs.tasks import HELD_OUT_TASKS, PAPER_TASKS, TASKS, find_task

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
    "make": "making",
    "make_demo": "demo_making",
    "make_demos": "demo_making",
    "expert_return": "expert_returns",
    "measure_expert_returns": "expert_returns",
    "Episode": "experts",
    "make_expert": "experts",
    "rollout_expert": "experts",
    "ActionRepeat": "wrappers",
    "EpisodeReward": "wrappers",
    "Frames": "wrappers",
    "StackedPixels": "wrappers",
    "StepReward": "wrappers",
    "TimeFraction": "wrappers",
}

__all__ = [
    "HELD_OUT_TASKS",
    "PAPER_TASKS",
    "TASKS",
    "ActionRepeat",
    "Episode",
    "EpisodeReward",
    "Frames",
    "StackedPixels",
    "StepReward",
    "TaskSpec",
    "TimeFraction",
    "choosing_seed",
    "demo_seed",
    "eval_seed",
    "expert_return",
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
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f"orcalign.envs.{_LATER[name]}"), name)
    globals()[name] = found
    return found
