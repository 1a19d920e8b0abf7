"""orcalign: turn one video into a reward, and the reward into a policy.

Nothing heavy is imported here: the kernels' compiler, torch, simulators and video readers come in when they are used.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orcalign import matching
    from orcalign.envs import make
    from orcalign.envs.wrappers import EpisodeReward, StepReward
    from orcalign.matching import dtw, orca, orca_log, orca_progress, ot, soft_dtw, temporal_ot, threshold
    from orcalign.report.scoring import score
    from orcalign.rewards import VideoReward
    from orcalign.training.policy import load_policy
    from orcalign.training.presets import config
    from orcalign.training.start import train
    from orcalign.video import Demo, read_video

__version__ = "0.2.0"
__all__ = [
    "Demo",
    "EpisodeReward",
    "StepReward",
    "VideoReward",
    "__version__",
    "config",
    "dtw",
    "load_policy",
    "make",
    "matching",
    "orca",
    "orca_log",
    "orca_progress",
    "ot",
    "read_video",
    "score",
    "soft_dtw",
    "temporal_ot",
    "threshold",
    "train",
]

_PLACES = {
    "Demo": "video",
    "read_video": "video",
    "VideoReward": "rewards",
    "make": "envs",
    "EpisodeReward": "envs.wrappers",
    "StepReward": "envs.wrappers",
    "config": "training.presets",
    "train": "training.start",
    "load_policy": "training.policy",
    "score": "report.scoring",
}
"""Where names come from; those that are not here are matchers."""


def __getattr__(name: str) -> Any:
    if name == "matching":
        return importlib.import_module("orcalign.matching")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f"orcalign.{_PLACES.get(name, 'matching')}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
