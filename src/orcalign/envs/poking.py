"""What happens when the hand goes where something might be: an object moves, a goal does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from orcalign.envs.random_play import Array, Episode, Player, Watched

EPISODES = 4
"""For each place."""
MOVED, NEAR = 0.03, 0.4
"""Shares of what the hand reaches: what counts as a movement, and how near the hand is to what it moves."""
FIRST = 1_000_000
"""Number of the first such episode, far from those of random play."""


class Poked(NamedTuple):
    """What became of a place."""

    place: tuple[int, ...]
    episodes: int
    near: int
    """Episodes in which it moved, with the hand near."""
    far: int
    """Episodes in which it moved, with the hand far away."""
    distance: float
    """Of the hand from it as it began to move, on average, in units of the observation; inf if it never did."""


def poke(
    watched: Watched,
    play: Sequence[Episode],
    hand: Sequence[int],
    by: Array,
    places: Sequence[tuple[int, ...]],
    episodes: int = EPISODES,
) -> list[Poked]:
    """What each place does in random play and when the hand, which actions move by `by` [K, A], goes to any of them."""
    seen = np.concatenate([episode.states[:, list(hand)] for episode in play])
    reach = float(np.ptp(seen, axis=0).max())
    inverse: Array = np.linalg.pinv(by).astype(np.float64)
    poked = list(play)
    for k, place in enumerate(places):
        for number in range(FIRST + k * episodes, FIRST + (k + 1) * episodes):
            poked.append(watched.play(number, _towards(number, hand, place, inverse, reach)))
    found = []
    for place in places:
        away = np.array([one for one in (_away(episode, hand, place, reach) for episode in poked) if one is not None])
        near = int((away < NEAR * reach).sum())
        found.append(Poked(place, len(poked), near, len(away) - near, float(away.mean()) if len(away) else np.inf))
    return found


def _towards(number: int, hand: Sequence[int], place: Sequence[int], inverse: Array, reach: float) -> Player:
    """To the place, and once there about it, so that it is pushed in some direction."""
    rng = np.random.default_rng(number)
    others = rng.uniform(-1, 1, len(inverse)) * (np.abs(inverse).max(1) < 0.01 * np.abs(inverse).max())
    beside = np.zeros(len(hand))

    def player(state: Array, step: int) -> Array:
        if step % 8 == 7:
            beside[:] = rng.normal(0, 0.1 * reach, len(hand))
        way: Array = inverse @ (state[list(place)] + beside - state[list(hand)])
        return np.asarray(others + way / max(1.0, float(np.abs(way).max())))

    return player


def _away(episode: Episode, hand: Sequence[int], place: Sequence[int], reach: float) -> float | None:
    """How far the hand was when the place began to move; None if it did not."""
    there = episode.states[:, list(place)]
    moved = np.linalg.norm(there - there[0], axis=1) > MOVED * reach
    if not moved.any():
        return None
    first = int(moved.argmax())
    return float(np.linalg.norm(there - episode.states[:, list(hand)], axis=1)[max(0, first - 2) : first + 1].min())
