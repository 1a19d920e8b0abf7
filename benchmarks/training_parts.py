"""The parts of a training run, each alone: simulator, renderer, policy, what the reward observes and pays, update."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.timing import seconds
from orcalign.agents import Batch
from orcalign.envs import make
from orcalign.rewards import Rollout
from orcalign.training import TrainConfig
from orcalign.training.collector import Collector, Order
from orcalign.training.learner import Learner
from orcalign.training.players import make_collector


def parts_alone(config: TrainConfig, run: Path, budget: float, episodes: int) -> dict[str, float]:
    """Seconds per agent step of each part with the machine to itself, one thread."""
    collector = make_collector(config, run)
    steps = collector.world.agent_steps
    learner = Learner(config, collector.world, collector.reward)
    weights = learner.agent.policy_weights()
    for number in range(4):
        episode = collector.play(Order(number, number, weights, noise=0.4, show=True))
        learner.take(episode, "")
    found = {"simulator": played(config, None, episodes)[0]}
    found["renderer"] = played(config, collector, episodes)[1]
    state, none = episode.observations[0], np.zeros(len(collector.world.action_low), np.float32)
    found["policy"] = seconds(lambda: collector._policy.act(state, none), budget / 4)
    reward, seen = collector.reward, Rollout(steps, episode.frames)
    encoder = reward.parts[-1].encoder  # type: ignore[attr-defined]
    found["observe"] = seconds(lambda: reward.observe(seen), budget) / steps
    found["encode"] = seconds(lambda: encoder(episode.frames), budget) / steps
    found["match"] = max(0.0, found["observe"] - found["encode"])

    def pay() -> None:
        reward.pay([episode.evidence])
        reward.summary(episode.evidence)

    found["pay"] = seconds(pay, budget / 4) / steps
    agent, rate, rng = config.agent, config.collect.updates_per_step, np.random.default_rng(0)

    def sample() -> Batch[np.ndarray]:
        return learner.replay.sample(rng, agent.batch, agent.n_step, agent.gamma, agent.bootstrap)

    batch = sample()
    found["sample"] = seconds(sample, budget / 4) * rate
    found["update, second thread"] = seconds(lambda: learner.agent.update(batch), budget) * rate
    # Without the second thread.
    with patch("orcalign.agents.cpu.beside._cores", lambda: 1):
        found["update"] = seconds(lambda: learner.agent.update(batch), budget) * rate
        found["update, matrix products"] = seconds(products_of(learner, batch), budget) * rate
    collector.close()
    return found


def played(config: TrainConfig, collector: Collector | None, episodes: int) -> tuple[float, float]:
    """Seconds of simulating and of drawing an agent step, the best of some episodes of random actions."""
    env = make(config.task, None, config.seed) if collector is None else collector.env
    rng, best = np.random.default_rng(0), (np.inf, np.inf)
    for seed in range(episodes):
        env.reset(seed=seed)
        simulated, drawn, steps, done = 0.0, 0.0, 0, False
        while not done:
            action = rng.uniform(env.action_space.low, env.action_space.high)
            start = time.perf_counter()
            _, _, terminated, truncated, _ = env.step(action)
            middle = time.perf_counter()
            if collector is not None:
                env.render()
            simulated, drawn = simulated + middle - start, drawn + time.perf_counter() - middle
            steps, done = steps + 1, terminated or truncated
        best = min(best[0], simulated / steps), min(best[1], drawn / steps)
    if collector is None:
        env.close()
    return best


def products_of(learner: Learner, batch: Batch[np.ndarray]) -> Callable[[], None]:
    """The matrix products of one update, forwards and backwards, and nothing else."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    calls: list[tuple[Any, Any, Any]] = []

    class Record(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func._opname in ("mm", "addmm"):
                into = {name: one.detach().clone() for name, one in (kwargs or {}).items()}
                calls.append((func, [one.detach().clone() for one in args], into))
            return func(*args, **(kwargs or {}))

    with Record():
        learner.agent.update(batch)

    def again() -> None:
        with torch.inference_mode():
            for func, args, into in calls:
                func(*args, **into)

    return again
