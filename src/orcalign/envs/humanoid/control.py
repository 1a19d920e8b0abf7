"""A hand-tuned controller that holds joint angles: what an agent is compared with, and what moves the humanoid in data.

It reads the simulation's angles and velocities, which no agent's reward sees. Torques follow angles by a spring and a
damper at each hinge, so that the humanoid stands for a while and falls all the same: nothing balances it.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np
import numpy.typing as npt

from orcalign.envs.humanoid.env import ROOT, HumanoidArms
from orcalign.envs.humanoid.poses import ARMS, HINGES, goal_arms

LEGS, ARM = 100.0, 15.0
"""Torque per radian: of abdomen, hips and knees; and of shoulders and elbows."""
DAMPING = 0.05
"""Of that, per radian a second."""


@final
class HoldAngles:
    """Actions [17] that lead the hinges to these angles [17], in radians.

    >>> from orcalign.envs.tasks import find_task
    >>> env = HumanoidArms(find_task("humanoid-arms-out"))
    >>> _ = env.reset(seed=0)
    >>> hold = HoldAngles(env, goal_angles("humanoid-arms-out"))
    >>> for _ in range(20):
    ...     *_, info = env.step(hold())
    >>> info["success"]
    True
    """

    def __init__(
        self, env: HumanoidArms, angles: npt.NDArray[np.float64], legs: float = LEGS, arm: float = ARM
    ) -> None:
        self._env, self.angles = env, angles
        model = env.model
        self._hinge = model.actuator_trnid[:, 0] - 1
        """Of each actuator: joint 0 is the free one."""
        self._gear = model.actuator_gear[:, 0]
        stiff = np.full(len(HINGES), legs)
        stiff[ARMS] = arm
        self._stiff, self._damp = stiff, DAMPING * stiff

    def __call__(self) -> npt.NDArray[np.float32]:
        """The action of now, within the limits."""
        data = self._env.data
        torque = self._stiff * (self.angles - data.qpos[ROOT:]) - self._damp * data.qvel[ROOT - 1 :]
        return within(torque[self._hinge] / self._gear)


def within(action: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.float32]:
    """An action within the limits.

    >>> within(np.array([-1.0, 0.25])).tolist()
    [-0.4000000059604645, 0.25]
    """
    found: npt.NDArray[np.float32] = np.clip(action, -0.4, 0.4).astype(np.float32)
    return found


def goal_angles(task: str) -> npt.NDArray[np.float64]:
    """All 17 angles of a task's goal: those of the arms, and 0.

    >>> goal_angles("humanoid-arms-out")[:11].any()
    np.False_
    """
    angles = np.zeros(len(HINGES))
    angles[ARMS] = goal_arms(task)
    return angles
