"""The video's reward of a whole episode, at its end."""

from __future__ import annotations

from typing import Any, final

import gymnasium
import numpy as np
import numpy.typing as npt

from orcalign.envs.wrappers.compatibility import check_learner
from orcalign.rewards import VideoMatch, VideoReward


@final
class EpisodeReward(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Rewards from any method, given when the episode ends and all its frames are known.

    Every step before the last pays 0. The last step pays the sum, so an episode's return is the video's; and
    its info holds `episode_rewards`, float64 [T], one for the frame after each action, the terminal one
    included: a loop that stores whole episodes puts these in the place of what the steps paid.
    `last_match` has costs and assignment of the episode that ended last. The environment's own reward stays in
    `info["env_reward"]`, and `info["success"]` is left as it is.

    Args:
        env: any environment that draws rgb_array.
        video_reward: what the demo pays.
        warn_other_task: warn if the demo shows another task.

    >>> from orcalign.envs import make, make_demo
    >>> demo, _ = make_demo("nav2d-grid")
    >>> env = EpisodeReward(make("nav2d-grid"), VideoReward(demo, encoder="pixels", matcher="dtw"))
    >>> _ = env.reset(seed=0)
    >>> steps = [env.step(0) for _ in range(16)]
    >>> steps[3][1], steps[15][4]["episode_rewards"].shape
    (0.0, (16,))
    """

    def __init__(
        self, env: gymnasium.Env[Any, Any], video_reward: VideoReward, warn_other_task: bool = True
    ) -> None:
        check_learner(env, video_reward, warn_other_task)
        super().__init__(env)
        self.video_reward = video_reward
        self.last_match: VideoMatch | None = None
        self._frames: list[npt.NDArray[np.uint8]] = []

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Forget the frames of an episode that did not end."""
        self._frames.clear()
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Step and keep the frame; at the end of the episode pay for all of them."""
        observation, env_reward, terminated, truncated, info = self.env.step(action)
        frame: Any = self.env.render()
        self._frames.append(np.array(frame))
        info = {**info, "env_reward": float(env_reward)}
        if not (terminated or truncated):
            return observation, 0.0, terminated, truncated, info
        self.last_match = self.video_reward(np.stack(self._frames))
        self._frames.clear()
        info["episode_rewards"] = self.last_match.reward.copy()
        return observation, self.last_match.total, terminated, truncated, info
