"""The learner: takes episodes in, keeps them with their rewards, and updates the agent."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from orcalign.agents import Agent, Replay, make_agent
from orcalign.rewards import Evidence, Moment, Staged
from orcalign.training.collector import STACK, World
from orcalign.training.config import TrainConfig
from orcalign.training.episode import EpisodeStore, PlayedEpisode
from orcalign.training.reward_config import plan_stages


class DivergedError(ValueError):
    """A loss is not a number any more."""


class Learner:
    """Agent, replay and reward, and how far they have come."""

    def __init__(self, config: TrainConfig, world: World, reward: Staged, device: str = "cpu") -> None:
        self.config, self.reward = config, reward
        self._make = partial(
            make_agent, config.agent, world.observation_shape, len(world.action_low), config.seed, device
        )
        self.agent: Agent = self._make()
        pixels = config.collect.policy_input == "pixels"
        self.replay = Replay(
            config.collect.replay, world.stored_shape, np.uint8 if pixels else np.float32, len(world.action_low),
            stack=STACK if pixels else 1, guide_dim=world.guide_dim,
        )  # fmt: skip
        self._actor_learns = [step for _, step in plan_stages(config.reward, config.steps)]
        self.kept: deque[Evidence] = deque()
        """Of the episodes in the replay."""
        self.digests: deque[tuple[int, str]] = deque()
        """Number and digest of their files."""
        self.steps = self.updates = 0
        self._began = (0, 0)
        """Steps and updates when the replay was last empty."""
        self._losses: dict[str, list[Any]] = {}
        self._rng = np.random.default_rng([config.seed, 1])

    def take(self, episode: PlayedEpisode, digest: str) -> list[str] | None:
        """Keep an episode, with the reward of now; if that has changed, so has everybody's. None if it has not, else
        what did, in words."""
        evidence, collect, stage = episode.evidence, self.config.collect, self.reward.stage
        due = episode.number % collect.relabel_every == 0
        moment = Moment(self.steps, episode.number + 1, due, self.steps / self.config.steps)
        told = self.reward.learn([*self.kept, evidence], moment)
        if self.reward.stage != stage and not self.config.reward.keep_replay:
            # The networks of the stage before, and nothing else of it, as in the paper.
            networks = self.agent.state()
            self.agent = self._make()
            self.agent.load_networks(networks)
            self.replay.forget()
            self.kept.clear()
            self.digests.clear()
            self._began = (self.steps, self.updates)
        rewards, guides = self._paid([evidence])
        self.replay.add(episode.observations, episode.actions, rewards, episode.terminated, guides)
        self.kept.append(evidence)
        self.digests.append((episode.number, digest))
        while len(self.kept) > self.replay.num_episodes:
            self.kept.popleft()
            self.digests.popleft()
        if told is not None:
            self.relabel()
        self.agent.look_over(self.replay)
        self.steps += len(episode)
        return told

    def relabel(self) -> None:
        """Give every episode kept the reward of now, and the guide."""
        rewards, guides = self._paid(self.kept)
        self.replay.set_rewards(rewards)
        if guides is not None:
            self.replay.set_guides(guides)

    def _paid(self, episodes: Sequence[Evidence]) -> tuple[Any, Any]:
        """Rewards [sum of T], and guides [sum of T+1, K] if there are any."""
        guides = np.concatenate(self.reward.guide(episodes)) if self.reward.guide_dim else None
        return np.concatenate(self.reward.pay(episodes)), guides

    def learn(self, ahead: int = 0) -> int:
        """The updates that are due, `ahead` steps into the episode that is being played; how many there were."""
        agent, collect = self.config.agent, self.config.collect
        since, before = self._began
        steps = self.steps + ahead
        due = before + int((steps - since - collect.learning_starts) * collect.updates_per_step)
        update_actor = steps >= self._actor_learns[self.reward.stage]
        # While the first episode is played there is nothing to learn from.
        count = max(0, due - self.updates) if self.kept else 0
        for _ in range(count):
            batch = self.replay.sample(self._rng, agent.batch, agent.n_step, agent.gamma, agent.bootstrap)
            for name, metric in self.agent.update(batch, update_actor).items():
                self._losses.setdefault(name, []).append(metric)
        self.updates += count
        return count

    def losses(self) -> dict[str, float]:
        """Means over the updates since this was last asked."""
        means = {name: float(sum(values)) / len(values) for name, values in self._losses.items()}
        self._losses.clear()
        for name, value in means.items():
            if not math.isfinite(value):
                raise DivergedError(
                    f"{name} is {value} after {self.steps:,} steps and {self.updates:,} updates; "
                    "try a lower --learning-rate or another --seed."
                )
        return means

    def state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What a checkpoint keeps: plain values and tensors."""
        state = {
            "steps": self.steps,
            "updates": self.updates,
            "rng": self._rng.bit_generator.state,
            "began": self._began,
            "episodes": list(self.digests),
        }
        return state, self.agent.state()

    def load_state(self, state: dict[str, Any], tensors: dict[str, Any], store: EpisodeStore) -> None:
        """Go on where `state` was, with the episodes out of their files."""
        self.agent.load_state(tensors)
        self._rng.bit_generator.state = state["rng"]
        self.steps, self.updates = int(state["steps"]), int(state["updates"])
        self._began = tuple(state["began"])
        for number, digest in state["episodes"]:
            episode = store.read(number, digest)
            # Rewards and guides follow at once, for all of them.
            guides = np.zeros((len(episode) + 1, self.reward.guide_dim)) if self.reward.guide_dim else None
            self.replay.add(episode.observations, episode.actions, np.zeros(len(episode)), episode.terminated, guides)
            self.kept.append(episode.evidence)
            self.digests.append((number, digest))
        if self.kept:
            self.relabel()
            self.agent.look_over(self.replay)


def limit_threads(config: TrainConfig) -> None:
    """Torch in this process; sums of other numbers of threads round otherwise."""
    import torch

    torch.set_num_threads(config.threads)


def choose_device(name: str) -> str:
    """cuda, mps or cpu; `auto` takes the first that is there.

    >>> choose_device("cpu")
    'cpu'
    """
    import torch

    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        return next(device for device, found in there.items() if found)
    kind = name.split(":")[0]
    if kind not in there:
        raise ValueError(f"device is {name!r}; it must be one of auto, {', '.join(there)}.")
    if not there[kind]:
        raise ValueError(f"device is {name!r}, which this machine does not have; use --device auto.")
    return name
