"""Whether actions move the hand in straight lines: a regression of where it goes on what is done; and whether the world
may and should be turned for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from orcalign.costs.predicted.entities import Entities
from orcalign.costs.predicted.turning import SHORT, Plane, Turning
from orcalign.envs.making import make
from orcalign.envs.random_play import Array, Episode, watch
from orcalign.envs.seeds import train_seed
from orcalign.envs.tasks import TaskSpec

WINDOW = 5
"""Steps over which a displacement is compared with the sum of the actions: more than a hand lags behind."""
LAGS = 3
FOLLOWS = 0.6
"""Share of the variance that the actions must explain. Of Fetch's hand it is above 0.74, of Meta-world's 0.68 where the
hand bumps into a door-lock and 0.9 elsewhere, of joints that torques turn (Pusher) below 0.59, of their tips 0.32."""
AT_A_WALL = 0.03
"""Share of the steps: what is stopped by the edge of its world says nothing of how it is moved."""
SIMILAR = 0.3
"""By how much of the larger one the two directions of a plane may differ in length, and lean towards each other."""

RESETS = 100
ASIDE, OFTEN = np.pi / 3, 0.25
"""Goals lie in all directions if so many of them lie further aside than that from where they lie on average. In Fetch's
push it is two thirds, in Meta-world's tasks 2% at most."""


class Moves(NamedTuple):
    """How numbers of an observation follow the actions."""

    by: Array
    """[K, A] What an action of 1 adds to each of K numbers in a step."""
    explained: Array
    """[K] Share of the variance of their displacements that this explains; 0 for what never moves."""


def moves(play: Sequence[Episode], numbers: Sequence[int] | None = None) -> Moves:
    """How these numbers of the observation (all by default) follow the actions of random play, by least squares.

    The lag, in steps, is the one that explains each best.

    >>> from orcalign.envs.random_play import watch
    >>> by, explained = moves(watch("nav2d", 10), (0, 1))
    >>> bool((np.diag(by) > 0.05).all()), bool((explained > FOLLOWS).all())
    (True, True)
    """
    at = list(range(play[0].states.shape[1])) if numbers is None else list(numbers)
    by, explained = np.zeros((len(at), play[0].actions.shape[1])), np.zeros(len(at))
    walls = _walls(np.concatenate([episode.states[:, at] for episode in play]))
    for lag in range(LAGS):
        pairs = [_windows(episode, at, lag, walls) for episode in play]
        did, went, free = (np.concatenate(part) for part in zip(*pairs, strict=True))
        for k in range(len(at)):
            x, y = did[free[:, k]], went[free[:, k], k]
            total = float(y @ y)
            if len(x) <= 2 * x.shape[1] or total < 1e-12:
                continue
            found = np.linalg.lstsq(x, y, rcond=None)[0]
            share = 1 - float(((y - x @ found) ** 2).sum()) / total
            if share > explained[k]:
                by[k], explained[k] = found, share
    return Moves(by, explained)


def _walls(states: Array) -> Array:
    """[2, K] Ends of each number's range, where it is found so often that something must stop it there; else inf."""
    low, high = states.min(0), states.max(0)
    near = 1e-3 * (high - low)
    stops = np.stack([(states <= low + near).mean(0), (states >= high - near).mean(0)]) > AT_A_WALL
    return np.where(stops, np.stack([low + near, high - near]), [[-np.inf], [np.inf]])


def _windows(episode: Episode, at: list[int], lag: int, walls: Array) -> tuple[Array, Array, npt.NDArray[np.bool_]]:
    """Sums of actions [n, A], displacements [n, K], one after another without overlap, and which met no wall [n, K]."""
    starts = np.arange(lag, len(episode.actions) - WINDOW + 1, WINDOW)
    sums = np.concatenate([np.zeros((1, episode.actions.shape[1])), episode.actions.cumsum(0)])
    did = sums[starts + WINDOW - lag] - sums[starts - lag]
    seen = episode.states[starts[:, None] + np.arange(WINDOW + 1)][..., at]
    free = ((seen > walls[0]) & (seen < walls[1])).all(1)
    return did, seen[:, -1] - seen[:, 0], free


def find_plane(play: Sequence[Episode], entities: Entities) -> Plane | None:
    """The plane, if random play shows that the actions move the hand along straight lines; None if not.

    Two of the actions must explain the hand's first two coordinates, lead in directions at right angles and be as
    fast, and no other action may move them.

    >>> from orcalign.envs.random_play import watch
    >>> find_plane(watch("nav2d", 10), Entities(hand=(0, 1))).actions
    (0, 1)
    """
    if len(entities.hand) < 2 or entities.units or play[0].actions.shape[1] < 2:
        return None
    by, explained = moves(play, entities.hand[:2])
    if (explained < FOLLOWS).any():
        return None
    order = np.argsort(-np.linalg.norm(by, axis=0), kind="stable")
    first, second = sorted(order[:2].tolist())
    leads, others = by[:, [first, second]], by[:, order[2:]]
    fast, slow = np.linalg.svd(leads, compute_uv=False)
    if slow < (1 - SIMILAR) * fast or (others.size and np.abs(others).max() > SIMILAR * slow):
        return None
    # A map that is nearly a turn, or a turn and a mirror, is taken for one, so that no action becomes longer.
    left, _, right = np.linalg.svd(leads)
    (a, b), (c, d) = (left @ right).tolist()
    return Plane((first, second), ((a, b), (c, d)))


def turning_of(task: str | TaskSpec, entities: Entities) -> Turning | None:
    """What turns every episode of a task so that the goal lies ahead of the object; None if that cannot be, because
    the entities have no goal in a plane or the actions do not move the hand along straight lines.

    It takes some seconds of random play.

    >>> turning_of("nav2d", Entities(hand=(0, 1))) is None
    True
    """
    if not entities.goal or len(entities.hand) < 2:
        return None
    play = watch(task)
    plane = find_plane(play, entities)
    if plane is None:
        return None
    env = make(task, render=None)
    (seen,) = env.observation_space.shape or (0,)
    env.close()
    return Turning(entities, plane, tuple(range(play[0].states.shape[1], seen)))


def share_aside(task: str | TaskSpec, entities: Entities, resets: int = RESETS) -> float:
    """Share of the resets in which the goal lies in quite another direction from the first object than it does on
    average; 0 where there is no object or no goal.

    >>> share_aside("push", Entities((0, 1, 2), objects=((4, 5, 6),), goal=(36, 37, 38))) < 0.1
    True
    """
    if not entities.goal or not entities.objects or len(entities.hand) < 2:
        return 0.0
    env = make(task, render=None)
    first = entities.read(np.stack([env.reset(seed=train_seed(k))[0] for k in range(resets)]))
    env.close()
    ways = (first[:, entities.at("goal")] - first[:, entities.at("object 1")])[:, :2]
    x, y = ways[np.linalg.norm(ways, axis=1) >= SHORT].T
    if not len(x):
        return 0.0
    towards = (x + 1j * y) / np.hypot(x, y)
    return float((np.abs(np.angle(towards * np.conj(towards.mean()))) > ASIDE).mean())
