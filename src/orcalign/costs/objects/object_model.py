"""Finder, view and costs as one cost model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy.typing as npt

from orcalign.costs.model import Frame
from orcalign.costs.objects.finder import Finder
from orcalign.costs.objects.view import EpisodeView, ObjectView
from orcalign.costs.objects.view_costs import ViewCosts
from orcalign.encoders import Encoder
from orcalign.matching.match import FloatArray
from orcalign.video import Demo

SCALE = 3 / 8
"""Floor and temperature, as a share of the demo's reach in each view."""


@final
class ObjectModel:
    """Costs against one demo, seen around its objects; see `ObjectView` and `ViewCosts`.

    Args:
        encoder: what sees pictures and squares.
        demo: the video.
        finder: finds the demo's objects in an episode's first frame.
        distance: "cosine" or "euclidean".
        changes: whether it counts which of the objects' pixels have changed, and where objects go.
    """

    own_scale = {"temperature": SCALE, "floor": SCALE}  # noqa: RUF012 (read only)

    def __init__(
        self, encoder: Encoder, demo: Demo, finder: Finder, distance: str = "cosine", changes: bool = True
    ) -> None:
        self.encoder = ObjectView(encoder, finder)
        self.demo_features = (self.encoder(demo.frames),)
        goals = [journey.goal for journey in finder.journeys]
        self.costs = ViewCosts(self.demo_features[0], distance, self.encoder.pixels, goals, changes)

    @classmethod
    def learn(
        cls,
        encoder: Encoder,
        demos: Sequence[Demo],
        firsts: Sequence[Frame],
        nexts: Sequence[Frame],
        distance: str = "cosine",
        follow: bool = True,
        changes: bool = True,
    ) -> ObjectModel | None:
        """Find the objects in first frames of other episodes (see `Finder.learn`).

        None where there is nothing to find, with several demos, and for a video of another size than the frames.
        """
        if len(demos) != 1 or demos[0].frames.shape[1:] != firsts[0].shape:
            return None
        finder = Finder.learn(demos[0].frames, firsts, nexts, follow)
        return None if finder is None else cls(encoder, demos[0], finder, distance, changes)

    def begin(self, first: Frame) -> EpisodeView:
        """Find the objects in the first frame."""
        return self.encoder.begin(first)

    def compare(self, features: npt.ArrayLike, first: npt.ArrayLike | None = None) -> tuple[FloatArray, ...]:
        """[T, dim] → ([T, J],)."""
        return (self.costs(features, first),)

    def between(self, demo: int) -> FloatArray:
        """Costs [J, J] of the demo's frames to one another."""
        return self.costs.between_demo_frames()
