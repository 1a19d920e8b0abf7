"""DrQ-v2: its settings here, without torch; the agent in `agent.py`; the same by hand for CPUs in `cpu/`."""

from __future__ import annotations

from dataclasses import dataclass

from orcalign.agents.registry import TrunkSettings
from orcalign.checks import require_count, require_number


@dataclass(frozen=True)
class DrQv2Settings(TrunkSettings):
    """How DrQ-v2 learns.

    >>> DrQv2Settings(shift=-1)
    Traceback (most recent call last):
    ...
    ValueError: shift is -1; it must be a whole number of at least 0.
    """

    agent: str = "drqv2"
    target_noise: float = 0.1
    """Standard deviation of the noise on actions that critics are asked about, so that the actor cannot live on
    a narrow peak of a wrong critic."""
    target_noise_clip: float = 0.3
    """Bound of that noise: a rare large draw says nothing about the policy's neighbourhood."""
    action_penalty: float = 0.0
    """Weight of the mean square of what the actor's tanh is given, in the actor's loss. An actor that is
    driven to the end of tanh hardly learns any more, and where its action changes nothing (a hand pressed
    against a wall) no noise leads away from there; this draws it back. 0 is off; 0.01 suits rewards of which
    an episode's sum is some tens, and is nothing beside ones a hundred times as large."""
    shift: int = 4
    """Random shift of image observations in pixels: without it critics memorise single images. 0 is off."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("target_noise", "target_noise_clip", "action_penalty"):
            require_number(getattr(self, name), name, at_least=0)
        require_count(self.shift, "shift", at_least=0)
