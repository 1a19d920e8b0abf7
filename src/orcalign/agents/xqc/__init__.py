"""XQC: its settings here, without torch; the agent in `agent.py`, its networks in `networks.py`."""

from __future__ import annotations

from dataclasses import dataclass

from orcalign.agents.sac import EntropySettings
from orcalign.checks import require, require_count


@dataclass(frozen=True)
class XQCSettings(EntropySettings):
    """How XQC learns.

    >>> XQCSettings(actor_every=0)
    Traceback (most recent call last):
    ...
    ValueError: actor_every is 0; it must be a whole number of at least 1.
    """

    agent: str = "xqc"
    learning_rate: float = 3e-4
    n_step: int = 1
    batch: int = 256
    layers: int = 2
    """Hidden layers of actor and critics."""
    actor_every: int = 3
    """The actor learns at every so manieth update of the critics: better ones are worth waiting for, and it saves
    time."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("layers", "actor_every"):
            require_count(getattr(self, name), name, at_least=1)
        # Of one row there is no deviation.
        require("batch", self.batch, at_least=2)
