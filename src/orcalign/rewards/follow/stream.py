"""The reward that follows, one step at a time."""

from __future__ import annotations

from typing import final

import numpy as np
import numpy.typing as npt

from orcalign.matching.match import FloatArray
from orcalign.matching.tracker import OrcaProgressTracker
from orcalign.rewards.base import Array, Frames
from orcalign.rewards.follow.guiding import Guiding
from orcalign.rewards.follow.learner import Learner
from orcalign.rewards.follow.sight import Sight


@final
class FollowStream:
    """Push a state, or a frame where the learner is read from pictures, and get its reward, bit for bit that of the
    whole episode; `guide` is what the policy sees.

    While the demo is not described, rewards are 0.
    """

    def __init__(self, learner: Learner, sight: Sight, guiding: Guiding | None) -> None:
        self._learner, self._sight, self._guiding = learner, sight, guiding
        self._tracker = None if guiding is None else OrcaProgressTracker(len(guiding.relative.demo), **guiding.matching)
        self._first: FloatArray | None = None
        self._steps = 0

    def reset(self, state: Array | None = None) -> None:
        """Begin a new episode, in this state [D]."""
        self._first = self._before = self._now = self._learner.begin(state)
        self._steps = 0
        if self._tracker is not None:
            self._tracker.reset()

    def push(self, frame: Frames | None = None, state: Array | None = None, action: Array | None = None) -> float:
        """The reward of the step that led to this frame [H,W,3] and state [D]."""
        if self._first is None:
            raise ValueError("the reward follows in state space; begin with reset(state), and give every state.")
        values = self._learner.read(frame, state)
        before, first = self._now, self._first
        if self._steps == 0:
            before = first = self._learner.first(first, values)
        reward = 0.0
        if self._guiding is not None and self._tracker is not None:
            reward = self._tracker.push(self._guiding.relative.costs(first, values[None])[0])
        self._first, self._before, self._now = first, before, values
        self._steps += 1
        return reward

    @property
    def progress(self) -> float:
        """How far the demo has been followed in order, from 0 to 1."""
        return 0.0 if self._tracker is None else self._tracker.progress

    @property
    def followed(self) -> dict[str, float]:
        """The progress, by its name."""
        return {"progress": self.progress}

    @property
    def guide(self) -> npt.NDArray[np.float32]:
        """[K] What the policy sees now."""
        assert self._first is not None
        coverage = np.zeros((1, 1)) if self._tracker is None else self._tracker.coverage[None]
        seen = self._sight(
            self._now[None],
            self._before[None],
            self._first,
            coverage,
            np.array([self.progress]),
            None if self._guiding is None else self._guiding.relative,
        )
        return np.asarray(seen[0])
