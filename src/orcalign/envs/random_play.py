"""An environment watched while it is played at random, to learn what its observations and actions mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from orcalign.checks import require_count
from orcalign.envs.making import make
from orcalign.envs.seeds import train_seed
from orcalign.envs.suite import Env
from orcalign.envs.tasks import TaskSpec, find_task

Array: TypeAlias = npt.NDArray[np.float64]
Player: TypeAlias = Callable[[Array, int], Array]
"""The next action [A] from -1 to 1, given the observation [D] and the step."""

HELD = 8
"""Agent steps for which a random action is held at most: a hand that trembles on the spot shows little."""
EPISODES, STEPS = 30, 50
"""That are watched by default, some seconds of Meta-world."""


class Episode(NamedTuple):
    """What was seen and done."""

    states: Array
    """[T + 1, D]"""
    actions: Array
    """[T, A] From -1 to 1, whatever the environment's own range is."""


class Watched:
    """An environment without time in its observations, whose episodes can be played by anyone.

    >>> watched = Watched("nav2d")
    >>> episode = watched.random(0)
    >>> episode.states.shape, episode.actions.shape, watched.layout
    ((31, 3), (30, 2), {})
    """

    def __init__(self, task: str | TaskSpec, steps: int = STEPS) -> None:
        import gymnasium

        self.spec = replace(find_task(task), time=False)
        self.steps = min(require_count(steps, "steps", at_least=1), self.spec.agent_steps)
        self.env: Env = make(self.spec, render=None)
        space, seen = self.env.action_space, self.env.observation_space
        if not isinstance(space, gymnasium.spaces.Box) or len(space.shape) != 1 or not np.isfinite(space.high).all():
            raise ValueError(f"the actions are {space}; only a flat Box of numbers with limits can be watched.")
        if not isinstance(seen, gymnasium.spaces.Box) or len(seen.shape) != 1:
            raise ValueError(f"the observations are {seen}; only a row of numbers can be watched.")
        self.layout: Mapping[str, slice] = {}
        """Which part of a Dict observation is where."""
        if self.env.has_wrapper_attr("observation_layout"):
            self.layout = self.env.get_wrapper_attr("observation_layout")
        self._space: Any = space
        self.actions = int(space.shape[0])

    def random(self, number: int) -> Episode:
        """The random episode of that number: actions held for some steps, each as long as chance has it."""
        rng = np.random.default_rng(number)
        held: list[Any] = [np.zeros(self.actions), 0]

        def player(state: Array, step: int) -> Array:
            if held[1] == 0:
                held[:] = rng.uniform(-1, 1, self.actions), rng.integers(1, HELD + 1)
            held[1] -= 1
            return np.asarray(held[0])

        return self.play(number, player)

    def play(self, number: int, player: Player) -> Episode:
        """The episode of that number, shorter than `steps` where the environment ends it."""
        low, high = self._space.low, self._space.high
        state, _ = self.env.reset(seed=train_seed(number))
        states, actions = [np.asarray(state, np.float64)], []
        for step in range(self.steps):
            action = np.clip(player(states[-1], step), -1.0, 1.0)
            own = (low + (action + 1) / 2 * (high - low)).astype(self._space.dtype)
            state, _, terminated, truncated, _ = self.env.step(own)
            states.append(np.asarray(state, np.float64))
            actions.append(action)
            if terminated or truncated:
                break
        return Episode(np.stack(states), np.stack(actions))

    def close(self) -> None:
        """Close the environment."""
        self.env.close()


def watch(task: str | TaskSpec, episodes: int = EPISODES, steps: int = STEPS) -> list[Episode]:
    """Random episodes of a task, without time in their observations.

    >>> [len(episode.actions) for episode in watch("nav2d", 2, steps=7)]
    [7, 7]
    """
    watched = Watched(task, steps)
    try:
        return [watched.random(number) for number in range(require_count(episodes, "episodes", at_least=1))]
    finally:
        watched.close()
