"""An episode of frames to rewards: one demo video is enough.

`VideoReward` joins encoder, distance and matcher; `tell` says what the learner did; `lint_demo` looks at the
demo and `check` at the method before anyone trains with them.
"""

from orcalign.rewards.exploits import ExploitTable, alterations, check
from orcalign.rewards.finder import Finder
from orcalign.rewards.frame_costs import FrameCosts
from orcalign.rewards.lint import Finding, lint_demo, wise_to_train
from orcalign.rewards.object_view import ObjectView
from orcalign.rewards.spans import Span
from orcalign.rewards.story import Story, tell
from orcalign.rewards.stream import RewardStream
from orcalign.rewards.video_reward import VideoMatch, VideoReward

__all__ = [
    "ExploitTable",
    "Finder",
    "Finding",
    "FrameCosts",
    "ObjectView",
    "RewardStream",
    "Span",
    "Story",
    "VideoMatch",
    "VideoReward",
    "alterations",
    "check",
    "lint_demo",
    "tell",
    "wise_to_train",
]
