"""Scripted experts, and what they do in an episode.

An expert acts at every simulation step, as in the paper, where every second frame of its episode is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from orcalign.checks import require
from orcalign.envs.making import check_render_choice
from orcalign.envs.suite import Env, find_suite
from orcalign.envs.tasks import TaskSpec, episode_return, find_task
from orcalign.video.demo import Render

DEMO_ENDS = ("hold", "script")
"""What is done after the first success: the hand holds what it has done, or the script goes on as it was shipped."""
Expert: TypeAlias = Callable[[npt.NDArray[Any], bool], Any]
"""Plays one episode: the next action, given the bare environment's observation and whether the last step reported
success."""


@dataclass(frozen=True, eq=False)
class Episode:
    """What an expert did; entry t belongs to the world after agent step t + 1, so that after reset is not in it."""

    spec: TaskSpec
    seed: int
    frames: npt.NDArray[np.uint8] | None
    """uint8 [T,H,W,3]; None if it was played without pictures."""
    observations: npt.NDArray[Any]
    """[T, D] Of the bare environment, without time."""
    actions: npt.NDArray[Any]
    """[S, A] (or [S]), one for each of the S simulation steps."""
    success: npt.NDArray[np.bool_]
    """[T]"""
    render: Render = "unknown"
    """How the frames were drawn."""

    def __len__(self) -> int:
        return len(self.success)

    @property
    def total(self) -> float:
        """The return, as the task's suite counts it."""
        return episode_return(self.spec, self.success)

    @property
    def succeeded(self) -> bool:
        """Whether any agent step reports success."""
        return bool(self.success.any())


def rollout_expert(
    task: str | TaskSpec, seed: int = 0, render: str | None = None, size: int | None = None, end: str = "script"
) -> Episode:
    """The expert's episode of that environment seed, as its suite records it; frames only where `render` names a mode.

    It ends as the script ends it, which returns are normalised by; with end="hold" as a demo does (`DEMO_ENDS`).

    >>> episode = rollout_expert("nav2d-grid", seed=0, render="fast")
    >>> episode.frames.shape, episode.total
    ((16, 64, 64, 3), 9)
    """
    check_render_choice(render)
    spec = find_task(task)
    require("end", end, DEMO_ENDS)
    suite = find_suite(spec.suite)
    return (suite.demonstrate if end == "hold" else suite.record)(spec, seed, render, size)


def play(expert: Expert, env: Env, spec: TaskSpec, seed: int, pictures: bool) -> Episode:
    """One episode of `expert` on the bare environment, looked at after every agent step."""
    observation, _ = env.reset(seed=seed)
    frames: list[Any] = []
    observations, actions, successes = [], [], []
    done = success = False
    while not done:
        for _ in range(spec.action_repeat):
            action = expert(observation, success)
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
        spec,
        seed,
        np.stack(frames) if pictures else None,
        np.stack(observations),
        np.stack(actions),
        np.array(successes),
        env.get_wrapper_attr("learner_render") if pictures else "unknown",
    )
