"""What of a task's observation is where: as its user says, as its suite knows, or as random play looks."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from orcalign.costs.predicted.entities import Entities
from orcalign.envs.entities_guess import Guess, guess_entities
from orcalign.envs.making import make
from orcalign.envs.random_play import EPISODES, watch
from orcalign.envs.suite import find_suite
from orcalign.envs.tasks import TaskSpec, find_task

STILL = 1e-5
"""A number that varies by less, as a share of its size, does not vary."""


def entities_of(task: str | TaskSpec, file: Path | None = None) -> Entities | None:
    """Those of the file, else those that the suite knows, else what random play shows; None if that shows no hand.

    The last takes some seconds, once for each task in a process. Their numbers are those of `make` without pixels.

    >>> entities_of("nav2d").hand, entities_of("CartPole-v1") is None
    ((0, 1), True)
    """
    spec = find_task(task)
    if file is not None:
        return Entities.from_file(file).check(_numbers(spec))
    known = find_suite(spec.suite).entities(spec)
    if known is not None:
        return known
    try:
        return guessed(spec).entities
    except ValueError:  # nothing to regress on: neither actions nor observations are rows of numbers
        return None


@lru_cache(maxsize=16)
def guessed(spec: TaskSpec) -> Guess:
    """`guess_entities`, once for each task."""
    return guess_entities(spec)


def everything(task: str | TaskSpec, episodes: int = EPISODES) -> Entities:
    """All numbers of a task's observation, each measured by how it varies in random play; for where nothing is known.

    A number that does not vary counts nothing. The time that `make` appends is not among them.

    >>> everything("nav2d", episodes=5).dim
    3
    """
    states = np.concatenate([episode.states for episode in watch(task, episodes)])
    spread = states.std(0)
    still = spread <= STILL * np.maximum(np.abs(states).max(0), 1e-12)
    if still.all():
        raise ValueError(f"no number of the observation of {find_task(task).name!r} ever varies; nothing can be seen.")
    return Entities.everything(np.where(still, np.inf, spread).tolist())


def _numbers(spec: TaskSpec) -> int:
    env = make(replace(spec, time=False), render=None)
    shape = env.observation_space.shape
    env.close()
    if shape is None or len(shape) != 1:
        raise ValueError(f"the observations of {spec.name!r} are no row of numbers, so they can have no entities.")
    return int(shape[0])
