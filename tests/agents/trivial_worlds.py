"""Worlds that a working agent solves in seconds, and a broken one does not."""

from __future__ import annotations

import numpy as np

from orcalign.agents import Replay, make_agent, make_policy


class TwoSteps:
    """Go to the target in the first step; be paid for it in the second, which ends the episode.

    With one-step returns only the critics can tell the first step's action what it is worth.
    """

    shape, dtype, stack = (3,), "float32", 1

    def episode(self, rng, act):
        target = rng.uniform(-0.8, 0.8)
        start = np.array([target, 0, 0], np.float32)
        first = act(start)
        middle = np.array([target, first[0], 1], np.float32)
        second = act(middle)
        miss = abs(float(first[0]) - target)
        return [start, middle, middle], [first, second], [0.0, -miss], miss


class Spot:
    """Say where the bright spot is, from three stacked pictures of it."""

    shape, dtype, stack, side = (3, 24, 24), "uint8", 3, 24

    def episode(self, rng, act):
        place = rng.integers(2, self.side - 2, 2)
        picture = np.zeros(self.shape, np.uint8)
        picture[:, place[0] - 2 : place[0] + 2, place[1] - 2 : place[1] + 2] = 255
        action = act(np.concatenate([picture] * self.stack))
        miss = float(np.abs(action[:1] - (place[0] / self.side * 2 - 1)).mean())
        return [picture, picture], [action], [-miss], miss


def miss_after_learning(world, settings, *, episodes, random_episodes, updates, std, seed=0):
    """Mean miss of the deterministic policy before and after learning."""
    rng = np.random.default_rng(seed)
    seen = (world.shape[0] * world.stack, *world.shape[1:])
    agent, policy = make_agent(settings, seen, 1, seed), make_policy(settings, seen, 1)
    replay = Replay(episodes * 2, world.shape, world.dtype, 1, stack=world.stack)

    def missed():
        policy.load(agent.policy_weights())
        judge = np.random.default_rng(1)
        return np.mean([world.episode(judge, policy.act)[-1] for _ in range(100)])

    before = missed()
    for number in range(episodes):
        if number < random_episodes:
            act = lambda _: rng.uniform(-1, 1, 1).astype(np.float32)  # noqa: E731
        else:
            policy.load(agent.policy_weights())
            act = lambda look: policy.act(look, std * rng.standard_normal(1))  # noqa: E731
        observations, actions, rewards, _ = world.episode(rng, act)
        replay.add(np.stack(observations), np.stack(actions), np.array(rewards), terminated=True)
        agent.look_over(replay)
        if number >= random_episodes:
            for _ in range(updates):
                batch = replay.sample(rng, settings.batch, settings.n_step, settings.gamma, settings.bootstrap)
                agent.update(batch)
    return before, missed()
