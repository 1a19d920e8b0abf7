"""An environment whose episodes are turned about the vertical, so that the goal lies ahead of the object."""

from __future__ import annotations

from typing import Any, final

import gymnasium
import numpy as np
import numpy.typing as npt

from orcalign.costs.predicted.turning import Turning
from orcalign.envs.suite import Env, Reset, Step


@final
class Turned(gymnasium.Wrapper[Any, Any, Any, Any]):
    """The policy sees and acts in a turned world; what is drawn stays as it is, and `info["state"]` is what the
    environment observes.

    Args:
        env: with a flat observation and a flat Box of actions.
        turning: what is turned. `turning_of` of `orcalign.envs.cartesian` finds whether actions allow it.

    >>> from orcalign.envs import entities_of, make
    >>> env = Turned(make("push", render=None), Turning(entities_of("push")))
    >>> seen, info = env.reset(seed=1)
    >>> object, goal = seen[4:6], seen[36:38]
    >>> float((goal - object).round(6)[1]), bool(goal[0] > object[0]), bool((info["state"][4:6] != object).any())
    (0.0, True, True)
    """

    def __init__(self, env: Env, turning: Turning) -> None:
        super().__init__(env)
        space: Any = env.observation_space
        turning.entities.check(space.shape[0])
        self.turning = turning
        # What is turned may leave the box that it was in.
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, space.shape, dtype=space.dtype.type)
        self._first: npt.NDArray[Any] = np.zeros(space.shape)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Reset:
        """Turn the world of this episode."""
        state, info = self.env.reset(seed=seed, options=options)
        self._first = np.array(state)
        return self._seen(state), {**info, "state": state}

    def step(self, action: npt.NDArray[Any]) -> Step:
        """The action turned back, and what follows turned."""
        space: Any = self.env.action_space
        half, middle = (space.high - space.low) / 2, (space.high + space.low) / 2
        own = self.turning.action((np.asarray(action, np.float64) - middle) / half, self._first) * half + middle
        state, reward, terminated, truncated, info = self.env.step(own.astype(space.dtype))
        return self._seen(state), reward, terminated, truncated, {**info, "state": state}

    def _seen(self, state: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return self.turning.observation(state, self._first).astype(state.dtype)
