"""Hold each action for several simulation steps."""

from __future__ import annotations

from typing import Any, final

import gymnasium


@final
class ActionRepeat(gymnasium.Wrapper[Any, Any, Any, Any]):
    """One agent step is `repeat` steps of the environment, fewer where the episode ends in between.

    Rewards are summed. Observation and info (with `info["success"]`) are those of the last of these steps: an
    agent step counts as successful if it leaves the world in success.

    >>> from orcalign.envs.nav2d import Nav2DGrid
    >>> env = ActionRepeat(Nav2DGrid(), 2)
    >>> _ = env.reset(seed=0)
    >>> env.step(1)[0][0].item()  # two cells to the right, of three
    0.6666666865348816
    """

    def __init__(self, env: gymnasium.Env[Any, Any], repeat: int = 2) -> None:
        if isinstance(repeat, bool) or not isinstance(repeat, int) or repeat < 1:
            raise ValueError(f"repeat is {repeat!r}; it must be a whole number of at least 1.")
        super().__init__(env)
        self.repeat = repeat

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Hold the action until the repeat is over or the episode ends."""
        total = 0.0
        for _ in range(self.repeat):
            observation, reward, terminated, truncated, info = self.env.step(action)
            total += float(reward)
            if terminated or truncated:
                break
        return observation, total, terminated, truncated, info
