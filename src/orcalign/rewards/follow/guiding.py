"""What is made once of a described demo: costs to it, what its frames are worth, how near is near enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, final

import numpy as np

from orcalign.costs.predicted import DescribedDemo
from orcalign.costs.predicted.bridging import bridge
from orcalign.costs.predicted.relative import Relative
from orcalign.costs.predicted.turning import Turning
from orcalign.matching import OrcaProgressMatch, along_path, orca_progress
from orcalign.matching.match import FloatArray
from orcalign.rewards.follow.settings import COARSE, FollowSettings

TOO_COARSE = 0.3
"""Progress of an expert below which nothing was learned."""


@final
class Guiding:
    """A described demo to be followed, in a turned world if there is one.

    Args:
        demo: as an eye describes it.
        settings: of the reward.
        error: centimetres by which the learner's own places may be off.
        experts: values [T+1, E] of episodes of an expert, to say what these would be paid.

    >>> from orcalign.costs.predicted import Entities
    >>> demo = DescribedDemo.known(Entities((0,), unit=1.0), [[10.0], [20.0]], [0.0])
    >>> Guiding(demo, FollowSettings()).matching["worth"].tolist()
    [0.0, 1.0]
    """

    def __init__(
        self,
        demo: DescribedDemo,
        settings: FollowSettings,
        error: float = 0.0,
        experts: Sequence[FloatArray] = (),
        turning: Turning | None = None,
    ) -> None:
        self.demo, seen = demo, Relative(demo if turning is None else turning.demo(demo))
        self.between = seen.between()
        """[J, J] Centimetres between the demo's frames."""
        told, slack, self.real = bridge(seen.demo, self.between)
        self.relative = Relative(told, slack)
        self._expected = float(np.hypot(demo.expected, error))
        self.floor = settings.floor_at(self._expected)
        self.matching: dict[str, Any] = {
            "temperature": settings.temperature,
            "floor": self.floor,
            "weight": settings.weight,
            "worth": along_path(self.relative.between()),
            "last": settings.last,
        }
        self._experts = experts

    @cached_property
    def expert(self) -> float | None:
        """Progress that an expert would be paid, in the median of its episodes; None where there is none."""
        paid = [self.match(values)[1].progress[-1] for values in self._experts]
        return float(np.median(paid)) if paid else None

    @property
    def note(self) -> str:
        """How well the demo is known, for people."""
        demo = self.demo
        coarse = "; that is coarser than the reward can be tolerant" if self._expected > COARSE else ""
        return (
            f"the eye expects to be {demo.expected:.1f} cm off in this demo, and is {demo.error:.1f} cm off on frames "
            "it has not learned from; objects are believed in "
            f"{int(demo.believed.sum())} of {len(demo)} demo frames; floor {self.floor:.1f} cm{coarse}"
            f"{self._expert_note}"
        )

    @property
    def _expert_note(self) -> str:
        if self.expert is None:
            return ""
        said = f"; an expert would be paid a progress of {self.expert:.2f}"
        if self.expert >= TOO_COARSE:
            return said
        return (
            f"{said}, and below {TOO_COARSE} little is learned: the eye is too coarse for this demo; let it learn "
            "from more frames (--posed-frames, --eye-frames) or larger ones (--frame-size), or take another demo"
        )

    def match(self, values: FloatArray) -> tuple[FloatArray, OrcaProgressMatch]:
        """Costs [T, K] in centimetres, and the match, of an episode's values [T+1, E]; K frames are those of the video
        and what lies between them."""
        cost = self.relative.costs(values[0], values[1:])
        return cost, orca_progress(cost, **self.matching)

    def of_video(self, cost: FloatArray, match: OrcaProgressMatch) -> tuple[FloatArray, OrcaProgressMatch]:
        """The same [T, J] of the video's own frames alone."""
        return cost[:, self.real], replace(match, assignment=match.assignment[:, self.real])
