"""Episodes whose every observation, action and reward says where it belongs, and the slow way to read them."""

from __future__ import annotations

import numpy as np

SIDE = 2


def reward_of(episode, step, label=0):
    return 1 + 10 * episode + step + 0.25 * label


def episode_of(number, steps, images):
    """Observations [T+1, ...] that hold (episode, step), actions [T, 2] too, rewards [T]."""
    marks = np.array([(number, step) for step in range(steps + 1)])
    observations = marks.astype(np.float32)
    if images:
        observations = np.broadcast_to(marks[:, :, None, None], (steps + 1, 2, SIDE, SIDE)).astype(np.uint8)
    rewards = np.array([reward_of(number, step) for step in range(steps)])
    return observations, marks[:-1].astype(np.float32), rewards


def guide_of(number, steps, size, label=0):
    """[T+1, size] that say where they belong, too."""
    places = 1000 + 100 * number + np.arange(steps + 1) + 0.5 * label
    return (places[:, None] + 0.125 * np.arange(size)).astype(np.float32)


def seen(number, step, stack, images):
    """What a stacked observation must hold: (episode, step) of each of its frames."""
    marks = [(number, max(step - back, 0)) for back in reversed(range(stack))]
    flat = np.array(marks).reshape(-1)
    if images:
        return np.broadcast_to(flat[:, None, None], (2 * stack, SIDE, SIDE)).astype(np.uint8)
    return flat.astype(np.float32)


def naive_transition(number, step, steps, terminated, *, n_step, gamma, bootstrap, label=0):
    """Return, discount and step of the next observation, one reward after the other."""
    total, discount, now = 0.0, 1.0, step
    for _ in range(n_step):
        if now == steps:
            break
        total += discount * reward_of(number, now, label)
        discount *= gamma
        now += 1
    if bootstrap == "gamma":
        discount = gamma
    if terminated and now == steps:
        discount = 0.0
    return total, discount, now
