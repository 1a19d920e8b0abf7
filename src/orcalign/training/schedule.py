"""Which episode is played when, with which weights: decided here, executed by the players.

Orders are carried out first in, first out. After the updates of episode k the next orders are given with the weights
of that moment, until `in_flight` + 1 training episodes are on their way; so episode k is played with the weights after
the updates of episode k - 1 - in_flight, whoever plays it and however long it takes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from orcalign.agents import find_agent
from orcalign.checks import Ramp, share_or_count
from orcalign.envs import choosing_seed, eval_seed, train_seed
from orcalign.rewards.base import State
from orcalign.training.collector import Order
from orcalign.training.config import TrainConfig
from orcalign.training.follow_config import FOLLOW

Weights = dict[str, Any]
GUIDE = "reward/"
"""Before the names of what guides the policy of an order."""
PLAIN = ("number", "seed", "noise", "random", "show", "observe", "evaluation", "steps")
"""What of an order a checkpoint keeps as it is."""


class Schedule:
    """The orders that are on their way, and the rule by which new ones are given."""

    def __init__(self, config: TrainConfig, agent_steps: int) -> None:
        self._config, self._agent_steps = config, agent_steps
        self.pending: deque[Order] = deque()
        self.next_episode = 0
        self.next_evaluation = 0
        """Agent steps from which on the next evaluation is due."""
        follow = config.follow
        self._cut = follow.eye_episode if config.reward.reward == FOLLOW and follow.eye == "own" else None
        self._random = share_or_count("random_steps", config.collect.random_steps, config.steps)

    def give(self, steps: int, weights: Callable[[], Weights], reward: State | None = None) -> list[Order]:
        """The orders that are due after `steps` agent steps; `weights` gives those of the policy of now, `reward` is
        the state of what guides it."""
        config, given = self._config, []
        if steps >= self.next_evaluation:
            every = config.evaluation.eval_every
            # The next multiple; or the end, which is evaluated in any case.
            later = (steps // every + 1) * every
            self.next_evaluation = min(later, config.steps) if steps < config.steps else 2**62
            given += self._evaluation(steps, weights(), reward)
        on_their_way = sum(order.evaluation is None for order in self.pending)
        while on_their_way <= config.collect.in_flight and steps + on_their_way * self._agent_steps < config.steps:
            given.append(self._training(steps, weights(), reward))
            on_their_way += 1
        self.pending.extend(given)
        return given

    def _training(self, now: int, weights: Weights, reward: State | None) -> Order:
        number = self.next_episode
        self.next_episode += 1
        noise, random = self.exploration(now)
        steps = self._cut if random else None
        return Order(number, train_seed(number, self._config.seed), weights, noise, random, reward=reward, steps=steps)

    def exploration(self, steps: int) -> tuple[float, bool]:
        """Standard deviation of the noise after so many agent steps, and whether actions are still random."""
        collect = self._config.collect
        # Where the policy says itself how far it strays, the noise only gives the direction.
        own = find_agent(self._config.agent.agent).own_spread
        noise = 1.0 if own else Ramp(collect.noise_start, collect.noise_end)(steps / self._config.steps)
        return noise, steps < self._random

    def _evaluation(self, steps: int, weights: Weights, reward: State | None) -> list[Order]:
        evaluation = self._config.evaluation
        reported = evaluation.reported(last=steps >= self._config.steps)
        seeds = [eval_seed(k) for k in range(reported)]
        seeds += [choosing_seed(k) for k in range(evaluation.eval_choosing)]
        shown = min(reported, evaluation.eval_shown)
        # Of an episode that is neither shown nor to choose by, only return and success are reported.
        seen = [k < shown or k >= reported or len(seeds) == reported for k in range(len(seeds))]
        return [
            Order(k, seed, weights, show=k < shown, observe=seen[k], evaluation=steps, reward=reward)
            for k, seed in enumerate(seeds)
        ]

    def state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What a checkpoint keeps: plain values, and the weights that orders on their way are played with."""
        sets: list[Weights] = []
        guides: dict[str, Any] = {}
        orders: list[dict[str, Any]] = []
        for order in self.pending:
            # Orders of one moment share their weights, which are kept once.
            k = next((k for k, one in enumerate(sets) if one is order.weights), len(sets))
            if k == len(sets):
                sets.append(order.weights)
            entry = {name: getattr(order, name) for name in PLAIN}
            guide, arrays = order.reward or (None, {})
            guides |= {f"{len(orders)}/{GUIDE}{name}": value for name, value in arrays.items()}
            orders.append({**entry, "weights": k, "reward": guide})
        state = {"next_episode": self.next_episode, "next_evaluation": self.next_evaluation, "orders": orders}
        weights = {f"{k}/{name}": value for k, one in enumerate(sets) for name, value in one.items()}
        return state, {**weights, **guides}

    def load_state(self, state: dict[str, Any], weights: dict[str, Any]) -> None:
        """Go on where `state` was; the orders on their way have to be given to players again."""
        self.next_episode, self.next_evaluation = state["next_episode"], state["next_evaluation"]
        sets: dict[int, Weights] = {}
        guides: dict[int, Weights] = {}
        for name, value in weights.items():
            k, _, rest = name.partition("/")
            where = guides if rest.startswith(GUIDE) else sets
            where.setdefault(int(k), {})[rest.removeprefix(GUIDE)] = value
        self.pending = deque(
            Order(**{
                **entry,
                "weights": sets[entry["weights"]],
                "reward": None if entry["reward"] is None else (entry["reward"], guides.get(k, {})),
            })
            for k, entry in enumerate(state["orders"])
        )  # fmt: skip
