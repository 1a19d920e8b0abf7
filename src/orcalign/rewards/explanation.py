"""What there is to say of an episode beside a demo: its match, and its story."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from orcalign.matching import Match, Pooled
from orcalign.matching.match import FloatArray, IntArray


@dataclass(frozen=True)
class Span:
    """Some learner frames with something to say about them.

    >>> Span("stall", 10, 30, 4, 5, "Twenty frames at demo frame 4.").length
    20
    """

    kind: Literal["stall", "skip", "backwards"]
    start: int
    """First learner frame."""
    stop: int
    """One past the last learner frame."""
    demo_start: int
    """First demo frame concerned: where it stalled, the first one skipped, the lowest one gone back to."""
    demo_stop: int
    """One past the last demo frame concerned."""
    text: str
    """One sentence for people."""

    @property
    def length(self) -> int:
        """Learner frames."""
        return self.stop - self.start


@dataclass(frozen=True, eq=False)
class Story:
    """One learner's episode against one demo, told by `tell`."""

    total: float
    """Sum of ORCA's rewards."""
    final_coverage: float
    """ORCA's C[T-1, J-1]: the whole demo covered in order, at any time."""
    final_progress: float
    """ORCA's progress[T-1]: mean coverage over all demo frames but the last."""
    quarters: tuple[int | None, ...]
    """[4] First learner frame at which each quarter of the demo was covered in order; None: never."""
    longest_stall: int
    """Learner frames of the longest stall in `spans`; 0 if there is none."""
    position: IntArray
    """[T] Demo frame that the learner is at, as far as one can say; it may go back."""
    spans: tuple[Span, ...]
    """Stalls, skips and ways back, by their first learner frame."""
    reach: FloatArray
    """[J] Cost up to which a demo frame counted as reached."""

    def place(self, covered: FloatArray) -> FloatArray:
        """[T] Where in the demo the learner is now, from 0 to 1, but no further than what has been `covered` [T] in
        order: an empty hand at the place where the demo ends is not at the end."""
        return np.minimum(self.position / max(1, len(self.reach) - 1), covered)


@dataclass(frozen=True, eq=False)
class VideoMatch:
    """An episode's rewards, and what they come from. With several demos there is one match for each."""

    reward: FloatArray
    """[T] float64; pooled if there are several demos."""
    matches: tuple[Match, ...]
    """One per demo."""
    costs: tuple[FloatArray, ...]
    """[T, J] per demo, with context: what the matcher was given."""
    raw_costs: tuple[FloatArray, ...]
    """[T, J] per demo, before context: what `VideoReward.relabel` takes."""
    pooled: Pooled | None
    """How the rewards of several demos were combined; None for one demo."""

    @property
    def demo(self) -> int:
        """The demo that fits best: the one with the highest sum of rewards."""
        return 0 if self.pooled is None else self.pooled.best_demo

    @property
    def match(self) -> Match:
        """The match with that demo."""
        return self.matches[self.demo]

    @property
    def cost(self) -> FloatArray:
        """[T, J] The cost against that demo, with context."""
        return self.costs[self.demo]

    @property
    def total(self) -> float:
        """Sum of the rewards."""
        return float(self.reward.sum())


class Explanation(NamedTuple):
    """What a page shows of an episode beside the demo."""

    match: VideoMatch
    story: Story
    wanted: IntArray | None = None
    """[T] The demo frame that the policy goes for after each step, where the reward tells it one."""
