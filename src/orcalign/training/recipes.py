"""The recipes that tables compare: a name, and what it means for a run. The one place for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Recipe:
    """Reward, agent and collection: a column of a table."""

    label: str
    """As the paper writes it."""
    summary: str
    """What it does, in a line."""
    settings: Mapping[str, Any]
    """Fields of the config that differ from the preset's."""


RECIPES: dict[str, Recipe] = {
    "orca_progress": Recipe(
        "ORCA progress",
        "pays progress along the demo in order, and for staying in its last frame, around the object",
        {
            "reward.matcher": "orca_progress",
            "reward.calibrated": True,
            "reward.scale": "none",
            "reward.progress_in": "path",
            # A floor is for the way. In the last frame one stays, and within a floor nothing is gained by doing the
            # last bit.
            "reward.set": ["last=1"],
            # Progress is paid all along the way: the learner may look further ahead than for one reward at the end.
            # It is not rescaled, so that values are about 10 and a penalty of 0.01 means the same in every task.
            "agent.gamma": 0.95,
            "agent.learning_rate": 3e-4,
            "agent.action_penalty": 0.01,
            "encoder.look": "object",
        },
    ),
    "orca": Recipe(
        "ORCA",
        "TemporalOT for the first half of the steps, then ordered coverage, as the paper trains it",
        {"reward.matcher": "orca", "reward.pretrain": "temporal_ot"},
    ),
    "orca_np": Recipe(
        "ORCA (NP)",
        "ordered coverage from the first step on, without pretraining",
        {"reward.matcher": "orca"},
    ),
    "temporal_ot": Recipe(
        "TemporalOT",
        "optimal transport between frames of nearly the same time",
        {"reward.matcher": "temporal_ot"},
    ),
    "ot": Recipe("OT", "optimal transport between frames, whatever their order", {"reward.matcher": "ot"}),
    "dtw": Recipe(
        "DTW",
        "dynamic time warping: frames in order, any of them as often as it fits",
        {"reward.matcher": "dtw"},
    ),
    "threshold": Recipe(
        "Threshold",
        "counts the demo's frames that were reached, one after the other",
        {"reward.matcher": "threshold"},
    ),
}
