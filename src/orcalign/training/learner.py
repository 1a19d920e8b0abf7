"""The learner: takes episodes in, keeps them with their rewards, and updates the agent."""

from __future__ import annotations

import math
from collections import deque
from typing import Any

import numpy as np

from orcalign.agents import Agent, Batch, Replay, make_agent
from orcalign.rewards import VideoReward
from orcalign.training.collector import STACK, World
from orcalign.training.config import TrainConfig
from orcalign.training.episode import EpisodeStore, PlayedEpisode
from orcalign.training.labels import Costs, Labels


class DivergedError(ValueError):
    """A loss is not a number any more."""


class Learner:
    """Agent, replay and reward, and how far they have come."""

    def __init__(self, config: TrainConfig, world: World, reward: VideoReward, device: str = "cpu") -> None:
        self.config = config
        actions = len(world.action_low)
        self.agent: Agent = make_agent(config.agent, world.observation_shape, actions, config.seed, device)
        pixels = config.collect.policy_input == "pixels"
        self.replay = Replay(
            config.collect.replay, world.stored_shape, np.uint8 if pixels else np.float32, actions,
            stack=STACK if pixels else 1,
        )  # fmt: skip
        self.labels = Labels(config.reward, reward, config.steps)
        self.kept: deque[Costs] = deque()
        """Costs of the episodes in the replay."""
        self.digests: deque[tuple[int, str]] = deque()
        """Number and digest of their files."""
        self.steps = self.updates = 0
        self._rng = np.random.default_rng([config.seed, 1])

    def take(self, episode: PlayedEpisode, digest: str) -> list[str]:
        """Keep an episode, with the reward of now; if that has changed, so has everybody's. What changed, in words."""
        labels = self.labels
        notes = [told for told in (labels.advance(self.steps), self._calibrate(episode)) if told is not None]
        changed = bool(notes)
        if episode.number % self.config.collect.relabel_every == 0:
            changed |= labels.follow(self.steps)
        if labels.first_scale(episode.costs):
            notes.append(f"rewards are multiplied by {labels.scale:.4g}")
            changed = True
        self.replay.add(
            episode.observations, episode.actions, labels.rewards([episode.costs])[0], episode.terminated
        )
        self.kept.append(episode.costs)
        self.digests.append((episode.number, digest))
        self._forget()
        if changed:
            self.relabel()
        self.steps += len(episode)
        return notes

    def _calibrate(self, episode: PlayedEpisode) -> str | None:
        """With the first episodes; `kept` has not lost any of them yet."""
        wanted = self.labels.config.calibration_episodes
        return self.labels.calibrate([*self.kept, episode.costs]) if episode.number + 1 == wanted else None

    def relabel(self) -> None:
        """Give every episode kept the reward of now."""
        self.replay.set_rewards(np.concatenate(self.labels.rewards(self.kept)))

    def learn(self) -> dict[str, float]:
        """The updates that are due; means of their losses."""
        config = self.config
        due = int((self.steps - config.collect.learning_starts) * config.collect.updates_per_step)
        stage = self.labels.stage
        update_actor = self.steps >= stage.first + stage.critic_only
        totals: dict[str, list[Any]] = {}
        count = max(0, due - self.updates)
        for number in range(self.updates, self.updates + count):
            its_turn = number % config.agent.actor_every == 0
            metrics = self.agent.update(self._batch(), update_actor and its_turn)
            for name, metric in metrics.items():
                totals.setdefault(name, []).append(metric)
        self.updates += count
        means = {name: float(sum(values)) / len(values) for name, values in totals.items()}
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
            "labels": self.labels.state(),
            "episodes": [list(entry) for entry in self.digests],
        }
        return state, self.agent.state()

    def load_state(self, state: dict[str, Any], tensors: dict[str, Any], store: EpisodeStore) -> None:
        """Go on where `state` was, with the episodes out of their files."""
        self.agent.load_state(tensors)
        self.labels.load_state(state["labels"])
        self._rng.bit_generator.state = state["rng"]
        self.steps, self.updates = int(state["steps"]), int(state["updates"])
        for number, digest in state["episodes"]:
            episode = store.read(number, digest)
            # Rewards follow at once, for all of them.
            self.replay.add(episode.observations, episode.actions, np.zeros(len(episode)), episode.terminated)
            self.kept.append(episode.costs)
            self.digests.append((number, digest))
        if self.kept:
            self.relabel()

    def _batch(self) -> Batch[Any]:
        agent = self.config.agent
        return self.replay.sample(self._rng, agent.batch, agent.n_step, agent.gamma, agent.bootstrap)

    def _forget(self) -> None:
        while len(self.kept) > self.replay.num_episodes:
            self.kept.popleft()
            self.digests.popleft()
