"""Posed scenes of Meta-world: things and hand at random places, lying, held or carried, as one meets them while acting.

A frame of a thing that floats would leave its depth open, so things lie, fall or are held. Nothing here is of one task:
places are about where a reset puts things, about the goal, and about the hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from orcalign.envs.metaworld.env import MetaworldEnv
from orcalign.envs.metaworld.mocap import Stage, Vector, turned
from orcalign.envs.posing import Posed, layout_numbers, layout_seed
from orcalign.envs.rendering import FrameRenderer

UP = np.array([0.0, 0.0, 1.0])
OPEN, CLOSED = -1.0, 1.0
MARGIN = 0.12
"""Metres about start, goal and hand in which a layout's scenes are."""
RAISED = 0.1
"""Metres above that to which the hand goes: on its way it passes over things."""
FALL = 18
"""Most simulation steps of 12.5 ms for which things fall: a quarter of a metre."""
HEIGHTS = ((-0.04, 0.02), (0.02, 0.05), (0.02, 0.1))
"""Ranges of the hand's height over what it is near; a third of the time each."""
HINGE_BEYOND, SLIDE_BEYOND = 1.0, 0.3
"""How far beyond either limit a joint is put at most, in units of its range."""
HOLDS = 0.15
"""Metres between hand and object within which it may still be held."""


@dataclass(frozen=True)
class Kind:
    """How often a scene shows what."""

    to_object: float
    """Share of scenes in which the hand goes to the first object."""
    to_goal: float
    """… to the goal."""
    to_second: float
    """… to the second object, where there is one. Otherwise anywhere."""
    as_left: float
    """… that are shown as the hand left them."""
    moved_on: int
    """How often things are put elsewhere while the hand stays."""
    taken: float
    """Share of scenes in which the hand then takes a thing that lies about, or goes along with what is guided."""
    carried: tuple[int, int]
    """Fewest and most places to which it goes with it."""


GENERAL = Kind(0.4, 0.15, 0.07, as_left=0.35, moved_on=2, taken=0.75, carried=(0, 3))
HELD = Kind(0.6, 0.08, 0.07, as_left=0.9, moved_on=1, taken=1.0, carried=(2, 6))
SCENES = (GENERAL, HELD, GENERAL)
"""Of one layout; a held scene has more frames than a general one, so that there are about as many of either."""


@final
class Layout:
    """What one reset draws, and the scenes that are posed in it; frames come in a fixed order of random numbers."""

    def __init__(self, stage: Stage, renderer: FrameRenderer, group: int, seed: int, time: bool) -> None:
        self._stage, self._renderer, self._group, self._time = stage, renderer, group, time
        self._rng = layout_numbers(group, seed)
        self._reset, _ = stage.env.reset(seed=layout_seed(group, seed))
        self._start, self._goal, hand = self._reset[4:7].copy(), self._reset[36:39].copy(), self._reset[:3]
        self._first = {joint: stage.value(joint) for joint in (*stage.free, *stage.guided)}
        places = [self._start, self._goal, hand]
        self._second = bool(self._reset[11:14].any())
        if self._second:
            places.append(self._reset[11:14])
        self._low, self._high = np.min(places, axis=0) - MARGIN, np.max(places, axis=0) + MARGIN
        self._low[2], self._high[2] = max(self._low[2], 0.015), self._high[2] + 0.05
        # What the hand takes is the thing that the observation calls the first object.
        far = [float(np.linalg.norm(self._first[joint][:3] - self._start)) for joint in stage.free]
        self._nearest = stage.free[int(np.argmin(far))] if far else None

    def frames(self) -> Iterator[Posed]:
        """The layout as it is reset, then its scenes, as long as nothing explodes."""
        yield self._shown(self._reset, rest=True)
        for kind in SCENES:
            for observation in self._scene(kind):
                if not self._stage.sane(observation):
                    break
                yield self._shown(observation)

    def _shown(self, observation: Vector, rest: bool = False) -> Posed:
        state = np.append(observation, 0.0) if self._time else observation
        return Posed(self._renderer.render(), state, self._group, rest)

    def _scene(self, kind: Kind) -> Iterator[Vector]:
        """The observations of one scene, each of the world as it is at that moment."""
        stage, rng = self._stage, self._rng
        guided = {joint: self._guided(joint) for joint in stage.guided}
        stage.put({**guided, **{joint: self._lying(joint, stage.hand) for joint in stage.free}})
        grip = float(rng.choice([OPEN, CLOSED]) if rng.random() < 0.8 else rng.uniform(-1, 1))
        stage.lead(self._target(kind, stage.env.observe()), grip, int(rng.integers(10, 18)))
        if rng.random() < kind.as_left:
            yield stage.env.observe()
        for _ in range(kind.moved_on):
            if rng.random() < 0.5:
                guided = {joint: self._guided(joint) for joint in stage.guided}
            stage.put({**guided, **{joint: self._lying(joint, stage.hand) for joint in stage.free}})
            if stage.free and rng.random() < 0.85:
                stage.fall(grip, FALL)
            elif rng.random() < 0.5:
                stage.wait(grip, 1)  # contacts push things apart, and limits push them back
            yield stage.env.observe()
        if rng.random() < kind.taken:
            yield from self._guide(kind, grip) if self._nearest is None else self._carry(self._nearest, kind)

    def _carry(self, joint: int, kind: Kind) -> Iterator[Vector]:
        """A thing between the fingers, then with the hand elsewhere, at times let go."""
        stage, rng = self._stage, self._rng
        stage.wait(OPEN, 4)
        quaternion = self._tilted(joint) if rng.random() < 0.4 else self._first[joint][3:]
        spread = np.array([0.008, 0.008, 0.012]) if rng.random() < 0.6 else np.array([0.04, 0.015, 0.015])
        place = stage.fingertips + rng.normal(size=3) * spread
        stage.put({joint: np.concatenate([place, quaternion])})
        if rng.random() < 0.6:  # by any part of it
            place = place + stage.fingertips - stage.point_on(joint, rng)
            stage.put({joint: np.concatenate([place, quaternion])})
        stage.wait(CLOSED, 6)
        observation = stage.env.observe()
        yield observation
        for _ in range(self._times(kind)):
            offset = stage.data.mocap_pos[0] - observation[4:7]
            stage.lead(self._on_the_way(offset), CLOSED, 9)
            observation = stage.env.observe()
            yield observation
            if np.linalg.norm(observation[4:7] - observation[:3]) > HOLDS:
                return
        if rng.random() < 0.3:
            stage.wait(OPEN, int(rng.integers(1, 8)))
            yield stage.env.observe()

    def _guide(self, kind: Kind, grip: float) -> Iterator[Vector]:
        """Hinges and slides elsewhere, and the hand gone along, as if it had pushed or pulled them."""
        stage, rng = self._stage, self._rng
        for _ in range(self._times(kind)):
            thing, place = stage.env.observe()[4:7], stage.data.mocap_pos[0].copy()
            guided = {joint: self._guided(joint) for joint in stage.guided}
            stage.put(guided)
            moved = stage.env.observe()[4:7]
            along = place + moved - thing
            near = np.linalg.norm(place - thing) < HOLDS
            stage.lead(self._blurred(along, 0.01) if near else self._about(moved), grip, 9)
            if rng.random() < 0.5:  # what its limit has pushed back, a hand would have held there
                stage.put(guided)
            yield stage.env.observe()

    def _times(self, kind: Kind) -> int:
        return int(self._rng.integers(kind.carried[0], kind.carried[1] + 1))

    def _on_the_way(self, offset: Vector) -> Vector:
        """Where the hand is to be for the object to be about the goal, or on its way there, or anywhere."""
        rng, kind = self._rng, self._rng.random()
        if kind < 0.4:
            return self._blurred(self._goal + offset + 0.05 * rng.random() * UP, 0.05)
        if kind < 0.75:
            way = self._start + rng.random() * (self._goal - self._start) + 0.2 * rng.random() * UP
            return self._blurred(way + offset, 0.05)
        return self._anywhere()

    def _target(self, kind: Kind, observation: Vector) -> Vector:
        """Where the hand goes."""
        drawn = self._rng.random()
        if drawn < kind.to_object:
            return self._about(observation[4:7])
        if drawn < kind.to_object + kind.to_goal:
            return self._about(self._goal)
        if self._second and drawn < kind.to_object + kind.to_goal + kind.to_second:
            return self._about(observation[11:14])
        return self._anywhere(0.05, RAISED)

    def _about(self, place: Vector) -> Vector:
        """A place for the hand near something: mostly above it, at times below."""
        low, high = HEIGHTS[self._rng.integers(len(HEIGHTS))]
        return self._blurred(place + self._rng.uniform(low, high) * UP, float(self._rng.choice([0.02, 0.05])))

    def _blurred(self, place: Vector, spread: float) -> Vector:
        blurred: Vector = place + self._rng.normal(size=3) * spread
        return blurred

    def _anywhere(self, margin: float = 0.0, raised: float = 0.0) -> Vector:
        place: Vector = self._rng.uniform(self._low - margin, self._high + margin + raised * UP)
        return place

    def _guided(self, joint: int) -> float:
        """A place of a hinge or slide. Its limits are soft: a hand pushes it beyond, a lever far beyond."""
        rng, (low, high) = self._rng, self._stage.range(joint)
        if rng.random() < 0.15:
            return float(self._first[joint][0])
        beyond = (high - low) * (HINGE_BEYOND if self._stage.is_hinge(joint) else SLIDE_BEYOND)
        low, high = low - beyond * (rng.random() < 0.4), high + beyond * (rng.random() < 0.4)
        return float(rng.uniform(low, high) if rng.random() < 0.8 else rng.choice([low, high]))

    def _lying(self, joint: int, hand: Vector) -> Vector:
        """[7] A place and a turn of a thing that lies about."""
        return np.concatenate([self._place(self._first[joint][:3], hand), self._tilted(joint)])

    def _place(self, first: Vector, hand: Vector) -> Vector:
        rng, kind = self._rng, self._rng.random()
        if kind < 0.4:  # about where it starts, on its ground
            return np.append(self._blurred(first, 0.05)[:2], first[2])
        if kind < 0.55:  # anywhere on its ground
            return np.append(rng.uniform(self._low[:2], self._high[:2]), first[2])
        if kind < 0.65:  # on the way to the goal
            way = self._blurred(first + rng.uniform(0, 1.1) * (self._goal - first), 0.04)
            return np.append(way[:2], first[2])
        if kind < 0.8:
            return self._blurred(self._goal, 0.03)
        if kind < 0.9:
            return self._blurred(hand, 0.05)
        return self._anywhere()

    def _tilted(self, joint: int) -> Vector:
        """[4] As it lies after a reset, or turned about the vertical, or about any axis."""
        rng, kind, first = self._rng, self._rng.random(), self._first[joint][3:]
        if kind < 0.45:
            return first
        axis = UP if kind < 0.7 else rng.normal(size=3)
        far = kind > 0.9 or (kind < 0.7 and rng.random() < 0.5)
        return turned(first, axis, float(rng.uniform(-np.pi, np.pi) if far else rng.normal() * 0.35))


def pose_layouts(
    env: MetaworldEnv, renderer: FrameRenderer, seed: int, first: int = 0, time: bool = True
) -> Iterator[Posed]:
    """Layout after layout from number `first` on, without an end; `time` says whether observations tell the time."""
    stage, group = Stage(env), first
    try:
        while True:
            yield from Layout(stage, renderer, group, seed, time).frames()
            group += 1
    finally:
        renderer.close()
