"""Agents beside one another on a Gymnasium task with its true reward: `python -m benchmarks.agents Hopper-v5`.

For each agent and seed, at the same numbers of steps: the mean return of ten episodes without exploration, and the
processor's seconds until then, evaluations not counted (on a machine that others use too, seconds on the wall say
little). One thread, one update a step. With --store the table is kept in benchmarks/results.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import numpy as np
import torch

from benchmarks.timing import machine, store
from orcalign.agents import AgentSettings, DrQv2Settings, Replay, SACSettings, XQCSettings, make_agent, make_policy
from orcalign.agents.registry import find_agent

SAME: dict[str, Any] = {"batch": 128, "learning_rate": 3e-4}
SETTINGS: dict[str, AgentSettings] = {
    "drqv2": DrQv2Settings(**SAME, layer_norm=True),
    "sac": SACSettings(**SAME, trunk=0, n_step=1),
    "xqc": XQCSettings(**SAME),
}
RANDOM_STEPS, EPISODES = 1000, 10
Point = tuple[int, float, float]
"""Steps, return, and seconds until then."""


def play(env: Any, seed: int, act: Callable[[np.ndarray, int], np.ndarray]) -> tuple[np.ndarray, ...]:
    """An episode: observations [T+1, D], actions [T, A] in -1 to 1, rewards [T], and whether it terminated."""
    low, high = env.action_space.low, env.action_space.high
    observation, _ = env.reset(seed=seed)
    observations, actions, rewards, over = [observation], [], [], False
    while not over:
        actions.append(act(observation.astype(np.float32), len(actions)))
        observation, reward, terminated, truncated, _ = env.step(low + (actions[-1] + 1) / 2 * (high - low))
        observations.append(observation)
        rewards.append(reward)
        over = terminated or truncated
    return np.array(observations, np.float32), np.array(actions), np.array(rewards), np.array(terminated)


def learn(task: str, settings: AgentSettings, steps: int, seed: int, every: int) -> Iterator[Point]:
    """Play, and update once a step after each episode."""
    env, judge = gymnasium.make(task), gymnasium.make(task)
    (size,), (action_dim,) = env.observation_space.shape or (0,), env.action_space.shape or (0,)
    agent = make_agent(settings, (size,), action_dim, seed)
    policy, rng = make_policy(settings, (size,), action_dim), np.random.default_rng(seed)
    replay = Replay(steps + 1000, (size,), "float32", action_dim)
    spread = 1.0 if find_agent(settings.agent).own_spread else 0.2
    start, done, judged = time.process_time(), 0, every

    def act(look: np.ndarray, t: int) -> np.ndarray:
        if done + t < RANDOM_STEPS:
            return rng.uniform(-1, 1, action_dim).astype(np.float32)
        return policy.act(look, spread * rng.standard_normal(action_dim))

    while done < steps:
        policy.load(agent.policy_weights())
        observations, actions, rewards, terminated = play(env, 10_000 * seed + replay.num_episodes, act)
        replay.add(observations, actions, rewards, bool(terminated))
        agent.look_over(replay)
        done += len(rewards)
        for _ in range(len(rewards) if done > RANDOM_STEPS else 0):
            agent.update(replay.sample(rng, settings.batch, settings.n_step, settings.gamma))
        if done >= judged:
            judged, spent = judged + every, time.process_time() - start
            policy.load(agent.policy_weights())
            returns = [play(judge, 10**6 + k, lambda look, _: policy.act(look))[2].sum() for k in range(EPISODES)]
            yield done, float(np.mean(returns)), spent
            start = time.process_time() - spent


def table(task: str, found: dict[str, list[list[Point]]]) -> str:
    """As Markdown: means over seeds, with the smallest and the largest."""
    lines = [
        f"# Agents on {task}, true reward",
        "",
        "| agent | steps | return | from | to | seconds |",
        "|---|---|---|---|---|---|",
    ]
    for name, seeds in found.items():
        for points in zip(*seeds, strict=False):
            done, returns, spent = np.array(points).T
            numbers = f"{done.mean():.0f} | {returns.mean():.0f} | {returns.min():.0f} | {returns.max():.0f}"
            lines.append(f"| {name} | {numbers} | {spent.mean():.0f} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task")
    parser.add_argument("--agents", nargs="+", default=list(SETTINGS), choices=SETTINGS)
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--every", type=int, default=5000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--store", action="store_true")
    given = parser.parse_args()
    torch.set_num_threads(1)
    found: dict[str, list[list[Point]]] = {}
    for name in given.agents:
        for seed in given.seeds:
            points = []
            for point in learn(given.task, SETTINGS[name], given.steps, seed, given.every):
                print(f"{name} seed {seed}: {point[0]} steps, return {point[1]:.0f}, {point[2]:.0f} s", flush=True)
                points.append(point)
            found.setdefault(name, []).append(points)
    text = table(given.task, found)
    print(text)
    if given.store:
        about = {"settings": {name: vars(SETTINGS[name]) for name in found}, "machine": machine()}
        store(f"agents-{given.task}", {"found": found, **about}, text)


if __name__ == "__main__":
    main()
