"""Frames against sentences, and pictures among them: distances of embeddings, and what makes them comparable.

A frame and the sentence that fits it best have a similarity of 0.3 in one model and of 0.7 in another, and two
sentences about the same frame differ as much: similarities of text and picture have no common zero. So each goal has a
scale of its own, by what was seen: 1 is as far off as random play comes, 0 as near as anything has come.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
import numpy.typing as npt

from orcalign.costs.frames import FrameCosts
from orcalign.encoders import Encoder
from orcalign.encoders.protocol import Features, Frames
from orcalign.matching.match import FloatArray
from orcalign.video import Demo

SETTINGS: Mapping[str, float] = {"temperature": 0.15, "floor": 0.1}
"""Of ORCA on such a scale: within a tenth of the way a goal is reached, and a frame as far off as random play usually
comes counts exp(-6)."""
NEAREST, FARTHEST = 0.02, 0.98
"""Quantile of an episode's distances to a goal that counts as how near it came, and of all random play's as how far off
it was: one odd frame is none."""
LEAST = 0.5
"""Share of the widest scale that each has at least: where random play sees nothing of a goal, its distances are noise,
and the nearest of them are not near."""
SAME = 1e-6
"""A distance below which nothing has been seen of any goal."""


@final
@dataclass(frozen=True)
class GoalScale:
    """What distances to J goals mean.

    >>> scale = GoalScale((0.9, 0.7), (0.5, 0.69))
    >>> scale([[0.5, 0.69], [0.7, 0.6]]).round(2).tolist()  # of the second nothing has been seen
    [[0.0, 0.95], [0.5, 0.5]]
    """

    farthest: tuple[float, ...]
    """[J] How far off random play comes."""
    nearest: tuple[float, ...]
    """[J] How near any episode has come."""
    pictures: tuple[int, ...] = ()
    """Which of the goals are pictures: their distances and those of sentences are of different sizes."""

    @classmethod
    def of(cls, rollouts: Sequence[npt.ArrayLike], pictures: Sequence[int] = ()) -> GoalScale:
        """By the distances [T, J] of a few episodes, whatever they do."""
        if not rollouts:
            raise ValueError("goals are calibrated by what is seen, and there are no episodes; give at least one.")
        every = np.concatenate([np.asarray(one, np.float64) for one in rollouts])
        farthest = tuple(np.quantile(every, FARTHEST, axis=0).tolist())
        return cls(farthest, farthest, tuple(pictures)).seen(rollouts)

    def seen(self, rollouts: Sequence[npt.ArrayLike]) -> GoalScale:
        """The same once these distances [T, J] have been seen, too."""
        near = [np.quantile(np.asarray(one, np.float64), NEAREST, axis=0) for one in rollouts]
        nearest: Any = np.min(np.array([self.nearest, *near]), axis=0)
        return replace(self, nearest=tuple(nearest.tolist()))

    def farther(self, other: GoalScale) -> bool:
        """Whether something has come nearer since the other one, by more than a fiftieth of a scale.

        >>> GoalScale((0.8,), (0.4,)).farther(GoalScale((0.8,), (0.5,)))
        True
        """
        nearer: Any = np.array(other.nearest) - np.array(self.nearest)
        return bool((nearer > 0.02 * other.width).any())

    @property
    def width(self) -> FloatArray:
        """[J] Distance from 0 to 1 of the scale."""
        way = np.array(self.farthest) - np.array(self.nearest)
        found: FloatArray = np.empty_like(way)
        alike = np.isin(np.arange(len(way)), self.pictures)
        for some in (alike, ~alike):
            found[some] = np.maximum(way[some], max(LEAST * float(way[some].max(initial=0.0)), SAME))
        return found

    def __call__(self, distances: npt.ArrayLike) -> FloatArray:
        """Costs [..., J] of distances [..., J]: below 0 is 0, and 1 is as random play. Each is made by itself."""
        # From the far end: of a goal that nothing has come near, nothing is near.
        off = 1.0 - (np.array(self.farthest) - np.asarray(distances, np.float64)) / self.width
        costs: FloatArray = np.maximum(off, 0.0)
        return costs

    def plain(self) -> dict[str, Any]:
        """For a description."""
        return {name: list(value) for name, value in vars(self).items()}

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> GoalScale:
        """What `plain` gave."""
        return cls(**{name: tuple(value) for name, value in values.items()})


@final
class GoalModel:
    """The cost model of goals: 1 - the cosine similarity of a frame and a sentence, or a picture.

    Args:
        encoder: sees frames, pooled.
        reader: reads sentences into the same space; None where there are only pictures.
        demos: goals, as `orcalign.goals` makes them.
        scales: of each demo, where they are known; else costs are distances as they are.
        features: [J, D] of each demo, where they are known already.
    """

    own_scale = SETTINGS
    threshold = None

    def __init__(
        self,
        encoder: Encoder | None,
        reader: Any,
        demos: Sequence[Demo],
        scales: Sequence[GoalScale] | None = None,
        features: Sequence[npt.NDArray[Any]] | None = None,
    ) -> None:
        self.encoder: Any = encoder
        self.scales = scales
        given = features or [embed_goals(demo, self.encoder, reader) for demo in demos]
        self.demo_features = tuple(given)
        self._costs = tuple(FrameCosts(one) for one in self.demo_features)

    def begin(self, known: Frames) -> Any:
        """The encoder: a frame looks the same in whatever episode it is."""
        return self.encoder

    def compare(self, features: npt.ArrayLike, first: npt.ArrayLike | None = None) -> tuple[FloatArray, ...]:
        """[T, D] → distances [T, J] per demo, before their scales; nothing depends on the first frame."""
        return tuple(costs(features) for costs in self._costs)

    def between(self, demo: int) -> FloatArray:
        """[J, J] Distances of goals to one another."""
        return self._costs[demo].between_demo_frames()


def embed_goals(demo: Demo, encoder: Any, reader: Any) -> Features:
    """[J, D] Sentences as they are read, pictures as they are seen."""
    sentences = demo.sentences
    assert sentences is not None
    if encoder.spatial:
        raise ValueError(f"{encoder.name} gives a map of the picture, and sentences compare with one embedding.")
    seen = [k for k, text in enumerate(sentences) if not text]
    said = [k for k, text in enumerate(sentences) if text]
    rows = np.empty((len(sentences), encoder.dim), np.float32)
    if seen:
        rows[seen] = encoder(demo.frames[seen])
    if said:
        told = reader([sentences[k] for k in said])
        if told.shape[1] != encoder.dim:
            raise ValueError(
                f"{encoder.name} sees frames as {encoder.dim} numbers and reads sentences as {told.shape[1]}; "
                "the two towers are not of one model."
            )
        rows[said] = told
    return rows
