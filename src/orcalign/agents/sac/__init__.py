"""SAC: its settings here, without torch; the agent in `agent.py`."""

from __future__ import annotations

from dataclasses import dataclass

from orcalign.agents.registry import AgentSettings
from orcalign.checks import require_number


@dataclass(frozen=True)
class SACSettings(AgentSettings):
    """How SAC learns.

    >>> SACSettings(entropy_temperature=-1.0)
    Traceback (most recent call last):
    ...
    ValueError: entropy_temperature is -1.0; it must be a finite number of at least 0.
    """

    agent: str = "sac"
    entropy_temperature: float | None = None
    """Weight of the entropy. None learns it, aiming at an entropy of minus the number of actions."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.entropy_temperature is not None:
            require_number(self.entropy_temperature, "entropy_temperature", at_least=0)
