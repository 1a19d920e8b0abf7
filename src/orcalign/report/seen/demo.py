"""A demo as an eye describes it, with where that is in the pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from orcalign.costs.predicted import DescribedDemo
from orcalign.costs.predicted.doubts import unseen
from orcalign.costs.predicted.entities import Part
from orcalign.costs.predicted.eye import Eye
from orcalign.envs import find_suite, find_task
from orcalign.matching.match import FloatArray
from orcalign.rewards.follow import FollowReward
from orcalign.rewards.follow.own_frames import EYE
from orcalign.training.run_folder import run_reward
from orcalign.video import Demo

CLOSEST = 0.01
"""Depth from which on a place is before the camera."""


@dataclass(frozen=True, eq=False)
class SeenDemo:
    """What is said of a demo's J frames.

    >>> from orcalign.costs.predicted import Entities
    >>> told = DescribedDemo.known(Entities((0, 1), unit=1.0), [[10.0, 20.0]], [0.0, 0.0])
    >>> seen = SeenDemo(Demo(np.zeros((1, 8, 8, 3), np.uint8)), told, projection=np.diag([0.01, 0.01, 1.0]))
    >>> seen.spots.round(3).tolist(), seen.words(0)
    ([[[0.1, 0.2, 0.001]]], ['hand 10.0, 20.0 cm (± 0.1)'])
    """

    demo: Demo
    described: DescribedDemo
    errors: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Median and 90% quantile of each part's error in centimetres, on frames that the eye was not fitted to."""
    still: tuple[str, ...] = ()
    """Parts that never moved in what it learned from."""
    projection: FloatArray | None = None
    """[3, n+1] From centimetres to shares of the picture (`Suite.projection`); None where that is not known."""
    problem: str = ""
    """Why the frames are another camera's, in one sentence."""
    doubt: str = ""
    """What the eye has not learned to see, in one sentence."""

    @property
    def places(self) -> tuple[Part, ...]:
        """The parts that are places, which a gripper's opening is not; none where nothing is known of the numbers."""
        entities = self.described.entities
        return () if entities.units else tuple(part for part in entities.parts if part.name != "gripper")

    @property
    def spots(self) -> FloatArray:
        """[J, places, 3] x, y and expected error as shares of the picture; nan where it is not known."""
        values, parts = self.described.values, self.described.entities.parts
        found = np.full((len(values), len(self.places), 3), np.nan)
        for k, part in enumerate(self.places if self.projection is not None else ()):
            place, scale = values[:, part.at], self.described.scales[:, parts.index(part)]
            found[:, k, :2] = self.project(np.asarray(place, np.float64))
            steps: list[FloatArray] = list(np.eye(place.shape[1]))
            around = [np.asarray(place + scale[:, None] * way, np.float64) for way in steps]
            ways = [self.project(one) - found[:, k, :2] for one in around]
            found[:, k, 2] = np.linalg.norm(ways, axis=2).max(axis=0)
        return found

    def project(self, places: FloatArray) -> FloatArray:
        """[N, 2] Shares of the picture at which places [N, n] are; nan behind the camera."""
        assert self.projection is not None
        seen = np.concatenate([places, np.ones((len(places), 1))], axis=1) @ self.projection.T
        depth = np.where(seen[:, 2:] > CLOSEST, seen[:, 2:], np.nan)
        return np.asarray(seen[:, :2] / depth)

    def words(self, j: int) -> list[str]:
        """What is said of frame j, a line for each part."""
        told, said = self.described, []
        for k, part in enumerate(told.entities.parts):
            where = ", ".join(f"{value:.1f}" for value in told.values[j, part.at])
            doubt = "" if told.believed[j] or not part.name.startswith("object") else ", not believed"
            stands = ", never moved" if part.name in self.still else ""
            said.append(f"{part.name} {where} cm (± {told.scales[j, k]:.1f}{doubt}{stands})")
        return said


def see(eye: Eye, demo: Demo) -> SeenDemo:
    """What an eye makes of a demo; nothing but the eye itself says whether it is to be believed."""
    told = eye.describe(eye.look(demo.frames))
    return _seen(eye, demo, told, _projection(eye.about, demo))


def seen_by_run(folder: Path, demo: Demo | None = None) -> SeenDemo | None:
    """What the eye of a run makes of the run's demo, or of another; None for a run without one, or before it learned.

    What is believed of the run's own demo, the run has found out; of another the eye alone is asked.
    """
    reward = run_reward(folder).find(FollowReward)
    if reward is None:
        raise ValueError(f"{str(folder)!r} is a run without an eye; give one of a recipe follow, or an eye's file.")
    eye = reward.own.eye if reward.own is not None else Eye.load(folder / EYE)
    own = reward.demos[0]
    if demo is not None and demo.sha256 != own.sha256:
        return None if eye.head is None else see(eye, demo)
    if reward.guiding is None:
        return None
    return _seen(eye, own, reward.guiding.demo, _projection(eye.about, own))


def _seen(eye: Eye, demo: Demo, told: DescribedDemo, projection: FloatArray | None) -> SeenDemo:
    still, other = tuple(eye.about["still"]), eye.view_problem(demo.frames)
    return SeenDemo(demo, told, eye.errors, still, projection, other, unseen(eye))


def _projection(about: Mapping[str, Any], demo: Demo) -> FloatArray | None:
    """That of the eye's task and camera, where its simulator is installed."""
    task = about.get("task") or demo.task
    if task is None:
        return None
    try:
        spec = find_task(str(task))
        camera = about.get("camera") or spec.camera
        return find_suite(spec.suite).projection(replace(spec, camera=camera))
    except (ValueError, ImportError):
        return None
