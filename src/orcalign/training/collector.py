"""Plays one episode as it is told: simulate, draw what the reward needs, observe it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from orcalign.agents import episode_noise, make_policy
from orcalign.envs import episode_return, find_suite, make
from orcalign.envs.wrappers.rewards import check_learner
from orcalign.envs.wrappers.turned import Turned
from orcalign.rewards import Evidence, Reward, Rollout, Stream
from orcalign.rewards.base import State
from orcalign.training.config import TrainConfig
from orcalign.training.episode import PlayedEpisode

STACK = 3
"""Frames that a policy on pixels sees at once."""
LOT = 2
"""Beside the seeds: what is drawn by lot for the reward leaves the exploration as it is."""


@dataclass(frozen=True)
class Order:
    """Which episode to play, and how. Everything random in it comes from these numbers."""

    number: int
    seed: int
    weights: dict[str, npt.NDArray[Any]]
    """Of the policy."""
    noise: float | None = None
    """Standard deviation of the exploration; None plays the policy as it is."""
    random: bool = False
    """Random actions, and no policy."""
    show: bool = False
    """Hand over the frames, too."""
    observe: bool = True
    """Let the reward see the episode. Success and returns are the environment's: who asks for no more has no pictures
    drawn for it, other than those that the policy acts by."""
    evaluation: int | None = None
    """Agent steps after which it evaluates; None if it is training."""
    reward: State | None = None
    """State of the reward, where it guides the policy."""
    steps: int | None = None
    """Agent steps after which it is cut off, where it need not be played to its end."""


@dataclass(frozen=True)
class Live:
    """How to act from a step on, of an episode that is learned from while it is played."""

    weights: dict[str, npt.NDArray[Any]] | None
    """Of the policy; None if they have not changed."""
    noise: float
    random: bool


@dataclass(frozen=True)
class World:
    """What the learner has to know of the environment."""

    observation_shape: tuple[int, ...]
    """As the policy sees it: stacked, for pixels; with the reward's guide, if there is one."""
    stored_shape: tuple[int, ...]
    """As an episode keeps it: single frames, for pixels; without a guide, which is paid anew with the rewards."""
    action_low: tuple[float, ...]
    action_high: tuple[float, ...]
    agent_steps: int
    """Of an episode that is not cut short."""
    guide_dim: int = 0
    """Numbers of the observation, its last ones, that come from the reward."""
    turning: dict[str, Any] | None = None
    """How the world is turned in which the policy sees and acts."""


class Collector:
    """An environment, a policy and a reward, ready to play one episode after the other."""

    def __init__(self, config: TrainConfig, reward: Reward) -> None:
        self.config, self.reward = config, reward
        collect, need = config.collect, reward.need
        self._pixels = collect.policy_input == "pixels"
        pictures = need.frames > 0 or self._pixels or config.evaluation.eval_shown > 0
        self.env = make(
            config.task, collect.render if pictures else None, config.seed, pixels=self._pixels,
            size=collect.frame_size, camera=collect.camera if pictures else None, repeat=collect.repeat,
        )  # fmt: skip
        check_learner(self.env, reward, warn_other_task=True)
        self._turning = reward.turning
        if self._turning is not None:
            self.env = Turned(self.env, self._turning)
        self.world = describe(self.env, self._pixels, reward)
        self.live: Callable[[int], Live] | None = None
        """Asked before each step of a training episode, where one learns meanwhile."""
        self._policy = make_policy(config.agent, self.world.observation_shape, len(self.world.action_low))
        self._low = np.array(self.world.action_low, np.float32)
        self._high = np.array(self.world.action_high, np.float32)

    def play(self, order: Order) -> PlayedEpisode:
        """Play the episode; the same order gives the same episode in any process of this kind of machine."""
        seconds = dict.fromkeys(("simulate", "render", "observe"), 0.0)
        self._policy.load(order.weights)
        need, spec = self.reward.need, self.env.get_wrapper_attr("task_spec")
        stream: Stream | None = None
        if self.world.guide_dim:
            # As the reward is when the order is given.
            if order.reward is not None:
                self.reward.load_state(order.reward)
            stream = self.reward.stream()
        # Pictures are what observing costs: a reward that has none to wait for sees every episode.
        observe = order.observe or order.show or not need.frames
        draw = order.show or ((observe or stream is not None) and need.draws(order.number))
        # A few pictures are to learn from, and nothing learns from evaluations.
        draw &= order.show or need.of is None or order.evaluation is None
        moments = None if order.show else self._moments(order)
        rng = np.random.default_rng([self.config.seed, order.seed])
        actions: list[npt.NDArray[np.float32]] = []
        frames: list[npt.NDArray[np.uint8]] = []
        drawn: list[int] = []
        successes, counted, env_rewards = [], [], []
        reports = False
        noise: npt.NDArray[np.floating[Any]] | None = None
        spread, random = order.noise, order.random
        observation, info = self.env.reset(seed=order.seed)
        observations = [self._kept(observation)]
        states = [self._state(observation, info)]
        if stream is not None:
            stream.reset(states[0])
        done = terminated = False
        while not done:
            t = len(actions)
            if self.live is not None and order.evaluation is None:
                live = self.live(t)
                spread, random = live.noise, live.random
                if live.weights is not None:
                    self._policy.load(live.weights)
            if spread is not None and t % self.world.agent_steps == 0:
                kind = self.config.collect.noise
                noise = episode_noise(kind, self.world.agent_steps, self._low.size, rng)
            with _clock(seconds, "simulate"):
                if random and noise is not None and self.config.collect.random_play == "noise":
                    action = np.clip(noise[t % self.world.agent_steps], -1, 1).astype(np.float32)
                elif random:
                    action = rng.uniform(-1, 1, self._low.size).astype(np.float32)
                else:
                    now = None if noise is None or spread is None else spread * noise[t % self.world.agent_steps]
                    seen = observation if stream is None else np.append(observation, stream.guide)
                    action = self._policy.act(seen, now)
                scaled = rescale(action, self._low, self._high)
                observation, env_reward, terminated, truncated, info = self.env.step(scaled)
            if order.evaluation is None and self._ends(info):
                terminated = True
            done = terminated or truncated or len(actions) + 1 == order.steps
            # An episode that ends before the first moment that was drawn by lot is seen in its end.
            look = draw and (moments is None or t in moments or (done and not frames))
            if look:
                with _clock(seconds, "render"):
                    frames.append(np.asarray(self.env.render()))
                    drawn.append(t)
            actions.append(action)
            observations.append(self._kept(observation, t + 1))
            states.append(self._state(observation, info))
            reports |= "success" in info
            successes.append(bool(info.get("success", False)))
            counted += info.get("successes", successes[-1:])
            env_rewards.append(float(env_reward))
            if stream is not None:
                with _clock(seconds, "observe"):
                    stream.push(frames[-1] if look else None, states[-1], action)
        pictures = np.stack(frames) if frames else None
        evidence: dict[str, npt.NDArray[Any]] = {}
        if observe:
            rollout = Rollout(
                len(actions),
                pictures if need.draws(order.number) else None,
                np.stack(states) if need.states else None,
                np.stack(actions) if need.actions else None,
                None if moments is None or not drawn else np.array(drawn, np.int64),
            )
            with _clock(seconds, "observe"):
                evidence = self.reward.observe(rollout)
        return PlayedEpisode(
            order.number,
            order.seed,
            np.stack(observations),
            np.stack(actions),
            np.array(successes),
            np.array(env_rewards),
            bool(terminated),
            Evidence(len(actions), evidence),
            pictures if order.show else None,
            seconds,
            observe,
            reports,
            episode_return(spec, np.array(counted if find_suite(spec.suite).counts_simulation_steps else successes)),
        )

    def _ends(self, info: dict[str, Any]) -> bool:
        """Whether a training episode ends here, though the environment goes on."""
        name = self.config.collect.ends
        if name is None:
            return False
        if name not in info:
            raise ValueError(
                f"ends is {name!r}, and the info of {self.config.task!r} has no such entry; it has "
                f"{', '.join(info) or 'none'}."
            )
        return bool(info[name])

    def _moments(self, order: Order) -> frozenset[int] | None:
        """The steps after which pictures are drawn, if not after all."""
        count, steps = self.reward.need.of, self.world.agent_steps
        if count is None or count >= steps:
            return None
        lot = np.random.default_rng([self.config.seed, order.seed, LOT])
        return frozenset(lot.choice(steps, count, replace=False).tolist())

    def close(self) -> None:
        """Give back what the environment holds."""
        self.env.close()

    def _kept(self, observation: Any, t: int = 0) -> npt.NDArray[Any]:
        """A copy; of stacked frames the newest, because the others are in the episode already."""
        if self._pixels:
            return np.array(observation[-3:])
        kept = np.array(observation, np.float32)
        if not np.isfinite(kept).all():
            d = int(np.flatnonzero(~np.isfinite(kept))[0])
            raise ValueError(f"observation[{d}] is {kept[d]} at step {t}; the environment must give finite numbers.")
        return kept

    def _state(self, observation: Any, info: dict[str, Any]) -> npt.NDArray[np.float32]:
        """What the environment observes, whatever the policy sees."""
        own = self._pixels or self._turning is not None
        return np.asarray(info["state"] if own else observation, np.float32)


def rescale(
    action: npt.NDArray[np.float32], low: npt.NDArray[np.float32], high: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """From [-1, 1] to the environment's own range.

    >>> rescale(np.array([-1.0, 0.0], "f4"), np.array([-2.0, 0.0], "f4"), np.array([2.0, 1.0], "f4")).tolist()
    [-2.0, 0.5]
    """
    return low + (action + np.float32(1)) * np.float32(0.5) * (high - low)


def describe(env: Any, pixels: bool, reward: Reward | None = None) -> World:
    """Shapes and limits of an environment, refused if an agent could not act in it; and what a reward makes of it."""
    import gymnasium

    guide_dim = 0 if reward is None else reward.guide_dim
    turned = None if reward is None or reward.turning is None else reward.turning.plain()
    space, actions = env.observation_space, env.action_space
    if not isinstance(actions, gymnasium.spaces.Box) or len(actions.shape) != 1:
        raise ValueError(
            f"the actions are {actions}; the agents act in a flat Box of numbers, so wrap the environment "
            "or choose another task (nav2d in the place of nav2d-grid)."
        )
    if not np.isfinite([actions.low, actions.high]).all():
        raise ValueError(f"the actions {actions} have no limits; wrap the environment in RescaleAction.")
    if not pixels and (not isinstance(space, gymnasium.spaces.Box) or len(space.shape) != 1):
        raise ValueError(
            f"the observations are {space}; the agents see a flat Box of numbers, so wrap the environment in "
            "FlattenObservation, or train with --policy-input pixels."
        )
    if pixels and guide_dim:
        raise ValueError(
            f"the reward guides the policy by {guide_dim} number(s), and the policy sees pixels; train with "
            "--policy-input states, or without a guide."
        )
    shape = tuple(int(n) for n in space.shape)
    stored = (shape[0] // STACK, *shape[1:]) if pixels else shape
    shape = (shape[0] + guide_dim, *shape[1:])
    low, high = (tuple(float(x) for x in limit) for limit in (actions.low, actions.high))
    return World(shape, stored, low, high, env.get_wrapper_attr("task_spec").agent_steps, guide_dim, turned)


@contextmanager
def _clock(seconds: dict[str, float], name: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    seconds[name] += time.perf_counter() - start
