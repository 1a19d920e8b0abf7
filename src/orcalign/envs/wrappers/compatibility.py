"""Whether a demo and an environment belong together."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium

from orcalign.envs.wrappers.frames import check_draws
from orcalign.rewards import Reward
from orcalign.rewards.demos import check_render


class OtherTaskWarning(UserWarning):
    """The demo shows another task than the environment is."""


def check_learner(env: gymnasium.Env[Any, Any], reward: Reward, warn_other_task: bool) -> None:
    """Refuse an env that draws nothing though the reward needs frames, or draws otherwise than the demo; warn if it is
    another task than the demo's."""
    if reward.need.frames:
        check_draws(env)
    if env.has_wrapper_attr("learner_render"):
        check_render(reward.demos, env.get_wrapper_attr("learner_render"))
    task = task_name(env)
    for k, demo in enumerate(reward.demos):
        if warn_other_task and task is not None and demo.task is not None and demo.task != task:
            warnings.warn(
                f"demo {k} ({demo.source}) shows the task {demo.task!r} and the environment is {task!r}; "
                "if that is meant, pass warn_other_task=False.",
                OtherTaskWarning,
                stacklevel=4,
            )


def task_name(env: gymnasium.Env[Any, Any]) -> str | None:
    """Name of the environment's task: ours, or its Gymnasium id; None if it has neither.

    >>> task_name(gymnasium.make("CartPole-v1"))
    'CartPole-v1'
    """
    if env.has_wrapper_attr("task_spec"):
        return str(env.get_wrapper_attr("task_spec").name)
    return env.spec.id if env.spec is not None else None
