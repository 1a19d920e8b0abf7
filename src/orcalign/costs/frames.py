"""Cost models, and the plain one: costs between frames whose rows do not depend on one another, down to the last bit.

A matrix product of one row and the same row inside a product of many differ in their last bits, because
BLAS adds in another order. A reward given live and the one computed afterwards should be the same number,
so here no addition ever rounds: directions are rounded to multiples of 2^-26, their products are multiples
of 2^-52, and no partial sum of the products of two unit vectors exceeds 1 by more than rounding (Cauchy and
Schwarz), so all of them are exact in float64, in any order, on any number of threads.

Rounding the directions moves a cosine distance by some 1e-8; two engines of one encoder differ by 1e-3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, final

import numpy as np
import numpy.typing as npt

from orcalign.encoders import Encoder, Progress
from orcalign.encoders.protocol import Features, Frames
from orcalign.matching.costs import BLOCK, between_directions, directions, half_squares
from orcalign.matching.costs import distance as distance_named
from orcalign.matching.match import FloatArray, as_float_array
from orcalign.video import Demo

GRID = 2.0**26


class Eye(Protocol):
    """Sees the frames of one episode: an encoder is one."""

    def __call__(self, frames: Frames, progress: Progress | None = None) -> Features:
        """Features [T, D] of any of its frames [T,H,W,3]; each row has the same bits alone and in company."""


def see_each(eyes: Sequence[Eye], frames: Frames) -> Features:
    """Features [B, D] of one frame of each of B episodes, [B,H,W,3], each as its own eye sees it, in one go.

    Episodes that share an eye are seen at once; eyes that differ are, if they have a method `together`.
    """
    together = getattr(eyes[0], "together", None)
    seen: Features
    if together is not None:
        seen = together(eyes, frames)
    elif all(eye is eyes[0] for eye in eyes):
        seen = eyes[0](frames)
    else:
        seen = np.concatenate([eye(frame[None]) for eye, frame in zip(eyes, frames, strict=True)])
    return seen


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

    @property
    def threshold(self) -> float | None:
        """Cost up to which a demo frame counts as reached, where that is known."""

    def begin(self, known: Frames) -> Eye:
        """The one way to start an episode: what sees its frames, given those [K,H,W,3] that are known: all, or the
        first one where the others are to come."""

    def compare(self, features: npt.ArrayLike, first: npt.ArrayLike | None = None) -> tuple[FloatArray, ...]:
        """Costs [T, J] per demo of an episode's features [T, D], which begin with its first frame's unless those are
        given [D]. A row has the same bits alone and in company."""

    def between(self, demo: int) -> FloatArray:
        """Costs [J, J] of a demo's frames to one another."""


@final
class FrameCosts:
    """Distances of learner frames to one demo's frames, in float64.

    cosine: 1/2 |u - v|^2 of the directions u and v (exactly 0 for equal features); a zero vector is at
    distance 1 from all but another zero vector, as in `orcalign.matching.cosine`. euclidean: as in
    `orcalign.matching.euclidean`, row by row.

    Args:
        demo_features: [J, D], finite.
        distance: "cosine" or "euclidean".

    >>> costs = FrameCosts(np.array([[2.0, 0.0], [0.0, 3.0], [-1.0, 0.0]]))
    >>> costs(np.array([[1.0, 0.0]])).tolist()
    [[0.0, 1.0, 2.0]]
    """

    def __init__(self, demo_features: npt.ArrayLike, distance: str = "cosine") -> None:
        self._far = distance_named(distance)
        self.distance = distance
        self._demo = _features(demo_features, "demo_features")
        self.num_frames, self.dim = self._demo.shape
        if distance == "cosine":
            self._demo = directions(self._demo, GRID)
            self._squares = half_squares(self._demo)

    def __call__(self, features: npt.ArrayLike) -> FloatArray:
        """Costs [T, J] of learner features [T, D]."""
        rows = _features(features, "features")
        if rows.shape[1] != self.dim:
            raise ValueError(
                f"features have size {rows.shape[1]} and the demo's {self.dim}; both must come from the same "
                f"encoder with the same settings."
            )
        out = np.empty((len(rows), self.num_frames))
        step = BLOCK if self.distance == "cosine" else 1
        for start in range(0, len(rows), step):
            block = rows[start : start + step]
            out[start : start + step] = (
                self._cosine(directions(block, GRID)) if self.distance == "cosine" else self._far(block, self._demo)
            )
        return out

    def between_demo_frames(self) -> FloatArray:
        """Costs [J, J] of the demo's frames to one another."""
        return self._cosine(self._demo) if self.distance == "cosine" else self(self._demo)

    def _cosine(self, unit: FloatArray) -> FloatArray:
        return between_directions(unit, self._demo, self._squares)


@final
class FrameModel:
    """The plain cost model: each learner frame against each demo frame, by the distance of their features.

    Args:
        encoder: what sees the frames; None where features are all that is compared.
        demos: the videos.
        distance: "cosine" or "euclidean".
        features: [J, D] of each demo, where they are known already.
        progress: told how many demo frames have been encoded.
    """

    own_scale = threshold = None

    def __init__(
        self,
        encoder: Encoder | None,
        demos: Sequence[Demo],
        distance: str = "cosine",
        features: Sequence[npt.ArrayLike] | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.encoder: Any = encoder
        see: Any = encoder
        given = [see(one.frames, progress) for one in demos] if features is None else features
        self.demo_features = tuple(np.asarray(one) for one in given)
        self._costs = tuple(FrameCosts(one, distance) for one in self.demo_features)

    def begin(self, known: Frames) -> Any:
        """The encoder: a frame looks the same in whatever episode it is."""
        return self.encoder

    def compare(self, features: npt.ArrayLike, first: npt.ArrayLike | None = None) -> tuple[FloatArray, ...]:
        """[T, D] → [T, J] per demo; nothing depends on the first frame."""
        return tuple(costs(features) for costs in self._costs)

    def between(self, demo: int) -> FloatArray:
        """Costs [J, J] of a demo's frames to one another."""
        return self._costs[demo].between_demo_frames()


def _features(values: npt.ArrayLike, name: str) -> FloatArray:
    array = as_float_array(values, name)
    if array.ndim != 2 or array.size == 0:
        raise ValueError(
            f"{name} has shape {array.shape}; it must be [T, D] with at least one frame "
            f"(a single frame is features[None])."
        )
    if not np.isfinite(array).all():
        t, d = (int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(
            f"{name}[{t}, {d}] is {array[t, d]}; features must be finite, so check the frame or the encoder."
        )
    return array
