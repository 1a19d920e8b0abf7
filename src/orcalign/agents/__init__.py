"""Agents: replay, DrQ-v2, SAC. They know no video and no environment; rewards arrive with the data.

Torch is imported when an agent or a policy is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orcalign.agents.drqv2 import DrQv2Settings
from orcalign.agents.noise import episode_noise
from orcalign.agents.protocol import Agent, Batch
from orcalign.agents.registry import AGENTS, find_agent, find_settings, make_agent, make_policy, switch_agent
from orcalign.agents.replay import Replay
from orcalign.agents.sac import SACSettings
from orcalign.agents.settings import AgentSettings

if TYPE_CHECKING:
    from orcalign.agents.policy import Policy

__all__ = [
    "AGENTS",
    "Agent",
    "AgentSettings",
    "Batch",
    "DrQv2Settings",
    "Policy",
    "Replay",
    "SACSettings",
    "episode_noise",
    "find_agent",
    "find_settings",
    "make_agent",
    "make_policy",
    "switch_agent",
]


def __getattr__(name: str) -> Any:
    if name != "Policy":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from orcalign.agents.policy import Policy

    return Policy
