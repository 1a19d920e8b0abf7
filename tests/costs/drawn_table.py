"""A drawn table seen from above: a disc for the hand, a square for the object, on a background of stripes."""

from __future__ import annotations

import numpy as np

from orcalign.costs.predicted import Entities

SIDE = 64
TABLE = Entities(hand=(0, 1), objects=((2, 3),), goal=(4, 5))
"""A metre wide; the goal is always in the same place, and is not drawn."""


def background(shift=0):
    """[64,64,3] Stripes and a corner, moved to the right by so many pixels."""
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    x = x - shift
    picture = np.stack([90 + 40 * (x // 11 % 2), 100 + 30 * (y // 9 % 2), np.full_like(x, 120)], -1)
    picture[(x > 52) & (y > 48)] = 30
    return picture.astype(np.uint8)


def draw(states, picture=None):
    """uint8 [N,64,64,3] of states [N,6] from 0 to 1."""
    y, x = np.mgrid[0:SIDE, 0:SIDE] + 0.5
    frames = np.repeat((background() if picture is None else picture)[None], len(states), 0)
    for frame, (hand_x, hand_y, object_x, object_y) in zip(frames, np.asarray(states)[:, :4] * SIDE, strict=True):
        frame[np.maximum(np.abs(x - object_x), np.abs(y - object_y)) < 5] = (20, 60, 220)
        frame[(x - hand_x) ** 2 + (y - hand_y) ** 2 < 25] = (220, 30, 20)
    return frames


def play(count, seed=0):
    """States [N,6] anywhere on the inner part of the table, and frames."""
    states = np.random.default_rng(seed).uniform(0.15, 0.85, (count, 6))
    states[:, 4:] = 0.5, 0.2
    return states, draw(states)


def push(count=20):
    """A film: the hand goes to the object, takes it along to the goal."""
    u = np.linspace(0, 1, count)
    hand = np.stack([np.interp(u, [0, 0.5, 1], [0.2, 0.4, 0.5]), np.interp(u, [0, 0.5, 1], [0.2, 0.72, 0.3])], 1)
    thing = np.where(u[:, None] < 0.5, [[0.4, 0.6]], hand - [[0.0, 0.12]])
    return np.concatenate([hand, thing, np.tile([0.5, 0.2], (count, 1))], 1)
