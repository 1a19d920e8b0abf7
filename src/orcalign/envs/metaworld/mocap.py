"""A Meta-world simulation taken in hand: its joints put anywhere, its hand led anywhere.

Knows MuJoCo's joints and the body that Meta-world's hand is tied to, and no task.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TypeAlias, final

import mujoco
import numpy as np
import numpy.typing as npt

from orcalign.envs.metaworld.env import MetaworldEnv

Vector: TypeAlias = npt.NDArray[np.float64]
HAND_DOWN = (1.0, 0.0, 1.0, 0.0)
"""How Meta-world holds the hand."""
UNLIMITED = {mujoco.mjtJoint.mjJNT_HINGE: (-np.pi, np.pi), mujoco.mjtJoint.mjJNT_SLIDE: (-0.2, 0.2)}
"""Ranges of joints that have none, in radians and metres."""
FARTHEST, FASTEST = 2.0, 20.0
"""Metres and radians (and each of them a second) beyond which a scene has exploded."""
RESTS = 0.02
"""Metres a second below which a thing is at rest."""
UNSTABLE = [
    int(kind) for kind in (mujoco.mjtWarning.mjWARN_BADQPOS, mujoco.mjtWarning.mjWARN_BADQVEL,
                           mujoco.mjtWarning.mjWARN_BADQACC)
]  # fmt: skip


@final
class Stage:
    """The joints that are not the robot's, and the robot's hand."""

    def __init__(self, env: MetaworldEnv) -> None:
        self.env, self.model, self.data = env, env.model, env.data
        robot = self.model.body_rootid[self.model.body("hand").id]
        others = [j for j in range(self.model.njnt) if self._root(j) != robot]
        kind = self.model.jnt_type
        self.free = [j for j in others if kind[j] == mujoco.mjtJoint.mjJNT_FREE]
        """Joints of things that lie about."""
        self.guided = [j for j in others if kind[j] in UNLIMITED]
        """Hinges and slides."""

    def range(self, joint: int) -> tuple[float, float]:
        """How far a hinge or slide goes, as it is declared."""
        if self.model.jnt_limited[joint]:
            low, high = self.model.jnt_range[joint]
            return float(low), float(high)
        return UNLIMITED[self.model.jnt_type[joint]]

    def is_hinge(self, joint: int) -> bool:
        """Whether it turns."""
        return bool(self.model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_HINGE)

    def value(self, joint: int) -> Vector:
        """[7] of a free joint (place, quaternion), [1] of another."""
        start = self.model.jnt_qposadr[joint]
        size = 7 if joint in self.free else 1
        return np.array(self.data.qpos[start : start + size])

    def put(self, values: Mapping[int, npt.ArrayLike]) -> None:
        """Put joints somewhere, at rest."""
        for joint, value in values.items():
            at, speed = self.model.jnt_qposadr[joint], self.model.jnt_dofadr[joint]
            many, speeds = (7, 6) if joint in self.free else (1, 1)
            self.data.qpos[at : at + many] = value
            self.data.qvel[speed : speed + speeds] = 0
        mujoco.mj_forward(self.model, self.data)

    def lead(self, target: Vector, grip: float, steps: int) -> None:
        """Lead the hand to a place, as far as it may go, and let it come to rest there; gripper from -1 to 1."""
        low, high = self.env.hand_bounds
        start, end = self.data.mocap_pos[0].copy(), np.clip(target, low, high)
        for step in range(steps):
            self.data.mocap_pos[0] = start + (end - start) * min(1.0, (step + 1) / (0.6 * steps))
            self._simulate(grip)

    def wait(self, grip: float, steps: int) -> None:
        """Let time pass with the hand where it is."""
        for _ in range(steps):
            self._simulate(grip)

    def fall(self, grip: float, steps: int) -> None:
        """Let time pass until the things that lie about are at rest, but no longer than so many steps."""
        moving = [self.model.jnt_dofadr[joint] + k for joint in self.free for k in range(3)]
        for step in range(steps):
            self._simulate(grip)
            if step >= 3 and np.abs(self.data.qvel[moving]).max() < RESTS:
                return

    def _simulate(self, grip: float) -> None:
        """One simulation step of the environment, without its counting."""
        self.data.mocap_quat[0] = HAND_DOWN
        self.data.ctrl[:] = grip, -grip
        mujoco.mj_step(self.model, self.data, nstep=self.env.frame_skip)

    @property
    def hand(self) -> Vector:
        """[3] Where it is."""
        return np.array(self.data.body("hand").xpos)

    @property
    def fingertips(self) -> Vector:
        """[3] The middle between them."""
        ends = [self.data.site(name).xpos for name in ("leftEndEffector", "rightEndEffector")]
        middle: Vector = np.mean(ends, axis=0)
        return middle

    def point_on(self, joint: int, rng: np.random.Generator) -> Vector:
        """[3] A random point of a free thing: of the box around one of its shapes."""
        shapes = self._shapes[joint]
        shape = shapes[rng.integers(len(shapes))]
        box = self.model.geom_aabb[shape]
        inside = box[:3] + box[3:] * rng.uniform(-0.9, 0.9, 3)
        place: Vector = self.data.geom_xpos[shape] + self.data.geom_xmat[shape].reshape(3, 3) @ inside
        return place

    def sane(self, observation: Vector) -> bool:
        """Whether nothing has exploded or been shot away."""
        return bool(
            not self.data.warning.number[UNSTABLE].any()
            and np.isfinite(observation).all()
            and np.abs(observation[:14]).max() <= FARTHEST
            and np.abs(self.data.qvel).max() <= FASTEST
        )

    def _root(self, joint: int) -> int:
        return int(self.model.body_rootid[self.model.jnt_bodyid[joint]])

    @cached_property
    def _shapes(self) -> dict[int, list[int]]:
        """Geoms of the things that lie about, with what hangs on them."""
        of = self.model.body_rootid[self.model.geom_bodyid]
        return {joint: np.flatnonzero(of == self._root(joint)).tolist() for joint in self.free}


def turned(quaternion: Vector, axis: Vector, angle: float) -> Vector:
    """[4] A quaternion turned by an angle about an axis.

    >>> turned(np.array([1.0, 0, 0, 0]), np.array([0, 0, 1.0]), np.pi).round(6).tolist()
    [0.0, 0.0, 0.0, 1.0]
    """
    turn, result = np.empty(4), np.empty(4)
    mujoco.mju_axisAngle2Quat(turn, axis / np.linalg.norm(axis), angle)
    mujoco.mju_mulQuat(result, turn, quaternion)
    return result
