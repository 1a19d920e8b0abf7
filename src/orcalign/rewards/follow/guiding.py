"""What is made once of a described demo: costs to it, what its frames are worth, how near is near enough."""

from __future__ import annotations

from typing import Any, final

from orcalign.costs.predicted import DescribedDemo
from orcalign.costs.predicted.relative import Relative
from orcalign.costs.predicted.turning import Turning
from orcalign.matching import OrcaProgressMatch, along_path, orca_progress
from orcalign.matching.match import FloatArray
from orcalign.rewards.follow.settings import COARSE, FollowSettings


@final
class Guiding:
    """A described demo to be followed, in a turned world if there is one.

    >>> from orcalign.costs.predicted import Entities
    >>> demo = DescribedDemo.known(Entities((0,), unit=1.0), [[10.0], [30.0]], [0.0])
    >>> Guiding(demo, FollowSettings()).matching["worth"].tolist()
    [0.0, 1.0]
    """

    def __init__(self, demo: DescribedDemo, settings: FollowSettings, turning: Turning | None = None) -> None:
        self.demo, self.relative = demo, Relative(demo if turning is None else turning.demo(demo))
        self.between = self.relative.between()
        """[J, J] Centimetres between the demo's frames."""
        self.floor = settings.floor_at(demo.expected)
        self.matching: dict[str, Any] = {
            "temperature": settings.temperature,
            "floor": self.floor,
            "weight": settings.weight,
            "worth": along_path(self.between),
            "last": settings.last,
        }

    @property
    def note(self) -> str:
        """How well the demo is known, for people."""
        demo = self.demo
        coarse = "; that is coarser than the reward can be tolerant" if demo.expected > COARSE else ""
        return (
            f"the eye expects to be {demo.expected:.1f} cm off in this demo, and is {demo.error:.1f} cm off on frames "
            "it has not learned from; objects are believed in "
            f"{int(demo.believed.sum())} of {len(demo)} demo frames; floor {self.floor:.1f} cm{coarse}"
        )

    def match(self, values: FloatArray) -> tuple[FloatArray, OrcaProgressMatch]:
        """Costs [T, J] in centimetres, and the match, of an episode's values [T+1, E]."""
        cost = self.relative.costs(values[0], values[1:])
        return cost, orca_progress(cost, **self.matching)
