"""The bare environment of a task, one simulation step a step."""

from __future__ import annotations

import inspect
import sys
from dataclasses import replace
from typing import Any

import gymnasium

from orcalign.envs.registration import register
from orcalign.envs.spec import TaskSpec
from orcalign.envs.tasks import task_function


def build(
    spec: TaskSpec, pictures: bool = False, size: int | None = None
) -> tuple[gymnasium.Env[Any, Any], TaskSpec]:
    """The environment, and its task with the episode length that it really has.

    Args:
        spec: the task.
        pictures: whether it will have to draw.
        size: side of the pictures, where the environment can choose it.

    >>> from orcalign.envs.tasks import find_task
    >>> env, spec = build(find_task("nav2d"))
    >>> spec.episode_steps
    30
    """
    if spec.suite == "metaworld":
        from orcalign.envs.metaworld import MetaworldEnv

        return MetaworldEnv(spec), spec
    if spec.suite == "function":
        return _call(spec, pictures)
    register()
    settings: dict[str, Any] = dict(spec.settings)
    if spec.suite == "nav2d" and size is not None:
        settings["size"] = size
    mode = "rgb_array" if pictures else None
    if pictures and spec.suite == "gymnasium" and _is_mujoco(spec.env_id):
        mode = None  # drawn by our own renderer
    try:
        made = gymnasium.make(
            spec.env_id, max_episode_steps=spec.episode_steps, render_mode=mode,
            disable_env_checker=True, **settings,
        )  # fmt: skip
    except gymnasium.error.Error as error:
        raise ValueError(
            f"the environment {spec.env_id!r} cannot be made: {str(error).rstrip('.')}."
        ) from None
    return made, spec


def simulation(env: gymnasium.Env[Any, Any]) -> tuple[Any, Any] | None:
    """The MjModel and MjData of an environment that has them; None of any other.

    >>> simulation(gymnasium.make("CartPole-v1")) is None
    True
    """
    mujoco = sys.modules.get("mujoco")
    if mujoco is None:
        return None
    model, data = (getattr(env.unwrapped, name, None) for name in ("model", "data"))
    if isinstance(model, mujoco.MjModel) and isinstance(data, mujoco.MjData):
        return model, data
    return None


def _is_mujoco(env_id: str) -> bool:
    return str(gymnasium.spec(env_id).entry_point).startswith("gymnasium.envs.mujoco")


def _call(spec: TaskSpec, pictures: bool) -> tuple[gymnasium.Env[Any, Any], TaskSpec]:
    function = task_function(spec.env_id)
    if function is None:
        raise ValueError(f"task {spec.name!r} names no function; give module:function.")
    try:
        takes_mode = "render_mode" in inspect.signature(function).parameters
    except ValueError:  # some callables have no signature
        takes_mode = False
    given = dict(spec.settings)
    env = function(**given, render_mode="rgb_array") if pictures and takes_mode else function(**given)
    if not isinstance(env, gymnasium.Env):
        raise ValueError(f"{spec.env_id!r} returned a {type(env).__name__}; it must return a gymnasium.Env.")
    limit = env.spec.max_episode_steps if env.spec is not None else None
    if limit is None or limit > spec.episode_steps:
        return gymnasium.wrappers.TimeLimit(env, spec.episode_steps), spec
    return env, replace(spec, episode_steps=limit)
