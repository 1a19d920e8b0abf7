"""Poses of the humanoid: joint angles by name, what the arms are to do, and where its joints are."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

HINGES = (
    "abdomen_z", "abdomen_y", "abdomen_x",
    "right_hip_x", "right_hip_z", "right_hip_y", "right_knee",
    "left_hip_x", "left_hip_z", "left_hip_y", "left_knee",
    "right_shoulder1", "right_shoulder2", "right_elbow", "left_shoulder1", "left_shoulder2", "left_elbow",
)  # fmt: skip
"""The 17 hinges, in the order in which positions and observations have them."""
ARMS = slice(11, 17)
"""Of these, those of the arms: shoulder 1, shoulder 2 and elbow of the right one, then of the left one."""
OBSERVED_HINGES = slice(5, 22)
"""Where an observation [376] has the angles, after the height of the torso and its orientation."""
OBSERVED_ARMS = tuple(range(16, 22))

RIGHT = {"up": (-80, 15, -80), "out": (-50, -30, -85), "down": (40, -35, -85)}
"""Right arm, in degrees. Joint limits keep an arm from pointing straight up."""
LEFT = {"up": (80, -15, -80), "out": (50, 30, -85), "down": (-40, 35, -85)}
GOALS: dict[str, tuple[str, str]] = {
    "humanoid-arm-up-left": ("down", "up"),
    "humanoid-arm-up-right": ("up", "down"),
    "humanoid-arms-out": ("out", "out"),
    "humanoid-arms-down": ("down", "down"),
}
"""Task to what the right arm and the left arm are to do."""

POINTS = (
    ("torso", "torso"), ("head", "head"), ("abdomen", "lwaist"), ("pelvis", "pelvis"),
    ("right hip", "right_thigh"), ("right knee", "right_shin"), ("right foot", "right_foot"),
    ("left hip", "left_thigh"), ("left knee", "left_shin"), ("left foot", "left_foot"),
    ("right shoulder", "right_upper_arm"), ("right elbow", "right_lower_arm"), ("right wrist", "right_larm"),
    ("right hand", "right_hand"), ("left shoulder", "left_upper_arm"), ("left elbow", "left_lower_arm"),
    ("left wrist", "left_larm"), ("left hand", "left_hand"),
)  # fmt: skip
"""The 18 joints whose places are predicted, each with the body, or else the geom, of MuJoCo's model that is there."""
GEOMS = ("head", "right_larm", "right_hand", "left_larm", "left_hand")
BONES = (
    (1, 0), (0, 2), (2, 3), (3, 4), (4, 5), (5, 6), (3, 7), (7, 8), (8, 9),
    (0, 10), (10, 11), (11, 12), (12, 13), (0, 14), (14, 15), (15, 16), (16, 17),
)  # fmt: skip
"""Pairs of `POINTS` that a skeleton is drawn with."""
FRAMES = 10
"""Of a demo."""


def goal_arms(task: str) -> npt.NDArray[np.float64]:
    """The six arm angles [6] of a task's goal, in radians.

    >>> np.degrees(goal_arms("humanoid-arm-up-left")).round().tolist()
    [40.0, -35.0, -85.0, 80.0, -15.0, -80.0]
    """
    right, left = GOALS[task]
    return np.radians([*RIGHT[right], *LEFT[left]])


def demo_arms(task: str, frames: int = FRAMES) -> npt.NDArray[np.float64]:
    """Arm angles [J, 6] on the straight way from the start, all 0, to the goal.

    >>> demo_arms("humanoid-arms-out").shape, demo_arms("humanoid-arms-out")[0].any()
    ((10, 6), np.False_)
    """
    return np.linspace(0.0, 1.0, frames)[:, None] * goal_arms(task)


def joint_places(model: Any, data: Any) -> npt.NDArray[np.float64]:
    """Places [18, 3] of `POINTS` in metres, as the simulation has them now."""
    return np.stack([(data.geom_xpos if name in GEOMS else data.xpos)[_number(model, name)] for _, name in POINTS])


def _number(model: Any, name: str) -> int:
    found: int = (model.geom(name) if name in GEOMS else model.body(name)).id
    return found
