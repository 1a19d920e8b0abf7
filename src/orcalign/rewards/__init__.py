"""Everything that pays an agent: the protocol (`base`), videos as rewards, rewards made of rewards.

`VideoReward` joins cost model and matcher; `tell` says what the learner did; `lint_demo` looks at the demo and `check`
at the matcher before anyone trains with them.
"""

from orcalign.rewards.base import Evidence, Moment, Need, Reward, Rollout, Stream
from orcalign.rewards.composed import Product, Staged, Sum
from orcalign.rewards.description import load_reward
from orcalign.rewards.explanation import Span, Story, VideoMatch
from orcalign.rewards.exploits import ExploitTable, alterations, check
from orcalign.rewards.lint import Finding, lint_demo, wise_to_train
from orcalign.rewards.story import tell
from orcalign.rewards.stream import VideoStream
from orcalign.rewards.video_reward import VideoReward

__all__ = [
    "Evidence",
    "ExploitTable",
    "Finding",
    "Moment",
    "Need",
    "Product",
    "Reward",
    "Rollout",
    "Span",
    "Staged",
    "Story",
    "Stream",
    "Sum",
    "VideoMatch",
    "VideoReward",
    "VideoStream",
    "alterations",
    "check",
    "lint_demo",
    "load_reward",
    "tell",
    "wise_to_train",
]
