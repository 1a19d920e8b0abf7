"""Gymnasium wrappers; they work with any environment that draws rgb_array, not only with ours."""

from orcalign.envs.wrappers.flat import Flat
from orcalign.envs.wrappers.frames import FrameInfo, Frames, StackedPixels
from orcalign.envs.wrappers.rewards import EpisodeReward, StepReward
from orcalign.envs.wrappers.steps import ActionRepeat, TimeFraction
from orcalign.envs.wrappers.turned import Turned

__all__ = [
    "ActionRepeat",
    "EpisodeReward",
    "Flat",
    "FrameInfo",
    "Frames",
    "StackedPixels",
    "StepReward",
    "TimeFraction",
    "Turned",
]
