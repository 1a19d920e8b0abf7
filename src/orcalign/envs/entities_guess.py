"""A guess at what of an observation is where, by watching random play; what was seen goes with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from orcalign.costs.predicted.entities import Entities
from orcalign.envs.cartesian import FOLLOWS, Moves, moves
from orcalign.envs.poking import Poked, poke
from orcalign.envs.random_play import EPISODES, Array, Episode, Watched
from orcalign.envs.tasks import TaskSpec

At = tuple[int, ...]
WIDTHS = (20.0, 300.0)
"""Centimetres that a table may be wide if one unit is a metre; another world is taken to be 60 cm wide."""
GRIPS = 0.7
"""Correlation of a gripper with the action that it follows."""
MOVING = 0.8
"""Share of the steps in which what the agent moves does move."""


class Row(NamedTuple):
    """What is said of one part."""

    part: str
    numbers: At
    seen: str
    sure: bool = True


@final
@dataclass(frozen=True)
class Guess:
    """Entities, if a hand was found, and what was seen of each."""

    entities: Entities | None
    rows: tuple[Row, ...]


def guess_entities(task: str | TaskSpec, episodes: int = EPISODES) -> Guess:
    """What random play and, once a hand is found, poking at what might be an object say of a task's observations.

    The hand are two or three numbers, one after another, that follow the actions in straight lines. Objects move only
    when it is near. A goal is still in every episode, and elsewhere in the next. Goal environments say themselves what
    is achieved and desired; what is achieved is the hand if it hardly ever rests.

    >>> guess = guess_entities("nav2d", episodes=10)
    >>> guess.entities.hand, guess.entities.goal, [row.part for row in guess.rows]
    ((0, 1), (), ['hand'])
    """
    watched = Watched(task)
    try:
        return _guess(watched, [watched.random(number) for number in range(episodes)])
    finally:
        watched.close()


def _guess(watched: Watched, play: Sequence[Episode]) -> Guess:
    found, groups = moves(play), _groups(watched, play)
    achieved, desired = _goals(watched)
    hand = _hand(found, groups, play)
    rows = []
    if achieved and _share_moving(play, achieved) >= MOVING:
        straight = bool(found.explained[list(achieved)].min() >= FOLLOWS)
        hand, seen = achieved, "the achieved goal, which hardly ever rests"
        rows.append(Row("hand", hand, seen if straight else f"{seen}, but not in straight lines", straight))
    elif hand:
        followed = [int(np.abs(found.by[k]).argmax()) for k in hand]
        least = min(found.explained[list(hand)])
        rows.append(Row("hand", hand, f"follows the actions {_words(followed)}, which explain {least:.0%} or more"))
    else:
        best = float(found.explained.max(initial=0.0))
        seen = f"no two or three numbers follow the actions in straight lines (the best single one by {best:.0%})"
        return Guess(None, (Row("hand", (), seen, sure=False),))
    gripper, opening = _gripper(found, hand, play)
    if gripper is not None:
        rows.append(Row("gripper", (gripper,), f"follows one action; {opening:.3g} cm a unit if it opens by 10 cm"))
    objects: tuple[At, ...] = ()
    goal: At = ()
    if len(achieved) == len(hand):
        goal = desired
        if achieved != hand:
            objects = (achieved,)
            rows.append(Row("object 1", achieved, "the achieved goal"))
        rows.append(Row("goal", goal, "the desired goal"))
    elif not achieved:
        used = {*hand, *([gripper] if gripper is not None else [])}
        places = _places(hand, [[k for k in group if k not in used] for group in groups], play)
        objects, goal = _sorted_out(poke(watched, play, hand, found.by[list(hand)], places), rows)
    unit = _unit([hand, *objects, *([goal] if goal else [])], play)
    made = Entities(hand, gripper, objects, goal, unit=unit, opening=opening if gripper is not None else 10.0)
    return Guess(made, tuple(rows))


def _goals(watched: Watched) -> tuple[At, At]:
    """What is achieved and desired, where the environment says it and they can be places."""
    parts = [watched.layout.get(name) for name in ("achieved_goal", "desired_goal")]
    first, second = (tuple(range(part.start, part.stop)) if part is not None else () for part in parts)
    return (first, second) if len(first) == len(second) and len(first) in (2, 3) else ((), ())


def _groups(watched: Watched, play: Sequence[Episode]) -> list[list[int]]:
    """The numbers of each part of the observation, without those that move as an earlier one does, now or a little
    later."""
    begins = np.stack([episode.states[0] for episode in play])
    states = np.concatenate([episode.states for episode in play])
    varies = np.max([np.ptp(episode.states, axis=0) for episode in play], axis=0) > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        alike = np.abs(np.corrcoef(states.T)) > 0.95
    repeats = {
        k
        for k in np.flatnonzero(varies).tolist()
        if any(varies[i] and alike[i, k] and (begins[:, i] == begins[:, k]).all() for i in range(k))
    }
    parts = list(watched.layout.values()) or [slice(0, states.shape[1])]
    return [[k for k in range(part.start, part.stop) if k not in repeats] for part in parts]


def _runs(groups: list[list[int]], length: int) -> list[At]:
    """All runs of so many numbers, one after another, that are in one group."""
    runs = (tuple(range(k, k + length)) for group in groups for k in group)
    return [run for run in runs if any(set(run) <= set(group) for group in groups)]


def _hand(found: Moves, groups: list[list[int]], play: Sequence[Episode]) -> At:
    """The run whose numbers follow an action each, in its direction rather than against it; nothing if none does.

    Against it goes what is seen from the hand, and that begins elsewhere in every episode.
    """
    begins = np.stack([episode.states[0] for episode in play]).std(0)
    for length in (3, 2):
        runs = [
            run
            for run in _runs(groups, length)
            if found.explained[list(run)].min() >= FOLLOWS
            and len({int(np.abs(found.by[k]).argmax()) for k in run}) == length
        ]
        if runs:
            return min(runs, key=lambda run: (_against(found.by[list(run)]), begins[list(run)].sum().round(3), run[0]))
    return ()


def _against(by: Array) -> int:
    return int((by[np.arange(len(by)), np.abs(by).argmax(1)] < 0).sum())


def _gripper(found: Moves, hand: At, play: Sequence[Episode]) -> tuple[int | None, float]:
    """The number that is where an action that does not move the hand has brought it, and its centimetres a unit."""
    strength = np.abs(found.by[list(hand)]).max(0)
    free = np.flatnonzero(strength < 0.1 * strength.max())
    states = np.concatenate([episode.states[1:] for episode in play])
    spread = np.quantile(states, 0.99, axis=0) - np.quantile(states, 0.01, axis=0)
    by: dict[int, float] = {}
    for share in (0.5, 0.3, 0.15):
        recent = np.concatenate([_recent(episode.actions, share) for episode in play])
        for k in np.flatnonzero(spread > 1e-3).tolist():
            told = [abs(float(np.corrcoef(states[:, k], recent[:, a])[0, 1])) for a in free.tolist()]
            by[k] = max(by.get(k, 0.0), *told) if told and k not in hand else 0.0
    best = max(by.values(), default=0.0)
    if best < GRIPS:
        return None, 0.0
    gripper = min(k for k, value in by.items() if value > best - 0.05)
    return gripper, float(f"{10 / spread[gripper]:.3g}")


def _recent(actions: Array, share: float) -> Array:
    """[T, A] Means of the last actions, the older the less."""
    made, mean = np.empty_like(actions), np.zeros(actions.shape[1])
    for k, action in enumerate(actions):
        mean = mean + share * (action - mean)
        made[k] = mean
    return made


def _share_moving(play: Sequence[Episode], at: At) -> float:
    """Share of the steps in which a place moves by a thousandth of all that it ever does."""
    states = [episode.states[:, list(at)] for episode in play]
    span = np.ptp(np.concatenate(states), axis=0).max()
    steps = np.concatenate([np.linalg.norm(np.diff(one, axis=0), axis=1) for one in states])
    return float((steps > 1e-3 * span).mean())


def _places(hand: At, groups: list[list[int]], play: Sequence[Episode]) -> list[At]:
    """Runs that are where the hand could be, and not the same in all episodes."""
    states = np.concatenate([episode.states for episode in play])
    low, high = states[:, list(hand)].min(0), states[:, list(hand)].max(0)
    reach = float((high - low).max())
    found: list[At] = []
    for run in _runs(groups, len(hand)):
        there = states[:, run]
        inside = ((there >= low - reach) & (there <= high + reach)).all(1).mean() > 0.95
        again = any((there == states[:, other]).all() for other in found)
        # What is zero throughout is a place that nothing fills, and the one beside it.
        if inside and not again and there.any(0).sum() > 1 and np.ptp(there, axis=0).max() > 0.01 * reach:
            found.append(run)
    return sorted(found, key=lambda run: (-int(states[:, run].any(0).sum()), run))


def _sorted_out(poked: list[Poked], rows: list[Row]) -> tuple[tuple[At, ...], At]:
    """Objects and the goal, no number in two of them; and what is said of them."""
    chosen: list[Poked] = []
    moved = sorted((one for one in poked if one.near > one.far), key=lambda one: one.distance)
    for one in [*moved, *(one for one in poked if not one.near and not one.far)]:
        if not any(set(one.place) & set(other.place) for other in chosen):
            chosen.append(one)
    chosen.sort(key=lambda one: one.place)
    still = [one for one in chosen if not one.near]
    objects: list[At] = []
    for one in chosen:
        if still and one is still[-1]:
            continue
        objects.append(one.place)
        if one.near:
            seen = f"moved in {one.near + one.far} of {one.episodes} episodes, in {one.near} of them with the hand near"
        else:
            seen = "still in every episode like the goal: an object that was not touched, or another goal"
        rows.append(Row(f"object {len(objects)}", one.place, seen, one.near > 0))
    if not still:
        return tuple(objects), ()
    seen = f"still in all of {still[-1].episodes} episodes, elsewhere in the next"
    rows.append(Row("goal", still[-1].place, seen, sure=bool(objects)))
    return tuple(objects), still[-1].place


def _unit(places: Sequence[At], play: Sequence[Episode]) -> float:
    states = np.concatenate([episode.states for episode in play])
    low = np.min([states[:, list(place)].min(0) for place in places], axis=0)
    high = np.max([states[:, list(place)].max(0) for place in places], axis=0)
    width = float((high - low).max())
    return 100.0 if WIDTHS[0] <= 100 * width <= WIDTHS[1] else float(f"{60 / width:.3g}")


def _words(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers[:-1])) + f" and {numbers[-1]}"
