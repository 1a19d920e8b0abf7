"""Gymnasium wrappers, one a file; they work with any environment that draws rgb_array, not only with ours."""

from orcalign.envs.wrappers.action_repeat import ActionRepeat
from orcalign.envs.wrappers.frames import Frames
from orcalign.envs.wrappers.pixels import StackedPixels
from orcalign.envs.wrappers.step_reward import EpisodeReward, StepReward
from orcalign.envs.wrappers.time_fraction import TimeFraction

__all__ = ["ActionRepeat", "EpisodeReward", "Frames", "StackedPixels", "StepReward", "TimeFraction"]
