"""Which episode is played when, with which weights: decided here, executed by the players.

Orders are carried out first in, first out. After the updates of episode k the next orders are given with the weights
of that moment, until `in_flight` + 1 training episodes are on their way; so episode k is played with the weights after
the updates of episode k - 1 - in_flight, whoever plays it and however long it takes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from orcalign.checks import Ramp, share_or_count
from orcalign.envs import choosing_seed, eval_seed, train_seed
from orcalign.training.collector import Order
from orcalign.training.config import TrainConfig

Weights = dict[str, Any]


class Schedule:
    """The orders that are on their way, and the rule by which new ones are given."""

    def __init__(self, config: TrainConfig, agent_steps: int) -> None:
        self._config, self._agent_steps = config, agent_steps
        self.pending: deque[Order] = deque()
        self.next_episode = 0
        self.next_evaluation = 0
        """Agent steps from which on the next evaluation is due."""
        self._random = share_or_count("random_steps", config.collect.random_steps, config.steps)

    def give(self, steps: int, weights: Callable[[bool], Weights]) -> list[Order]:
        """The orders that are due after `steps` agent steps; `weights` gives those of the policy of now, the averaged
        ones (True) to be judged and the others to explore."""
        config, given = self._config, []
        if steps >= self.next_evaluation:
            every = config.evaluation.eval_every
            # The next multiple; or the end, which is evaluated in any case.
            later = (steps // every + 1) * every
            self.next_evaluation = min(later, config.steps) if steps < config.steps else 2**62
            given += self._evaluation(steps, weights(True))
        on_their_way = sum(order.evaluation is None for order in self.pending)
        while (
            on_their_way <= config.collect.in_flight
            and steps + on_their_way * self._agent_steps < config.steps
        ):
            given.append(self._training(steps, weights(False)))
            on_their_way += 1
        self.pending.extend(given)
        return given

    def _training(self, steps: int, weights: Weights) -> Order:
        number = self.next_episode
        self.next_episode += 1
        collect = self._config.collect
        # SAC's policy says itself how far it strays; the noise only gives the direction.
        own = self._config.agent.agent == "sac"
        noise = 1.0 if own else Ramp(collect.noise_start, collect.noise_end)(steps / self._config.steps)
        seed = train_seed(number, self._config.seed)
        return Order(number, seed, weights, noise, random=steps < self._random)

    def _evaluation(self, steps: int, weights: Weights) -> list[Order]:
        evaluation = self._config.evaluation
        reported = evaluation.eval_episodes
        seeds = [eval_seed(k) for k in range(reported)]
        seeds += [choosing_seed(k) for k in range(evaluation.eval_choosing)]
        shown = min(reported, evaluation.eval_shown)
        return [Order(k, seed, weights, show=k < shown, evaluation=steps) for k, seed in enumerate(seeds)]

    def state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What a checkpoint keeps: plain values, and the weights that orders on their way are played with."""
        sets: list[Weights] = []
        orders = []
        for order in self.pending:
            known = [k for k, one in enumerate(sets) if one is order.weights]
            if not known:
                sets.append(order.weights)
            entry = {
                name: getattr(order, name)
                for name in ("number", "seed", "noise", "random", "show", "evaluation")
            }
            orders.append({**entry, "weights": known[0] if known else len(sets) - 1})
        state = {
            "next_episode": self.next_episode,
            "next_evaluation": self.next_evaluation,
            "orders": orders,
        }
        return state, {f"{k}/{name}": value for k, one in enumerate(sets) for name, value in one.items()}

    def load_state(self, state: dict[str, Any], weights: dict[str, Any]) -> None:
        """Go on where `state` was; the orders on their way have to be given to players again."""
        self.next_episode, self.next_evaluation = state["next_episode"], state["next_evaluation"]
        sets: dict[int, Weights] = {}
        for name, value in weights.items():
            k, _, rest = name.partition("/")
            sets.setdefault(int(k), {})[rest] = value
        self.pending = deque(
            Order(**{**entry, "weights": sets[entry["weights"]]}) for entry in state["orders"]
        )
