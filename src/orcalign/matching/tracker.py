"""ORCA one frame at a time, with or without progress or by its worst moment, for a robot that needs the reward now."""

from __future__ import annotations

import copy
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt

from orcalign.checks import require_count, require_number
from orcalign.matching.bottleneck import bottleneck_rows
from orcalign.matching.match import FloatArray, as_float_array
from orcalign.matching.orca import NOTHING, orca_buffers, orca_rows
from orcalign.matching.orca_progress import check_worth, sharpen_last, weighted


class OrcaTracker:
    """The streaming form of `orca`: push the costs of a learner frame, get its reward.

    O(J) per frame. The state is one row of C; in float64 every reward is bit for bit the one that `orca`
    gives for the whole episode, because both run the same kernel.

    Args:
        num_frames: J, the number of demo frames.
        temperature, floor: as in `orca`.

    Example:
        >>> tracker = OrcaTracker(num_frames=2)
        >>> tracker.push([0.0, 9.0]) < 0.001, tracker.push([9.0, 0.0]), tracker.progress
        (True, 1.0, 1.0)
    """

    def __init__(self, num_frames: int, temperature: float = 1.0, floor: float = 0.0) -> None:
        self.num_frames = require_count(num_frames, "num_frames", at_least=1)
        self.temperature = require_number(temperature, "temperature", above=0)
        self.floor = require_number(floor, "floor", at_least=0)
        self.frames_seen = 0
        self._row, self._coverage = np.zeros((1, self.num_frames)), np.zeros((1, self.num_frames))
        self._state, occupancy, block = orca_buffers(self._row[0])
        self._reward, self._progress = np.zeros(1), np.zeros(1)
        buffers = (self._state, occupancy, block, self._coverage, self._reward, self._progress)
        self._arguments: tuple[Any, ...] = (self._row, 1.0 / self.temperature, self.floor, *buffers)

    def push(self, cost_row: npt.ArrayLike) -> float:
        """Take the costs [J] of the next learner frame and return its reward.

        A row that is not valid raises ValueError and changes nothing.
        """
        try:
            self._row[0] = cost_row
        except (TypeError, ValueError):
            self._refuse(cost_row)
        if np.shape(cost_row) != (self.num_frames,) or not self._advance():
            self._refuse(cost_row)
        self.frames_seen += 1
        return self._reward.item()

    def _advance(self) -> bool:
        """Carry the state over the row; False, and nothing changed, if a cost is not valid."""
        return orca_rows(*self._arguments)

    @property
    def coverage(self) -> FloatArray:
        """[J] C after the last pushed frame (a copy); zeros before the first."""
        coverage: FloatArray = self._coverage[0].copy()
        return coverage

    @property
    def progress(self) -> float:
        """How far the demo has been followed in order, as in `OrcaMatch.progress`; 0 before the first frame."""
        return self._progress.item()

    def reset(self) -> None:
        """Begin a new episode."""
        self.frames_seen = 0
        self._state[:] = NOTHING
        for array in (self._coverage, self._reward, self._progress):
            array[:] = 0

    def copy(self) -> Self:
        """An independent tracker in the same state: what would happen if."""
        return copy.deepcopy(self)

    def _refuse(self, cost_row: Any) -> None:
        array = as_float_array(cost_row, "cost_row")
        if array.shape != (self.num_frames,):
            raise ValueError(
                f"cost_row has shape {array.shape}; it must hold one cost for each of the "
                f"{self.num_frames} demo frames."
            )
        for j, value in enumerate(array.tolist()):
            if not 0 <= value < float("inf"):
                raise ValueError(f"cost_row[{j}] is {value}; costs must be finite and not negative.")


@final
class OrcaProgressTracker(OrcaTracker):
    """The streaming form of `orca_progress`: push the costs of a learner frame, get its reward.

    In float64 bit for bit what `orca_progress` gives for the whole episode.

    Args:
        num_frames: J, the number of demo frames.
        temperature, floor, weight, worth, last: as in `orca_progress`.

    Example:
        >>> tracker = OrcaProgressTracker(num_frames=2, weight=3.0)
        >>> tracker.push([0.0, 900.0]), tracker.push([900.0, 0.0])
        (3.0, 1.0)
    """

    def __init__(
        self,
        num_frames: int,
        temperature: float = 1.0,
        floor: float = 0.0,
        weight: float = 10.0,
        worth: npt.ArrayLike | None = None,
        last: float | None = None,
    ) -> None:
        super().__init__(num_frames, temperature, floor)
        self._weight = require_number(weight, "weight", at_least=0)
        self._shares = None if worth is None else check_worth(worth, num_frames)
        self._last = None if last is None else require_number(last, "last", above=0)

    def push(self, cost_row: npt.ArrayLike) -> float:
        """Take the costs [J] of the next learner frame and return its reward; a bad row changes nothing."""
        before = self.progress
        if self._last is not None:
            cost_row = sharpen_last(cost_row, "cost_row", self.floor, self._last)
        return super().push(cost_row) + self._weight * (self.progress - before)

    @property
    def progress(self) -> float:
        """Phi after the last pushed frame; 0 before the first."""
        if self._shares is None:
            return self._progress.item()
        phi = np.zeros(1)
        weighted(self._coverage, self._shares, phi)
        return phi.item()


@final
class BottleneckTracker(OrcaTracker):
    """The streaming form of `bottleneck`: push the costs of a learner frame, get its reward.

    Bit for bit what `bottleneck` gives for the whole episode.

    Args:
        num_frames: J, the number of demo frames.
        temperature, floor: as in `bottleneck`.

    Example:
        >>> tracker = BottleneckTracker(num_frames=2)
        >>> tracker.push([0.0, 900.0]), tracker.push([900.0, 0.0]), tracker.worst.tolist()
        (0.0, 1.0, [0.0, 0.0])
    """

    def __init__(self, num_frames: int, temperature: float = 1.0, floor: float = 0.0) -> None:
        super().__init__(num_frames, temperature, floor)
        self._state, self._worst = np.full(self.num_frames, np.inf), np.full((1, self.num_frames), np.inf)
        buffers = (self._state, self._worst, self._coverage, self._reward, self._progress)
        self._arguments = (self._row, 1.0 / self.temperature, self.floor, *buffers)

    def _advance(self) -> bool:
        valid = bool(((self._row >= 0) & (self._row < np.inf)).all())
        if valid:
            bottleneck_rows(*self._arguments)
        return valid

    @property
    def worst(self) -> FloatArray:
        """[J] L after the last pushed frame (a copy); infinite before the first."""
        worst: FloatArray = self._worst[0].copy()
        return worst

    def reset(self) -> None:
        """Begin a new episode."""
        super().reset()
        self._state[:] = self._worst[:] = np.inf


TRACKERS: dict[str, type[OrcaTracker]] = {
    "orca": OrcaTracker,
    "orca_progress": OrcaProgressTracker,
    "bottleneck": BottleneckTracker,
}
"""Matchers that have a stream, by name: made with the number of demo frames and the matcher's settings."""
