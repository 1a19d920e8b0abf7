"""Rewards of the size that a learner expects, whatever the video."""

from __future__ import annotations

from collections import deque
from typing import Any, final

import numpy as np

from orcalign.checks import require_count, require_number
from orcalign.libraries.sb3 import VecEnv, VecNormalize


@final
class RunningScale(VecNormalize):
    """Multiplies rewards so that the latest episodes sum to about `target`, as `Staged` does once for a run's first.

    Stable-Baselines3 keeps rewards as they are paid, and has this object scale what it draws from its replay: a scale
    that moves holds for old and new alike. Put it outermost; `training = False` stops it.

    Args:
        venv: of any rewards, such as `VideoVecReward`.
        target: what an episode sums to.
        episodes: that many of the latest that paid anything are looked at.

    >>> from stable_baselines3.common.vec_env import DummyVecEnv
    >>> import orcalign
    >>> venv = RunningScale(DummyVecEnv([lambda: orcalign.make("nav2d", render=None)]), target=10)
    >>> venv.sums.extend([4.0, 6.0])
    >>> venv.scale, venv.normalize_reward(np.array([0.5])).tolist()
    (2.0, [1.0])
    """

    def __init__(self, venv: VecEnv, target: float = 10.0, episodes: int = 20) -> None:
        super().__init__(venv, norm_obs=False)
        self.target = require_number(target, "target", above=0)
        self.sums: deque[float] = deque(maxlen=require_count(episodes, "episodes", at_least=1))
        """|sum| of each of those episodes."""

    @property
    def scale(self) -> float:
        """What rewards are multiplied by now; 1 before an episode has paid anything."""
        return self.target / float(np.mean(self.sums)) if self.sums else 1.0

    def step_wait(self) -> Any:
        """Step, and scale."""
        step: Any = self.venv.step_wait()
        observations, rewards, dones, infos = step
        self.old_obs, self.old_reward = observations, rewards
        self.returns = self.returns + rewards
        ended = np.abs(self.returns[dones])
        self.returns[dones] = 0
        if self.training:
            self.sums.extend(ended[ended > 0].tolist())
        return observations, self.normalize_reward(rewards), dones, infos

    def normalize_reward(self, reward: Any) -> Any:
        """Rewards as they are learned from."""
        return np.asarray(reward * self.scale, np.float32)

    def unnormalize_reward(self, reward: Any) -> Any:
        """Rewards as they were paid."""
        return reward / self.scale
