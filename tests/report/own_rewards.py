"""A reward of somebody's own, about no video: how near the agent is to a place across."""

from __future__ import annotations

from typing import Any

import numpy as np

from orcalign.rewards import Need, Reward, Rollout


class Near(Reward):
    need = Need(frames=0, states=True)

    def __init__(self, place: float = 0.5) -> None:
        self.place = place

    def observe(self, rollout: Rollout) -> dict[str, Any]:
        assert rollout.states is not None
        return {"far": np.abs(rollout.states[1:, 0] - self.place).astype(np.float64)}

    def pay(self, episodes: Any) -> Any:
        return [-one["far"] for one in episodes]

    def describe(self) -> dict[str, Any]:
        return {"kind": "report.own_rewards:Near", "place": self.place}

    @classmethod
    def from_description(cls, description: dict[str, Any], kit: Any) -> Near:
        return cls(description.get("place", 0.5))
