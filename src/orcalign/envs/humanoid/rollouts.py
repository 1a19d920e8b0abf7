"""Rollouts that show what an agent will do, good and bad: what the joint predictor learns from.

No demo and no goal is told apart in them: the arms go anywhere, to the four goals among others, while the legs hold,
give way or do the splits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from orcalign.costs.predicted.entities import Entities
from orcalign.envs.humanoid.control import HoldAngles, goal_angles, within
from orcalign.envs.humanoid.env import HumanoidArms
from orcalign.envs.humanoid.poses import ARMS, GOALS, HINGES, OBSERVED_ARMS, POINTS
from orcalign.envs.posing import Posed, layout_numbers, layout_seed

if TYPE_CHECKING:
    from orcalign.envs.rendering import FrameRenderer

Act = Callable[[int], npt.NDArray[np.float32]]
EVERY = 5
"""Steps from one frame to the next."""
ALIKE, KEPT = 4, 0.25
"""The first frames of a rollout are much alike: of so many each is kept with this probability, and then one of its five
steps."""
RADIAN = 100.0
"""What a radian counts as, where places count in centimetres."""
ON = 10
"""Steps after which arms that go anywhere go somewhere else: sooner than they are there, so that no two frames show the
same."""
PUT, LOOKS = 0.4, 16
"""Share of the rollouts in whose place the humanoid is put into poses, as in a demo, after that of a reset, and how
many frames that gives: each of these has arms like no other."""
LOW, GOES_ON = 0.7, 0.2
"""A rollout ends where the torso is below so many metres, but for this share: who lies on the ground is not to be most
of what is seen."""
OBSERVED = 376
"""Numbers of an observation; the places of the joints come after them in a posed state."""


def labels() -> Entities:
    """What of a posed state [430] is where: the 18 joints in centimetres, then the angles of the arms.

    >>> [part.name for part in labels().parts][-2:], labels().dim
    (['object 18', 'object 19'], 60)
    """
    places = [tuple(range(OBSERVED + 3 * k, OBSERVED + 3 * k + 3)) for k in range(len(POINTS))]
    return Entities(places[0], objects=(*places[1:], OBSERVED_ARMS[:3], OBSERVED_ARMS[3:]), unit=RADIAN)


def pose_rollouts(env: HumanoidArms, renderer: FrameRenderer, seed: int, first: int = 0) -> Iterator[Posed]:
    """Frames of rollouts with observation and places of the joints [430]; without an end, from rollout `first` on."""
    group = first
    while True:
        rng = layout_numbers(group, seed)
        env.reset(seed=layout_seed(group, seed))
        if rng.random() < PUT:
            for k in range(LOOKS):
                if k:
                    env.put(*_pose(env, rng))
                yield _look(env, renderer, group, k == 0)
            group += 1
            continue
        wanted = set(_moments(env.task_spec.episode_steps, rng).tolist())
        act, goes_on = _play(env, rng), rng.random() < GOES_ON
        for t in range(env.task_spec.episode_steps):
            if t in wanted:
                yield _look(env, renderer, group, t == 0)
            *_, terminated, _, info = env.step(act(t))
            if terminated or (info["height"] < LOW and not goes_on):
                break
        group += 1


def _look(env: HumanoidArms, renderer: FrameRenderer, group: int, rest: bool) -> Posed:
    return Posed(renderer.render(), np.concatenate([env.observe(), env.joints().ravel()]), group, rest)


def _pose(env: HumanoidArms, rng: np.random.Generator) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Angles [17] and torso [7] of one who stands, more or less: arms anywhere, or about the way to a goal."""
    low, high = (env.model.jnt_range[1:, k] for k in (0, 1))
    angles = rng.normal(0, rng.choice([0.02, 0.15]), len(HINGES))
    if rng.random() < 0.5:
        angles[ARMS] = rng.uniform(low[ARMS], high[ARMS])
    else:
        angles[ARMS] = rng.random() * goal_angles(rng.choice(list(GOALS)))[ARMS] + rng.normal(0, rng.uniform(0, 0.4), 6)
    turn = rng.normal(0, rng.choice([0.02, 0.15]), 3)
    torso = np.concatenate([np.array([0, 0, 1.4]) + rng.normal(0, 0.05, 3), [1.0], turn / 2])
    torso[3:] /= np.linalg.norm(torso[3:])
    return np.clip(angles, low, high), torso


def _moments(steps: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """The steps that are looked at."""
    times = np.arange(0, steps, EVERY)
    early = times[:ALIKE] + rng.integers(0, EVERY, ALIKE)
    return np.concatenate([early[rng.random(ALIKE) < KEPT], times[ALIKE:]])


def _play(env: HumanoidArms, rng: np.random.Generator) -> Act:
    """One of the ways to move, drawn by lot."""
    low, high = (env.model.jnt_range[1:, k] for k in (0, 1))
    kind = rng.choice(["random", "arms", "goal", "noisy", "fall", "splits"], p=[0.15, 0.3, 0.2, 0.2, 0.1, 0.05])
    noise = _smooth(rng, env.task_spec.episode_steps)
    if kind == "random":
        loud = rng.uniform(0.1, 0.4)
        return lambda t: within(loud * noise[t])
    hold = HoldAngles(env, np.zeros(len(HINGES)), legs=float(rng.uniform(50, 110)))
    if kind == "fall":
        hold = HoldAngles(env, hold.angles, legs=float(rng.uniform(0, 25)))
        env.data.qvel[:6] += rng.normal(0, 0.6, 6)
    if kind == "splits":
        sides = ("right", "left") if rng.random() < 0.5 else ("left", "right")
        legs = [HINGES.index(f"{side}_hip_{axis}") for axis in ("y", "x") for side in sides]
        hold.angles[legs] = rng.uniform((-1.9, 0.0, -0.4, -0.4), (-0.8, 0.35, 0.1, 0.1))
    goal = goal_angles(rng.choice(list(GOALS)))[ARMS]
    targets = rng.uniform(low[ARMS], high[ARMS], (env.task_spec.episode_steps // ON, 6))
    loud = rng.uniform(0.0, 0.08 if kind in ("arms", "goal") else 0.25)

    def act(t: int) -> npt.NDArray[np.float32]:
        if kind == "goal" or (kind == "noisy" and t > 40):
            hold.angles[ARMS] = goal * min(1.0, (t + 1) / 40)
        else:
            hold.angles[ARMS] = targets[t // ON]
        return within(hold() + loud * noise[t])

    return act


def _smooth(rng: np.random.Generator, steps: int) -> npt.NDArray[np.float64]:
    """[steps, 17] Noise of variance 1 that goes somewhere: each number keeps some of the one before."""
    keeps = rng.uniform(0.0, 0.95)
    draws = rng.standard_normal((steps, len(HINGES)))
    found = np.empty_like(draws)
    now: Any = draws[0]
    for t in range(steps):
        now = keeps * now + np.sqrt(1 - keeps**2) * draws[t]
        found[t] = now
    return found
