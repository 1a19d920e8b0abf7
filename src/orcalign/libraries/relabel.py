"""Replay buffers for rewards that are known when the episode has ended, and then for each of its steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np

from orcalign.libraries.sb3 import DictReplayBuffer, ReplayBuffer

if TYPE_CHECKING:
    _Buffer = ReplayBuffer
else:
    _Buffer = object


class _Relabels(_Buffer):
    """Where `info["episode_rewards"]` [T] comes at the end of an episode, its last T steps are given those rewards.

    Steps of an episode that goes on are not drawn: nobody knows yet what they earn.
    """

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self._open = np.zeros((self.buffer_size, self.n_envs), bool)
        """Steps whose episode goes on."""
        self._steps = np.zeros(self.n_envs, np.int64)
        """So far, of the episode that goes on."""

    def add(self, obs: Any, next_obs: Any, action: Any, reward: Any, done: Any, infos: list[dict[str, Any]]) -> None:
        """Keep a step of each environment."""
        self._open[self.pos] = True
        super().add(obs, next_obs, action, reward, done, infos)
        self._steps += 1
        for k in np.flatnonzero(done):
            # Of an episode that is longer than the buffer, the beginning is gone.
            kept = min(int(self._steps[k]), self.buffer_size)
            places = (self.pos - kept + np.arange(kept)) % self.buffer_size
            rewards = infos[k].get("episode_rewards")
            if rewards is not None:
                if len(rewards) != self._steps[k]:
                    raise ValueError(
                        f"environment {k} gave {len(rewards)} rewards for an episode of {self._steps[k]} steps; put "
                        "EpisodeReward outside of what repeats or skips steps."
                    )
                self.rewards[places, k] = rewards[-kept:]
            self._open[places, k] = False
            self._steps[k] = 0

    def sample(self, batch_size: int, env: Any = None) -> Any:
        """Steps of episodes that have ended; the buffer draws the environment, so they have to have ended in each."""
        there = self.buffer_size if self.full else self.pos
        ended = np.flatnonzero(~self._open[:there].any(1))
        if len(ended) == 0:
            raise ValueError(
                "no episode has ended yet, and there is nothing to learn from; let learning_starts be more than the "
                "steps of an episode in every environment."
            )
        # The generator that Stable-Baselines3 seeds.
        return self._get_samples(ended[np.random.randint(0, len(ended), batch_size)], env=env)  # noqa: NPY002


@final
class RelabelReplayBuffer(_Relabels, ReplayBuffer):
    """For rewards that are known at the end of the episode only: `EpisodeReward` around each environment pays it all
    there, and this puts every reward where it belongs before anything is learned from it.

    Give it to any off-policy algorithm: `SAC("MlpPolicy", venv, replay_buffer_class=RelabelReplayBuffer)`. The scale of
    `RunningScale` holds for relabelled rewards, too.

    >>> import gymnasium
    >>> box = gymnasium.spaces.Box(-1, 1, (1,))
    >>> buffer, zero = RelabelReplayBuffer(8, box, box, "cpu"), np.zeros((1, 1))
    >>> for t in range(3):
    ...     ends = {"episode_rewards": np.array([0.5, 0.0, 2.0])} if t == 2 else {}
    ...     buffer.add(zero, zero, zero, np.zeros(1), np.array([t == 2]), [ends])
    >>> buffer.rewards[:3, 0].tolist()
    [0.5, 0.0, 2.0]
    """


@final
class RelabelDictReplayBuffer(_Relabels, DictReplayBuffer):
    """The same for observations that are a Dict."""
