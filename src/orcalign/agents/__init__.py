"""Agents: replay, DrQ-v2, SAC. They know no video and no environment; rewards arrive with the data.

Torch is imported when an agent or a policy is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orcalign.agents.batch import Batch
from orcalign.agents.noise import episode_noise, linear_schedule
from orcalign.agents.protocol import Agent
from orcalign.agents.registry import AGENTS, find_agent, make_agent, make_policy
from orcalign.agents.replay import Replay
from orcalign.agents.settings import AgentSettings

if TYPE_CHECKING:
    from orcalign.agents.policy import Policy

__all__ = [
    "AGENTS",
    "Agent",
    "AgentSettings",
    "Batch",
    "Policy",
    "Replay",
    "episode_noise",
    "find_agent",
    "linear_schedule",
    "make_agent",
    "make_policy",
]


def __getattr__(name: str) -> Any:
    if name != "Policy":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from orcalign.agents.policy import Policy

    return Policy
