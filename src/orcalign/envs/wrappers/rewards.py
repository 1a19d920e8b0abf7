"""Another reward in the place of the environment's: at every step, or at the end of the episode."""

from __future__ import annotations

import warnings
from typing import Any, final

import gymnasium
import numpy as np

from orcalign.envs.suite import Env, Reset, Step
from orcalign.envs.wrappers.frames import check_draws
from orcalign.rewards import Evidence, Reward, Rollout, Stream
from orcalign.rewards.demos import check_render
from orcalign.video.demo import Render


class OtherTaskWarning(UserWarning):
    """The demo shows another task than the environment is."""


def check_learner(env: Env, reward: Reward, warn_other_task: bool) -> None:
    """Refuse an env that draws nothing though the reward needs frames, or draws otherwise than the demo; warn if it is
    another task than the demo's."""
    if reward.need.frames:
        check_draws(env)
    drawn = env.get_wrapper_attr("learner_render") if env.has_wrapper_attr("learner_render") else None
    task = env.spec.id if env.spec is not None else None
    if env.has_wrapper_attr("task_spec"):
        task = env.get_wrapper_attr("task_spec").name
    check_demos(reward, drawn, task, warn_other_task)


def check_demos(reward: Reward, drawn: Render | None, task: str | None, warn_other_task: bool) -> None:
    """The same of a learner that is `drawn` in that way, if this is known, and does that task."""
    if drawn is not None:
        check_render(reward.demos, drawn)
    for k, demo in enumerate(reward.demos):
        if warn_other_task and task is not None and demo.task is not None and demo.task != task:
            warnings.warn(
                f"demo {k} ({demo.source}) shows the task {demo.task!r} and the environment is {task!r}; "
                "if that is meant, pass warn_other_task=False.",
                OtherTaskWarning,
                stacklevel=5,
            )


def step_stream(reward: Reward) -> Stream:
    """The reward at every step, or a ValueError that says what to use instead."""
    try:
        return reward.stream()
    except ValueError as error:
        raise ValueError(
            f"a reward at every step is not possible: {str(error).rstrip('.')}; "
            "or use EpisodeReward, which waits for the end of the episode."
        ) from None


@final
class StepReward(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Replaces the environment's reward by that of each step, known at once.

    For rewards that have a stream: of videos, the matchers "orca" and "orca_progress" with a context that does not look
    ahead (see `VideoReward.stream`). What was before the first action has no reward and is not part of the episode. The
    environment's own reward stays in `info["env_reward"]`, how the demo was followed is in `info["progress"]` and
    `info["coverage"]`, and `info["success"]` is left as it is. Any reinforcement learning library can be put on top.
    Where the reward needs frames the environment has to draw rgb_array; `warn_other_task` warns of another task's demo.

    >>> from orcalign.envs import make, make_demo
    >>> from orcalign.rewards import VideoReward
    >>> demo, _ = make_demo("nav2d-grid", misaligned=True)
    >>> env = StepReward(make("nav2d-grid"), VideoReward(demo, encoder="pixels", context=1, temperature=0.1))
    >>> _ = env.reset(seed=0)
    >>> rewards = [env.step(env.unwrapped.expert_action())[1] for _ in range(8)]
    >>> rewards[0] < 0.01, rewards[-1] > 0.9
    (True, True)
    """

    def __init__(self, env: Env, reward: Reward, warn_other_task: bool = True) -> None:
        check_learner(env, reward, warn_other_task)
        super().__init__(env)
        self._draws = reward.need.frames > 0
        self.stream = step_stream(reward)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Reset:
        """Begin following the demo anew."""
        observation, info = self.env.reset(seed=seed, options=options)
        self.stream.reset(_state(observation, info))
        return observation, info

    def step(self, action: Any) -> Step:
        """Step, draw if that is needed, and pay."""
        observation, env_reward, terminated, truncated, info = self.env.step(action)
        frame: Any = self.env.render() if self._draws else None
        reward = self.stream.push(frame, _state(observation, info), action)
        added = {"env_reward": float(env_reward), **self.stream.followed}
        return observation, reward, terminated, truncated, {**info, **added}


@final
class EpisodeReward(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Pays 0 until the episode ends, and then everything: any reward, also those that have to see the end first.

    The last step's reward is the sum over the episode; the rewards of all its steps [T] are in
    `info["episode_rewards"]`, for learners that can put them back where they belong, and how the demo was followed is
    in `info` by name. Everything else is as in `StepReward`.

    >>> from orcalign.envs import make, make_demo
    >>> from orcalign.rewards import VideoReward
    >>> demo, _ = make_demo("nav2d-grid", misaligned=True)
    >>> env = EpisodeReward(make("nav2d-grid"), VideoReward(demo, encoder="pixels", matcher="temporal_ot"))
    >>> _ = env.reset(seed=0)
    >>> steps = [env.step(env.unwrapped.expert_action()) for _ in range(16)]
    >>> [step[1] for step in steps[:-1]] == [0.0] * 15, steps[-1][1] == steps[-1][4]["episode_rewards"].sum()
    (True, np.True_)
    """

    def __init__(self, env: Env, reward: Reward, warn_other_task: bool = True) -> None:
        check_learner(env, reward, warn_other_task)
        super().__init__(env)
        self.reward = reward
        self._episodes = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Reset:
        """Forget what was seen of an episode that did not end."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._frames: list[Any] = []
        self._actions: list[Any] = []
        self._states = [_state(observation, info)]
        return observation, info

    def step(self, action: Any) -> Step:
        """Step and keep what the reward needs; at the end of the episode pay for all of it."""
        observation, env_reward, terminated, truncated, info = self.env.step(action)
        need = self.reward.need
        if need.draws(self._episodes):
            self._frames.append(np.array(self.env.render()))
        self._states.append(_state(observation, info))
        self._actions.append(action)
        info = {**info, "env_reward": float(env_reward)}
        if not (terminated or truncated):
            return observation, 0.0, terminated, truncated, info
        rollout = Rollout(
            len(self._actions),
            np.stack(self._frames) if self._frames else None,
            np.stack(self._states) if need.states else None,
            np.stack(self._actions) if need.actions else None,
        )
        self._episodes += 1
        evidence = Evidence(rollout.length, self.reward.observe(rollout))
        rewards = self.reward.pay([evidence])[0]
        info |= {"episode_rewards": rewards.copy(), **self.reward.follow(evidence)}
        return observation, float(rewards.sum()), terminated, truncated, info


def _state(observation: Any, info: dict[str, Any]) -> Any:
    """What the environment observes, also where the policy sees pixels."""
    return info.get("state", observation)
