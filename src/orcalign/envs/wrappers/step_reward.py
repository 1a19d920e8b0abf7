"""The video's reward at every step."""

from __future__ import annotations

from typing import Any, final

import gymnasium

from orcalign.envs.wrappers.compatibility import check_learner
from orcalign.rewards import VideoReward


@final
class StepReward(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Replaces the environment's reward by that of the frame after each action, known at once.

    For causal methods: the matchers "orca" and "orca_progress" with a context that does not look ahead (see
    `VideoReward.stream`). The frame after reset has no reward and is not part of the episode. The environment's own
    reward stays in `info["env_reward"]`, how far the demo was followed is in `info["progress"]`, and `info["success"]`
    is left as it is. Any reinforcement learning library can be put on top.

    Args:
        env: any environment that draws rgb_array.
        video_reward: what the demo pays.
        warn_other_task: warn if the demo shows another task.

    >>> from orcalign.envs import make, make_demo
    >>> demo, _ = make_demo("nav2d-grid", misaligned=True)
    >>> env = StepReward(make("nav2d-grid"), VideoReward(demo, encoder="pixels", context=1, temperature=0.1))
    >>> _ = env.reset(seed=0)
    >>> rewards = [env.step(env.unwrapped.expert_action())[1] for _ in range(8)]
    >>> rewards[0] < 0.01, rewards[-1] > 0.9
    (True, True)
    """

    def __init__(
        self, env: gymnasium.Env[Any, Any], video_reward: VideoReward, warn_other_task: bool = True
    ) -> None:
        check_learner(env, video_reward, warn_other_task)
        super().__init__(env)
        try:
            self.stream = video_reward.stream()
        except ValueError as error:
            raise ValueError(
                f"a reward at every step is not possible: {str(error).rstrip('.')}; "
                "or use EpisodeReward, which waits for the end of the episode."
            ) from None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin following the demo anew."""
        self.stream.reset()
        return self.env.reset(seed=seed, options=options)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Step, draw, and pay for the frame."""
        observation, env_reward, terminated, truncated, info = self.env.step(action)
        frame: Any = self.env.render()
        reward = self.stream.push(frame)
        added = {"env_reward": float(env_reward), "progress": self.stream.progress}
        return observation, reward, terminated, truncated, {**info, **added}
