"""Agents by name, and the settings that all have. A new one is a folder, with settings of its own, and a line here."""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orcalign.agents.replay import BOOTSTRAPS
from orcalign.checks import require, require_count, require_number

if TYPE_CHECKING:
    from orcalign.agents.agent import Agent
    from orcalign.agents.policy import Policy


@dataclass(frozen=True)
class AgentEntry:
    """One line of the registry. The classes of its settings (in a module without torch), of the agent and of the
    network that acts are named as module:class and imported when they are needed: torch is heavy."""

    settings: str
    agent: str
    actor: str
    images: bool
    """Whether it can learn from images."""
    own_spread: bool
    """Whether its policy says itself how far it strays; otherwise the collector's noise does."""


AGENTS: dict[str, AgentEntry] = {
    "drqv2": AgentEntry(
        "orcalign.agents.drqv2:DrQv2Settings",
        "orcalign.agents.drqv2.agent:DrQv2",
        "orcalign.agents.networks:Actor",
        images=True,
        own_spread=False,
    ),
    "sac": AgentEntry(
        "orcalign.agents.sac:SACSettings",
        "orcalign.agents.sac.agent:SAC",
        "orcalign.agents.sac.agent:GaussianActor",
        images=False,
        own_spread=True,
    ),
    "xqc": AgentEntry(
        "orcalign.agents.xqc:XQCSettings",
        "orcalign.agents.xqc.agent:XQC",
        "orcalign.agents.xqc.networks:NormalisedActor",
        images=False,
        own_spread=True,
    ),
}


def find_agent(name: str) -> AgentEntry:
    """The registry's entry, or a ValueError that lists what there is.

    >>> find_agent("sac").images
    False
    >>> find_agent("drq2")
    Traceback (most recent call last):
    ...
    ValueError: agent is 'drq2'; did you mean 'drqv2'? Known: drqv2, sac, xqc.
    """
    require("agent", name, tuple(AGENTS))
    return AGENTS[name]


def find_settings(name: str) -> type[AgentSettings]:
    """The class of an agent's settings, which needs no torch.

    >>> find_settings("sac")(hidden=8).agent
    'sac'
    """
    found: type[AgentSettings] = pkgutil.resolve_name(find_agent(name).settings)
    return found


@dataclass(frozen=True)
class AgentSettings:
    """How an agent learns, at the sizes of the paper's table. To be made as an agent's own class, which has more.

    >>> find_settings("sac")(gamma=1.5)
    Traceback (most recent call last):
    ...
    ValueError: gamma is 1.5; it must lie between 0 and 1, such as 0.99.
    >>> find_settings("sac")(agent="drqv2")
    Traceback (most recent call last):
    ...
    ValueError: agent is 'drqv2', and SACSettings is not what it is set with; make DrQv2Settings instead.
    """

    agent: str
    """Which agent learns: drqv2 (states or images, by the shape of the observation), sac (states, explores by
    its own entropy instead of added noise) or xqc (sac with batch-normalised critics that tell distributions: more
    from fewer steps, for more time an update)."""
    hidden: int = 256
    """Units of each hidden layer of actor and critics. An update's time grows with its square."""
    learning_rate: float = 1e-4
    """Step size of Adam, for actor, critics, encoder and temperature alike."""
    gamma: float = 0.99
    """Discount per step: how far ahead the agent looks, about 1/(1-gamma) steps."""
    n_step: int = 3
    """Steps of real reward before a critic's estimate takes over: more carry sparse rewards back faster and are
    less faithful to the current policy."""
    bootstrap: str = "gamma^n"
    """Discount of the estimate after n steps: "gamma^n" is the textbook's, "gamma" what the paper's code does."""
    target_smoothing: float = 0.005
    """Share of the critics that flows into the target critics per update: small is stable, large is quick."""
    batch: int = 512
    """Transitions per update."""

    def __post_init__(self) -> None:
        wanted = find_settings(self.agent)
        if not isinstance(self, wanted):
            raise ValueError(
                f"agent is {self.agent!r}, and {type(self).__name__} is not what it is set with; "
                f"make {wanted.__name__} instead."
            )
        for name, smallest in (("hidden", 1), ("n_step", 1), ("batch", 1)):
            require_count(getattr(self, name), name, at_least=smallest)
        require_number(self.learning_rate, "learning_rate", above=0)
        require("bootstrap", self.bootstrap, BOOTSTRAPS)
        for name, example in (("gamma", 0.99), ("target_smoothing", 0.005)):
            value = getattr(self, name)
            if isinstance(value, bool) or not (isinstance(value, int | float) and 0 <= value <= 1):
                raise ValueError(f"{name} is {value!r}; it must lie between 0 and 1, such as {example}.")


@dataclass(frozen=True)
class TrunkSettings(AgentSettings):
    """Of an agent whose networks are two hidden layers behind a trunk (`networks.py`).

    >>> find_settings("sac")(trunk=-1)
    Traceback (most recent call last):
    ...
    ValueError: trunk is -1; it must be a whole number of at least 0.
    """

    trunk: int = 50
    """Units of the layer (with LayerNorm and tanh) in front of the hidden ones: it brings observations of any
    scale into -1 to 1. 0 leaves it out, for states whose scale is known to be sane."""
    layer_norm: bool = False
    """LayerNorm after each hidden layer: keeps values from running away when there are many updates per step."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_count(self.trunk, "trunk", at_least=0)


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
    kind = pkgutil.resolve_name(_fitting(settings, observation_shape, action_dim, device).agent)
    agent: Agent = kind(settings, tuple(observation_shape), action_dim, seed, device)
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
    from orcalign.agents.policy import Policy

    _fitting(settings, observation_shape, action_dim, device)
    return Policy(settings, tuple(observation_shape), action_dim, device)


def _fitting(settings: AgentSettings, observation_shape: tuple[int, ...], action_dim: int, device: str) -> AgentEntry:
    import torch

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
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"The device {device!r} cannot be used ({reason}); use 'cpu'.") from error
    return entry
