"""What a cost model is: how far an episode is from each demo, frame by frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from orcalign.encoders.protocol import Features, Frames, Progress
from orcalign.matching.match import FloatArray

Frame = npt.NDArray[np.uint8]


class Eye(Protocol):
    """Sees the frames of one episode: an encoder is one."""

    def __call__(self, frames: Frames, progress: Progress | None = None) -> Features:
        """Features [T, D] of any of its frames [T,H,W,3]; each row has the same bits alone and in company."""


class CostModel(Protocol):
    """An episode and some demos → costs [T, J] for each demo. No caller asks which kind it has."""

    @property
    def encoder(self) -> Any:
        """What turns pictures into features."""

    @property
    def demo_features(self) -> tuple[npt.NDArray[Any], ...]:
        """[J, D] of each demo."""

    @property
    def own_scale(self) -> Mapping[str, float] | None:
        """Temperature and floor, of a model whose costs have a unit of their own; None to calibrate."""

    def begin(self, first: Frame) -> Eye:
        """The one way to start an episode: what sees its frames, given the first [H,W,3]."""

    def compare(self, features: npt.ArrayLike, first: npt.ArrayLike | None = None) -> tuple[FloatArray, ...]:
        """Costs [T, J] per demo of an episode's features [T, D], which begin with its first frame's unless those are
        given [D]. A row has the same bits alone and in company."""

    def between(self, demo: int) -> FloatArray:
        """Costs [J, J] of a demo's frames to one another."""
