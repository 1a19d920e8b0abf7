"""Agents by name. A new one is a folder and a line here."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from orcalign.agents.protocol import Agent
from orcalign.checks import require

if TYPE_CHECKING:
    from orcalign.agents.policy import Policy
    from orcalign.agents.settings import AgentSettings


@dataclass(frozen=True)
class AgentEntry:
    """One line of the registry. Classes are named as module:class and imported when they are needed: torch is heavy."""

    settings: str
    """Of its settings, in a module without torch."""
    agent: str
    """Of the agent."""
    actor: str
    """Of the network that acts."""
    images: bool
    """Whether it can learn from images."""
    own_spread: bool
    """Whether its policy says itself how far it strays; otherwise the collector's noise does."""
    summary: str

    def settings_class(self) -> type[AgentSettings]:
        """The class of its settings."""
        found: type[AgentSettings] = _imported(self.settings)
        return found

    def actor_class(self) -> Any:
        """The class of the network that acts."""
        return _imported(self.actor)


AGENTS: dict[str, AgentEntry] = {
    "drqv2": AgentEntry(
        "orcalign.agents.drqv2:DrQv2Settings",
        "orcalign.agents.drqv2.agent:DrQv2",
        "orcalign.agents.networks:Actor",
        images=True,
        own_spread=False,
        summary="deterministic policy, twin critics, noise added by the collector; states or images",
    ),
    "sac": AgentEntry(
        "orcalign.agents.sac:SACSettings",
        "orcalign.agents.sac.agent:SAC",
        "orcalign.agents.sac.agent:GaussianActor",
        images=False,
        own_spread=True,
        summary="soft actor-critic: a Gaussian policy that is paid for its entropy; states",
    ),
}


def find_agent(name: str) -> AgentEntry:
    """The registry's entry, or a ValueError that lists what there is.

    >>> find_agent("sac").images
    False
    >>> find_agent("drq2")
    Traceback (most recent call last):
    ...
    ValueError: agent is 'drq2'; did you mean 'drqv2'? Known: drqv2, sac.
    """
    require("agent", name, tuple(AGENTS))
    return AGENTS[name]


def find_settings(name: str) -> type[AgentSettings]:
    """The class of an agent's settings, which needs no torch.

    >>> find_settings("sac")(hidden=8).agent
    'sac'
    """
    return find_agent(name).settings_class()


def switch_agent(settings: AgentSettings, name: str) -> AgentSettings:
    """The settings of another agent: those that both have are kept, the others are its defaults.

    >>> switch_agent(find_settings("drqv2")(hidden=8, shift=2), "sac")
    SACSettings(agent='sac', hidden=8, trunk=50, ...entropy_temperature=None)
    """
    if name == settings.agent:
        return settings
    kind = find_settings(name)
    shared = {one.name for one in fields(settings)} & {one.name for one in fields(kind)}
    return kind(**{**{one: getattr(settings, one) for one in shared}, "agent": name})


def make_agent(
    settings: AgentSettings,
    observation_shape: tuple[int, ...],
    action_dim: int,
    seed: int,
    device: str = "cpu",
) -> Agent:
    """A fresh agent for observations (D,) or images (C, H, W), acting in -1 to 1. Same seed, same weights.

    >>> agent = make_agent(find_settings("drqv2")(hidden=8), (5,), action_dim=2, seed=0)
    >>> agent.policy_weights()["actor.trunk.dense.weight"].shape
    (50, 5)
    """
    entry = _fitting(settings, observation_shape, action_dim)
    agent: Agent = _imported(entry.agent)(
        settings, tuple(observation_shape), action_dim, seed, _checked(device)
    )
    return agent


def make_policy(
    settings: AgentSettings, observation_shape: tuple[int, ...], action_dim: int, device: str = "cpu"
) -> Policy:
    """What acts with an agent's weights, in a collector or alone.

    >>> import numpy as np
    >>> settings = find_settings("drqv2")(hidden=8)
    >>> policy = make_policy(settings, (5,), action_dim=2)
    >>> policy.load(make_agent(settings, (5,), action_dim=2, seed=0).policy_weights())
    >>> policy.act(np.zeros(5)).shape
    (2,)
    """
    from orcalign.agents.networks import make_encoder
    from orcalign.agents.policy import Policy

    entry = _fitting(settings, observation_shape, action_dim)
    encoder, features = make_encoder(tuple(observation_shape))
    actor = entry.actor_class()(features, action_dim, settings)
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
