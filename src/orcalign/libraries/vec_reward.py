"""The reward of each step in the place of the environments', for all environments of a Stable-Baselines3 `VecEnv`."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from orcalign.envs.wrappers.frames import FrameInfo
from orcalign.envs.wrappers.rewards import check_demos, step_stream
from orcalign.libraries.sb3 import VecEnv, VecEnvWrapper
from orcalign.rewards import Reward, push_each


@final
class VideoVecReward(VecEnvWrapper):
    """`StepReward` for many environments at once: their frames of a step are encoded together.

    The rewards are bit for bit those of a `StepReward` around each environment, and `infos` hold the same: the
    environment's own reward in `env_reward`, how the demo is followed in `progress` and `coverage`. An episode that
    ends is paid for its last frame, though the environment has begun the next one by then: for that, each environment
    has to be wrapped in `FrameInfo`, which puts the frame in `info["frame"]`.

    Args:
        venv: of environments in `FrameInfo`, as in `DummyVecEnv([lambda: FrameInfo(orcalign.make("door-close"))] * 8)`
            or `make_vec_env(…, wrapper_class=FrameInfo)`. Without need where the reward sees no frames.
        reward: one that has a stream (see `StepReward`).
        warn_other_task: warn of another task's demo.

    >>> from stable_baselines3.common.vec_env import DummyVecEnv
    >>> import orcalign
    >>> from orcalign.envs import make_demo
    >>> demo, _ = make_demo("nav2d", misaligned=True)
    >>> reward = orcalign.VideoReward(demo, encoder="pixels", context=1, temperature=0.1)
    >>> venv = DummyVecEnv([lambda k=k: FrameInfo(orcalign.make("nav2d", seed=k)) for k in range(3)])
    >>> venv = VideoVecReward(venv, reward)
    >>> venv.reset().shape
    (3, 4)
    >>> _, rewards, _, infos = venv.step(np.zeros((3, 2)))
    >>> rewards.shape, sorted({"progress", "coverage", "env_reward", "frame"} & set(infos[0]))
    ((3,), ['coverage', 'env_reward', 'frame', 'progress'])
    """

    def __init__(self, venv: VecEnv, reward: Reward, warn_other_task: bool = True) -> None:
        super().__init__(venv)
        if reward.need.frames and not all(venv.env_is_wrapped(FrameInfo)):
            raise ValueError(
                "the reward sees frames, and the environments do not hand them over; wrap each of them in "
                "orcalign.envs.FrameInfo before they are put together."
            )
        drawn = venv.get_attr("learner_render")[0] if venv.has_attr("learner_render") else None
        task = venv.get_attr("task_spec")[0].name if venv.has_attr("task_spec") else None
        check_demos(reward, drawn, task, warn_other_task)
        self.streams = [step_stream(reward) for _ in range(self.num_envs)]

    def reset(self) -> Any:
        """Begin an episode everywhere."""
        observations = self.venv.reset()
        for k in range(self.num_envs):
            self._begin(k, observations)
        return observations

    def step_async(self, actions: Any) -> None:
        """Keep the actions for the reward."""
        self._actions = actions
        super().step_async(actions)

    def step_wait(self) -> Any:
        """Step, encode what all environments have drawn, and pay."""
        observations, env_rewards, dones, infos = self.venv.step_wait()
        states = [
            info.get("state", info["terminal_observation"] if done else _of(observations, k))
            for k, (done, info) in enumerate(zip(dones, infos, strict=True))
        ]
        frames = [info.get("frame") for info in infos]
        rewards = push_each(self.streams, frames, states, list(self._actions))
        for k, (stream, info) in enumerate(zip(self.streams, infos, strict=True)):
            info.update(env_reward=float(env_rewards[k]), **stream.followed)
            if dones[k]:
                self._begin(k, observations)
        return observations, np.array(rewards, np.float32), dones, infos

    def _begin(self, k: int, observations: Any) -> None:
        # The wrappers in between have lists of their own, which nobody fills.
        info = self.unwrapped.reset_infos[k]
        self.streams[k].reset(info.get("state", _of(observations, k)))


def _of(observations: Any, k: int) -> Any:
    """Of one environment; a Dict of arrays is a dict."""
    if isinstance(observations, dict):
        return {name: one[k] for name, one in observations.items()}
    return observations[k]
