"""Tell the policy how much of the episode has passed."""

from __future__ import annotations

from typing import Any, final

import gymnasium
import numpy as np
import numpy.typing as npt


@final
class TimeFraction(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Appends t / T to a flat observation [D], giving [D + 1]: 0 after reset, 1 after `steps` agent steps.

    >>> from orcalign.envs.nav2d import Nav2DGrid
    >>> env = TimeFraction(Nav2DGrid(), steps=16)
    >>> env.reset(seed=0)[0].tolist(), env.step(0)[0].tolist(), env.observation_space.shape
    ([0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0625], (4,))
    """

    def __init__(self, env: gymnasium.Env[Any, Any], steps: int) -> None:
        if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
            raise ValueError(f"steps is {steps!r}; it must be the agent steps of an episode, at least 1.")
        space = env.observation_space
        if not isinstance(space, gymnasium.spaces.Box) or len(space.shape) != 1 or space.dtype.kind != "f":
            raise ValueError(
                f"observations are {space}; time can be appended to a flat Box of floats only: "
                "flatten them first (gymnasium.wrappers.FlattenObservation)."
            )
        super().__init__(env)
        self.steps = steps
        self.observation_space = gymnasium.spaces.Box(
            np.append(space.low, 0.0).astype(space.dtype), np.append(space.high, 1.0).astype(space.dtype),
            dtype=space.dtype.type,
        )  # fmt: skip
        self._done = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[npt.NDArray[Any], dict[str, Any]]:
        """Time starts at 0."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._done = 0
        return self._with_time(observation), info

    def step(self, action: Any) -> tuple[npt.NDArray[Any], Any, bool, bool, dict[str, Any]]:
        """Time moves on by 1 / T, and stays at 1 if the episode should last longer."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._done += 1
        return self._with_time(observation), reward, terminated, truncated, info

    def _with_time(self, observation: npt.NDArray[Any]) -> npt.NDArray[Any]:
        share = min(1.0, self._done / self.steps)
        return np.append(observation, share).astype(observation.dtype)
