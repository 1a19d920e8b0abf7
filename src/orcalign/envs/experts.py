"""Scripted experts, and what they do in an episode.

An expert acts at every simulation step, as in the paper, where every second frame of its episode is kept.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Protocol, final

import gymnasium
import numpy as np
import numpy.typing as npt

from orcalign.envs.build import build
from orcalign.envs.making import check_render_choice, with_frames
from orcalign.envs.spec import TaskSpec
from orcalign.envs.tasks import find_task


class Expert(Protocol):
    """Acts on the bare environment's observation; one expert plays one episode."""

    def act(self, observation: npt.NDArray[Any], success: bool) -> Any:
        """The next action, given the observation and whether the last step reported success."""


@final
class MetaworldExpert:
    """Meta-world's script for a task; float32 [4] from -1 to 1.

    >>> expert = MetaworldExpert(find_task("door-close"))
    >>> expert.act(np.zeros(39), success=False).shape
    (4,)
    """

    def __init__(self, spec: TaskSpec) -> None:
        from metaworld.policies import ENV_POLICY_MAP

        script: Any = ENV_POLICY_MAP[spec.env_id]
        self._policy = script()
        self._stops, self._stopped = spec.expert_stops, False

    def act(self, observation: npt.NDArray[Any], success: bool) -> npt.NDArray[np.float32]:
        """Follow the script; where the task says so, rest after the first success."""
        self._stopped |= self._stops and success
        if self._stopped:
            return np.zeros(4, np.float32)
        with warnings.catch_warnings():
            # The scripts ask for more than full speed and say so at every step; the action is clipped.
            warnings.filterwarnings("ignore", message=r"Constant\(s\) may be too high")
            # A copy, because some scripts write into what they are given.
            action = self._policy.get_action(observation[:39].copy())
        return np.asarray(np.clip(action, -1.0, 1.0), np.float32)


@final
class Nav2DExpert:
    """To one subgoal after the other."""

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        self._env: Any = env.unwrapped

    def act(self, observation: npt.NDArray[Any], success: bool) -> Any:
        """The straightest way."""
        return self._env.expert_action()


def make_expert(task: str | TaskSpec, env: gymnasium.Env[Any, Any]) -> Expert:
    """A fresh expert for one episode of `env`, which must be an environment of the task.

    >>> env, _ = build(find_task("nav2d-grid"))
    >>> _ = env.reset(seed=0)
    >>> make_expert("nav2d-grid", env).act(np.zeros(3), success=False)
    1
    """
    spec = find_task(task)
    if spec.suite == "metaworld":
        return MetaworldExpert(spec)
    if spec.suite == "nav2d":
        return Nav2DExpert(env)
    raise ValueError(
        f"there is no scripted expert for {spec.name!r}; record a video of the task and use that as the demo: "
        "orcalign demo import VIDEO --out DIR."
    )


@dataclass(frozen=True, eq=False)
class Episode:
    """What an expert did; entry t belongs to the world after agent step t + 1, so that after reset is not in it."""

    task: str
    seed: int
    frames: npt.NDArray[np.uint8] | None
    """uint8 [T,H,W,3]; None if it was played without pictures."""
    observations: npt.NDArray[Any]
    """[T, D] Of the bare environment, without time."""
    actions: npt.NDArray[Any]
    """[S, A] (or [S]), one for each of the S simulation steps."""
    success: npt.NDArray[np.bool_]
    """[T]"""

    def __len__(self) -> int:
        return len(self.success)

    @property
    def total(self) -> int:
        """The return: agent steps that report success."""
        return int(self.success.sum())

    @property
    def succeeded(self) -> bool:
        """Whether any agent step reports success."""
        return bool(self.success.any())


def rollout_expert(
    task: str | TaskSpec, seed: int = 0, render: str | None = None, size: int | None = None
) -> Episode:
    """Play the expert's episode of that environment seed; frames only where `render` names a mode.

    >>> episode = rollout_expert("nav2d-grid", seed=0, render="fast")
    >>> episode.frames.shape, episode.total
    ((16, 64, 64, 3), 9)
    """
    check_render_choice(render)
    env, spec = build(find_task(task), pictures=render is not None, size=size)
    if render is not None:
        env = with_frames(env, spec, render, size)
    try:
        return play(make_expert(spec, env), env, spec, seed, render is not None)
    finally:
        env.close()


def play(expert: Expert, env: gymnasium.Env[Any, Any], spec: TaskSpec, seed: int, pictures: bool) -> Episode:
    """One episode of `expert` on the bare environment, looked at after every agent step."""
    observation, _ = env.reset(seed=seed)
    frames: list[Any] = []
    observations, actions, successes = [], [], []
    done = success = False
    while not done:
        for _ in range(spec.action_repeat):
            action = expert.act(observation, success)
            actions.append(action)
            observation, _, terminated, truncated, info = env.step(action)
            success, done = bool(info["success"]), terminated or truncated
            if done:
                break
        observations.append(observation)
        successes.append(success)
        if pictures:
            frames.append(env.render())
    return Episode(
        spec.name,
        seed,
        np.stack(frames) if pictures else None,
        np.stack(observations),
        np.stack(actions),
        np.array(successes),
    )
