"""The reward that follows, one step at a time: by states alone, without pictures."""

from __future__ import annotations

from typing import final

import numpy as np
import numpy.typing as npt

from orcalign.costs.predicted import Entities
from orcalign.costs.predicted.turning import Turning
from orcalign.matching.match import FloatArray
from orcalign.matching.tracker import OrcaProgressTracker
from orcalign.rewards.base import Array, Frames
from orcalign.rewards.follow.guiding import Guiding
from orcalign.rewards.follow.sight import Sight


@final
class FollowStream:
    """Push a state, get its reward, bit for bit that of the whole episode; `guide` is what the policy sees.

    While the demo is not described, rewards are 0.
    """

    def __init__(
        self, entities: Entities, sight: Sight, guiding: Guiding | None, turning: Turning | None = None
    ) -> None:
        self._entities, self._sight, self._guiding, self._turning = entities, sight, guiding, turning
        self._tracker = None if guiding is None else OrcaProgressTracker(len(guiding.demo), **guiding.matching)
        self._first: FloatArray | None = None

    def reset(self, state: Array | None = None) -> None:
        """Begin a new episode, in this state [D]."""
        if self._tracker is not None:
            self._tracker.reset()
        if state is None:
            raise ValueError("the reward follows in state space; give the first state of the episode: reset(state).")
        self._begin = self._entities.read(state)
        self._first = self._before = self._now = self._values(state)

    def push(self, frame: Frames | None = None, state: Array | None = None, action: Array | None = None) -> float:
        """The reward of the step that led to this state [D]."""
        if state is None or self._first is None:
            raise ValueError("the reward follows in state space; begin with reset(state), and give every state.")
        values = self._values(state)
        reward = 0.0
        if self._guiding is not None and self._tracker is not None:
            reward = self._tracker.push(self._guiding.relative.costs(self._first, values[None])[0])
        self._before, self._now = self._now, values
        return reward

    def _values(self, state: Array) -> FloatArray:
        values = self._entities.read(state)
        return values if self._turning is None else self._turning.values(values, self._begin)

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
