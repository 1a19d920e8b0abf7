"""Pictures as observations."""

from __future__ import annotations

from collections import deque
from typing import Any, final

import gymnasium
import numpy as np
import numpy.typing as npt

from orcalign.envs.wrappers.frames import Frames, check_draws


@final
class StackedPixels(gymnasium.Wrapper[Any, Any, Any, Any]):
    """The last `stack` frames as observation, uint8 [3*stack, size, size], the newest last.

    After reset the first frame fills all places. What the environment itself observes is in `info["state"]`.

    >>> from orcalign.envs.nav2d import Nav2D
    >>> env = StackedPixels(Nav2D(render_mode="rgb_array"))
    >>> observation, info = env.reset(seed=0)
    >>> observation.shape, observation.dtype, info["state"].shape
    ((9, 84, 84), dtype('uint8'), (3,))
    """

    def __init__(self, env: gymnasium.Env[Any, Any], size: int = 84, stack: int = 3) -> None:
        for name, value in (("size", size), ("stack", stack)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} is {value!r}; it must be a whole number of at least 1.")
        check_draws(env)
        # One frame a step serves policy and reward: without it the reward would draw a second time.
        super().__init__(env if env.has_wrapper_attr("frames_drawn") else Frames(env))
        self.size, self.stack = size, stack
        self.observation_space = gymnasium.spaces.Box(0, 255, (3 * stack, size, size), np.uint8)
        self._recent: deque[npt.NDArray[np.uint8]] = deque(maxlen=stack)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[npt.NDArray[np.uint8], dict[str, Any]]:
        """Draw the first frame."""
        state, info = self.env.reset(seed=seed, options=options)
        self._recent.extend([self._small()] * self.stack)
        return np.concatenate(self._recent), {**info, "state": state}

    def step(self, action: Any) -> tuple[npt.NDArray[np.uint8], Any, bool, bool, dict[str, Any]]:
        """Draw the next frame."""
        state, reward, terminated, truncated, info = self.env.step(action)
        self._recent.append(self._small())
        return np.concatenate(self._recent), reward, terminated, truncated, {**info, "state": state}

    def _small(self) -> npt.NDArray[np.uint8]:
        from orcalign.encoders.resize import resize

        frame: Any = self.env.render()
        return np.ascontiguousarray(resize(np.asarray(frame)[None], self.size)[0].transpose(2, 0, 1))
