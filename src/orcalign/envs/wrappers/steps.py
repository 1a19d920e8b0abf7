"""Agent steps: actions held, time told, episodes counted."""

from __future__ import annotations

from typing import Any, final

import gymnasium
import numpy as np
import numpy.typing as npt

from orcalign.checks import require_count
from orcalign.envs.seeds import train_seed
from orcalign.envs.suite import Env, Reset, Step
from orcalign.envs.tasks import TaskSpec


@final
class ActionRepeat(gymnasium.Wrapper[Any, Any, Any, Any]):
    """One agent step is `repeat` steps of the environment, fewer where the episode ends in between.

    Rewards are summed. Observation and info (with `info["success"]`) are those of the last of these steps: an
    agent step counts as successful if it leaves the world in success; `info["successes"]` has all of them.

    >>> from orcalign.envs.nav2d.env import Nav2DGrid
    >>> env = ActionRepeat(Nav2DGrid(), 2)
    >>> _ = env.reset(seed=0)
    >>> env.step(1)[0][0].item()  # two cells to the right, of three
    0.6666666865348816
    """

    def __init__(self, env: Env, repeat: int = 2) -> None:
        super().__init__(env)
        self.repeat = require_count(repeat, "repeat", at_least=1)

    def step(self, action: Any) -> Step:
        """Hold the action until the repeat is over or the episode ends."""
        total, successes = 0.0, []
        for _ in range(self.repeat):
            observation, reward, terminated, truncated, info = self.env.step(action)
            total += float(reward)
            successes.append(bool(info.get("success", False)))
            if terminated or truncated:
                break
        return observation, total, terminated, truncated, {**info, "successes": successes}


@final
class TimeFraction(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Appends t / T to a flat observation [D], giving [D + 1]: 0 after reset, 1 after `steps` agent steps.

    >>> from orcalign.envs.nav2d.env import Nav2DGrid
    >>> env = TimeFraction(Nav2DGrid(), steps=16)
    >>> env.reset(seed=0)[0].tolist(), env.step(0)[0].tolist(), env.observation_space.shape
    ([0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0625], (4,))
    """

    def __init__(self, env: Env, steps: int) -> None:
        self.steps = require_count(steps, "steps, the agent steps of an episode,", at_least=1)
        space = env.observation_space
        if not isinstance(space, gymnasium.spaces.Box) or len(space.shape) != 1 or space.dtype.kind != "f":
            raise ValueError(
                f"observations are {space}; time can be appended to a flat Box of floats only: "
                "flatten them first (gymnasium.wrappers.FlattenObservation)."
            )
        super().__init__(env)
        self.observation_space = gymnasium.spaces.Box(
            np.append(space.low, 0.0).astype(space.dtype), np.append(space.high, 1.0).astype(space.dtype),
            dtype=space.dtype.type,
        )  # fmt: skip
        self._done = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Reset:
        """Time starts at 0."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._done = 0
        return self._with_time(observation), info

    def step(self, action: Any) -> Step:
        """Time moves on by 1 / T, and stays at 1 if the episode should last longer."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._done += 1
        return self._with_time(observation), reward, terminated, truncated, info

    def _with_time(self, observation: npt.NDArray[Any]) -> npt.NDArray[Any]:
        share = min(1.0, self._done / self.steps)
        return np.append(observation, share).astype(observation.dtype)


@final
class TaskEnv(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Outermost: knows its `task_spec`; `reset()` without a seed plays training episode after training episode.

    `reset(seed=s)` plays exactly the episode s, and the unseeded resets after it are those of the run s, from its
    first on. `info["seed"]` of a reset is the seed of the episode, which alone plays it again.

    >>> from orcalign.envs import make, train_seed
    >>> env = make("nav2d", render=None, seed=3)
    >>> [env.reset()[1]["seed"] for _ in range(2)] == [train_seed(0, run=3), train_seed(1, run=3)]
    True
    """

    def __init__(self, env: Env, spec: TaskSpec, run: int) -> None:
        super().__init__(env)
        train_seed(0, run)
        self.task_spec = spec
        self._run, self._episodes = run, 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Reset:
        """Begin the episode `seed`, or the next training episode."""
        if seed is None:
            episode = train_seed(self._episodes, self._run)
            self._episodes += 1
        else:
            episode, self._run, self._episodes = seed, seed, 0
        observation, info = self.env.reset(seed=episode, options=options)
        return observation, {**info, "seed": episode}
