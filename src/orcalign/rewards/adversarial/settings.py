"""Settings of the reward that a discriminator pays; `--set NAME=VALUE` of a run."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, final

from orcalign.checks import require

SEES = ("states", "frames")
PAYS = ("softplus", "logit")


@final
@dataclass(frozen=True)
class AdversarialSettings:
    """What the discriminator sees, how it learns, and what it pays.

    >>> AdversarialSettings(sees="pictures")
    Traceback (most recent call last):
    ...
    ValueError: sees is 'pictures'; Known: states, frames.
    """

    sees: str = "states"
    """States, of a demo that was kept with them; or frames, by the features of the run's encoder: any video will do."""
    pays: str = "softplus"
    """softplus: -log(1 - D), which is above 0; logit: log D - log(1 - D), below 0 where the learner is told."""
    hidden: int = 128
    """Units of each of the two hidden layers."""
    every: int = 5
    """Episodes after which it learns, and all that is kept is paid anew."""
    updates: int = 100
    """Each time."""
    batch: int = 128
    """Pairs of the demo, and as many of the learner, in an update."""
    learning_rate: float = 3e-4
    penalty: float = 10.0
    """Weight of the gradient penalty: how far from 1 the slope of the logit is, between demo and learner. 0 is off."""
    seed: int = 0

    def __post_init__(self) -> None:
        require("sees", self.sees, SEES)
        require("pays", self.pays, PAYS)
        for name in ("hidden", "every", "updates", "batch"):
            require(name, getattr(self, name), at_least=1)
        require("learning_rate", self.learning_rate, above=0)
        require("penalty", self.penalty, at_least=0)

    def plain(self) -> dict[str, Any]:
        """For a description."""
        return dataclasses.asdict(self)
