"""Following a video in state space: the demo is read from its pictures, the learner is paid by where things are."""

from orcalign.rewards.follow.reward import FollowReward
from orcalign.rewards.follow.settings import FollowSettings

__all__ = ["FollowReward", "FollowSettings"]
