"""The methods that studies compare: a name, and what it means for reward and agent of a run. The one place for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Method:
    """A column of a table."""

    label: str
    """As the paper writes it."""
    reward: Mapping[str, Any]
    """Fields of `RewardConfig` that differ from the preset's."""
    pretrained_on: str | None = None
    """Another method: its run is left halfway, and this one goes on with its networks for the other half."""
    agent: Mapping[str, Any] = field(default_factory=dict)
    """Fields of `AgentSettings` that differ from the preset's."""
    collect: Mapping[str, Any] = field(default_factory=dict)
    """Fields of `CollectConfig` that differ from the preset's."""
    encoder: Mapping[str, Any] = field(default_factory=lambda: {"look": "whole"})
    """Fields of `EncoderConfig` that differ from the preset's; what of the pictures is compared is always said."""


_PROGRESS = {"matcher": "orca_progress", "calibrated": True, "scale": "none", "progress_in": "path"}
# A floor is for the way. In the last frame one stays, and within a floor nothing is gained by doing the last bit.
_SET = ("last=1",)
# Progress is paid all along the way: the learner may look further ahead than for one reward at the end.
# It is not rescaled, so that values are about 10 and a penalty of 0.01 means the same in every task.
_AHEAD = {"gamma": 0.95, "learning_rate": 3e-4, "action_penalty": 0.01}
_OBJECT = {"look": "object"}
_FINE = {"look": "object", "encoder": "efficientnet-lite0-mid", "places": "worst"}


def _progress(
    label: str,
    reward: Mapping[str, Any],
    agent: Mapping[str, Any] = _AHEAD,
    collect: Mapping[str, Any] | None = None,
    encoder: Mapping[str, Any] = _OBJECT,
) -> Method:
    """`orca_progress` with something changed; settings of the matcher come on top of its own."""
    changed = {**_PROGRESS, **reward, "set": (*_SET, *reward.get("set", ()))}
    return Method(label, changed, agent=agent, collect=collect or {}, encoder=encoder)


METHODS: dict[str, Method] = {
    "orca_progress": _progress("ORCA progress", {}),
    "orca": Method("ORCA", {"matcher": "orca"}, pretrained_on="temporal_ot"),
    "orca_np": Method("ORCA (NP)", {"matcher": "orca"}),
    "temporal_ot": Method("TemporalOT", {"matcher": "temporal_ot"}),
    "ot": Method("OT", {"matcher": "ot"}),
    "dtw": Method("DTW", {"matcher": "dtw"}),
    "threshold": Method("Threshold", {"matcher": "threshold"}),
    "progress_fixed_scale": _progress("without calibration", {"calibrated": False}),
    "progress_last_frame": _progress("without progress", {"set": ("weight=0",)}),
    "progress_not_followed": _progress("without where things go", {}, encoder={"look": "change"}),
    "progress_squares": _progress("without what changed", {}, encoder={"look": "square"}),
    "progress_whole": _progress("whole pictures", {}, encoder={"look": "whole"}),
    "progress_sharp": _progress("half the temperature", {"set": ("temperature=0.1875",)}),
    "progress_fine": _progress("the worst of finer places", {}, encoder=_FINE),
    "progress_in_frames": _progress("progress in frames", {"progress_in": "frames"}),
    "progress_floored_end": _progress("a floor in the last frame, too", {"set": ("last=none",)}),
    "progress_light": _progress("weight 1", {"set": ("weight=1",)}),
    "progress_scaled": _progress("first episode scaled to 10", {"scale": "first"}),
    "progress_best_scale": _progress("best episodes scaled to 10", {"scale": "best"}),
    "progress_stricter": _progress("ever stricter", {"temperature": "1.0:0.5"}),
    "progress_near": _progress("gamma 0.9", {}, {**_AHEAD, "gamma": 0.9}),
    "progress_slow": _progress("learning rate 1e-4", {}, {**_AHEAD, "learning_rate": 1e-4}),
    "progress_saturated": _progress("without action penalty", {}, {**_AHEAD, "action_penalty": 0.0}),
    "progress_white": _progress("white noise", {}, collect={"noise": "white"}),
    "progress_more_updates": _progress("two updates a step", {}, collect={"updates_per_step": 2.0}),
    "progress_pretrained": _progress(
        "TemporalOT first, while it helps", {"pretrain": "auto", "critic_only": 0.1}
    ),
}
PAPER_METHODS = ("threshold", "dtw", "ot", "temporal_ot", "orca_np", "orca")
MAIN_METHODS = ("orca_progress", "orca", "orca_np", "temporal_ot", "ot", "dtw", "threshold")
ABLATION = (
    "orca_progress",
    "progress_fixed_scale",
    "progress_last_frame",
    "progress_not_followed",
    "progress_squares",
    "progress_whole",
    "progress_sharp",
    "progress_fine",
    "progress_in_frames",
    "progress_floored_end",
    "progress_light",
    "progress_scaled",
    "progress_best_scale",
    "progress_stricter",
    "progress_near",
    "progress_slow",
    "progress_saturated",
    "progress_white",
    "progress_more_updates",
    "progress_pretrained",
)
