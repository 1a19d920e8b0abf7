"""SAC: its settings here, without torch; the agent in `agent.py`."""

from __future__ import annotations

from dataclasses import dataclass

from orcalign.agents.registry import AgentSettings, TrunkSettings
from orcalign.checks import require_number


@dataclass(frozen=True)
class EntropySettings(AgentSettings):
    """Of an agent that is paid for the entropy of its policy.

    >>> SACSettings(entropy_temperature=-1.0)
    Traceback (most recent call last):
    ...
    ValueError: entropy_temperature is -1.0; it must be a finite number of at least 0.
    """

    entropy_temperature: float | None = None
    """Weight of the entropy. None learns it, aiming at minus the number of actions (xqc: at half of that)."""
    entropy_start: float | None = None
    """Where it is learned, what it is at first; None is 1 (xqc: 0.01). A small one spends fewer steps on wandering."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.entropy_temperature is not None:
            require_number(self.entropy_temperature, "entropy_temperature", at_least=0)
        if self.entropy_start is not None:
            require_number(self.entropy_start, "entropy_start", above=0)


@dataclass(frozen=True)
class SACSettings(TrunkSettings, EntropySettings):
    """How SAC learns.

    >>> SACSettings().hidden
    256
    """

    agent: str = "sac"
