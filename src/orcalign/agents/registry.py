"""Agents by name."""

from __future__ import annotations

import difflib
import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orcalign.agents.protocol import Agent

if TYPE_CHECKING:
    from orcalign.agents.policy import Policy
    from orcalign.agents.settings import AgentSettings


@dataclass(frozen=True)
class AgentEntry:
    """One line of the registry."""

    factory: str
    """module:class, imported when it is made: torch is heavy."""
    actor: str
    """module:class of its actor network."""
    images: bool
    """Whether it can learn from images."""
    summary: str

    def agent_class(self) -> Any:
        """The agent's class."""
        return _imported(self.factory)

    def actor_class(self) -> Any:
        """The class of the network that acts."""
        return _imported(self.actor)


AGENTS: dict[str, AgentEntry] = {
    "drqv2": AgentEntry(
        "orcalign.agents.drqv2:DrQv2",
        "orcalign.agents.networks:Actor",
        images=True,
        summary="deterministic policy, twin critics, noise added by the collector; states or images",
    ),
    "sac": AgentEntry(
        "orcalign.agents.sac:SAC",
        "orcalign.agents.networks:GaussianActor",
        images=False,
        summary="soft actor-critic: a Gaussian policy that is paid for its entropy; states",
    ),
}


def find_agent(name: str) -> AgentEntry:
    """The registry's entry, or a ValueError that lists what there is.

    >>> find_agent("sac").images
    False
    """
    if name not in AGENTS:
        near = difflib.get_close_matches(name, AGENTS, n=1)
        hint = f": did you mean {near[0]!r}? Known: " if near else ". Known: "
        raise ValueError(f"There is no agent {name!r}{hint}{', '.join(AGENTS)}.")
    return AGENTS[name]


def make_agent(
    settings: AgentSettings,
    observation_shape: tuple[int, ...],
    action_dim: int,
    seed: int,
    device: str = "cpu",
) -> Agent:
    """A fresh agent for observations (D,) or images (C, H, W), acting in -1 to 1. Same seed, same weights.

    >>> from orcalign.agents import AgentSettings
    >>> agent = make_agent(AgentSettings(hidden=8), (5,), action_dim=2, seed=0)
    >>> agent.policy_weights()["actor.trunk.dense.weight"].shape
    (50, 5)
    """
    entry = _fitting(settings, observation_shape, action_dim)
    agent: Agent = entry.agent_class()(settings, tuple(observation_shape), action_dim, seed, _checked(device))
    return agent


def make_policy(
    settings: AgentSettings, observation_shape: tuple[int, ...], action_dim: int, device: str = "cpu"
) -> Policy:
    """What acts with an agent's weights, in a collector or alone.

    >>> import numpy as np
    >>> from orcalign.agents import AgentSettings
    >>> settings = AgentSettings(hidden=8)
    >>> policy = make_policy(settings, (5,), action_dim=2)
    >>> policy.load(make_agent(settings, (5,), action_dim=2, seed=0).policy_weights())
    >>> policy.act(np.zeros(5)).shape
    (2,)
    """
    from orcalign.agents.networks import make_encoder
    from orcalign.agents.policy import Policy

    entry = _fitting(settings, observation_shape, action_dim)
    encoder = make_encoder(tuple(observation_shape))
    actor = entry.actor_class()(encoder.size, action_dim, settings)
    return Policy(encoder, actor, tuple(observation_shape), action_dim, _checked(device))


def _imported(place: str) -> Any:
    module, name = place.split(":")
    return getattr(importlib.import_module(module), name)


def _fitting(settings: AgentSettings, observation_shape: tuple[int, ...], action_dim: int) -> AgentEntry:
    entry = find_agent(settings.agent)
    if len(observation_shape) not in (1, 3):
        raise ValueError(
            f"The observation has the shape {tuple(observation_shape)}; it must be a state (D,) or an image (C, H, W)."
        )
    if action_dim < 1:
        raise ValueError(f"The action has {action_dim} dimensions; it must have at least 1.")
    if len(observation_shape) == 3 and not entry.images:
        able = ", ".join(name for name, entry in AGENTS.items() if entry.images)
        raise ValueError(
            f"The agent {settings.agent!r} learns from states, and the observation is an image of shape "
            f"{tuple(observation_shape)}; use one that takes images: {able}."
        )
    return entry


def _checked(device: str) -> str:
    import torch

    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"The device {device!r} cannot be used ({reason}); use 'cpu'.") from error
    return device
