"""The methods that studies compare: a name, and what it means for the reward of a run. The one place for it."""

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
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Other settings of the run, as {"agent.gamma": 0.95}."""


_PROGRESS = {"matcher": "orca_progress", "calibrated": True, "scale": "none"}

METHODS: dict[str, Method] = {
    "orca_progress": Method("ORCA progress", _PROGRESS),
    "orca": Method("ORCA", {"matcher": "orca"}, pretrained_on="temporal_ot"),
    "orca_np": Method("ORCA (NP)", {"matcher": "orca"}),
    "temporal_ot": Method("TemporalOT", {"matcher": "temporal_ot"}),
    "ot": Method("OT", {"matcher": "ot"}),
    "dtw": Method("DTW", {"matcher": "dtw"}),
    "threshold": Method("Threshold", {"matcher": "threshold"}),
    # orca_progress with one thing changed.
    "progress_fixed_scale": Method("without calibration", {**_PROGRESS, "calibrated": False}),
    "progress_last_frame": Method("without progress", {**_PROGRESS, "matcher": "orca"}),
    "progress_light": Method("weight 1", {**_PROGRESS, "set": ("weight=1",)}),
    "progress_potential": Method("as a potential", {**_PROGRESS, "set": ("shaping=potential", "gamma=0.9")}),
    "progress_scaled": Method("first episode scaled to 10", {**_PROGRESS, "scale": "first"}),
}
PAPER_METHODS = ("threshold", "dtw", "ot", "temporal_ot", "orca_np", "orca")
MAIN_METHODS = ("orca_progress", "orca", "orca_np", "temporal_ot", "ot", "dtw", "threshold")
ABLATION = (
    "orca_progress",
    "progress_fixed_scale",
    "progress_last_frame",
    "progress_light",
    "progress_potential",
    "progress_scaled",
)
