"""The worst places of two pictures: a small object that stays behind counts as much as an arm.

A distance of whole pictures is a mean: a small thing that is not where it should be drowns in it. Here the maps of a
network's beginning are compared place by place, and of all places only the few worst count. What makes that possible
is that everything which means nothing is taken off first: another camera and other light (`orcalign.video.normalise`),
what looks different from the beginning on, and what the demo itself changes from one frame to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np
import numpy.typing as npt

from orcalign.costs.worst_places import FineCosts
from orcalign.encoders import Encoder, Progress, by_place
from orcalign.encoders.protocol import Features, Frames, check_frames
from orcalign.encoders.resize import resize
from orcalign.matching.match import FloatArray
from orcalign.video import Demo, Normaliser
from orcalign.video.normalise import Correction, flicker

ENCODER = "efficientnet-lite0-fine"
"""The one that this was made with."""
CHANNELS = 40
"""Of each place the last so many: of the fine encoder the later one of its two maps."""
CHUNK = 64
"""Frames at a time."""
LOOKED_AT = 192
"""Pixels of the longer side at which camera and light are corrected."""
UNSEEN = 0.02
"""Share of a place that the camera may miss."""
COARSE = 0.7
"""Share of the unit by which frames of a demo of too few frames a second change."""
DONE = 0.355
"""Distance, in the demo's unit, up to which a demo frame counts as reached."""


@final
class FineModel:
    """Costs in units of the demo: 0 is no more than what the demo changes by itself, 1 as far as its frames are apart.

        e[t, j, k]  = |attempt[t, k] - demo[j, k]|, of the place k; a channel is divided by its deviation over the demo
        e'[t, j, k] = sqrt(max(0, e² - start²)), start[k] = min over j < 3 of e[0, j, k], at most 0.2 R
        D[t, j]     = mean of the 3 largest e' over the places that the camera saw
        cost[t, j]  = max(0, D[t, j] - 0.6 n[j]) / R

    R is the largest D between two demo frames, and n[j] that between demo frame j and its neighbours. The cost is for
    `bottleneck`, where a step that is left out costs as much as it changes, whatever else goes well.

    Args:
        encoder: what sees the frames: best `efficientnet-lite0-fine`.
        demos: the videos.
        progress: told how many demo frames have been encoded.

    >>> from orcalign.encoders import make_encoder
    >>> frames = np.zeros((6, 16, 16, 3), np.uint8)
    >>> for t in range(6):
    ...     frames[t, 4:8, 2 * t : 2 * t + 4] = 255
    >>> costs = FineModel(make_encoder("pixels"), [Demo(frames)]).between(0)
    >>> costs.shape, float(costs[0, 0]), float(costs[0, 5].round(1))
    ((6, 6), 0.0, 0.4)
    """

    # Half occupied where a demo frame is just reached.
    own_scale = {"temperature": DONE / float(np.log(2)), "floor": 0.0}  # noqa: RUF012 (read only)
    threshold = DONE

    def __init__(self, encoder: Encoder, demos: Sequence[Demo], progress: Progress | None = None) -> None:
        self.encoder: Any = encoder
        self._views = [FineView(encoder, demo.frames) for demo in demos]
        self.demo_features = tuple(
            view.begin(demo.frames)(demo.frames, progress) for view, demo in zip(self._views, demos, strict=True)
        )
        self._costs = tuple(
            FineCosts(one, view.places) for one, view in zip(self.demo_features, self._views, strict=True)
        )

    @property
    def coarse(self) -> bool:
        """Whether a demo's neighbouring frames are about as different as any: then little can be told apart."""
        return any(float(np.median(one.change)) > COARSE * one.unit for one in self._costs)

    def begin(self, known: Frames) -> FineEye:
        """Camera and light are judged by the frames [K,H,W,3] that are known: all of them, or the first one."""
        check_frames(known)
        return FineEye([view.begin(known) for view in self._views])

    def compare(self, features: npt.ArrayLike, first: npt.ArrayLike | None = None) -> tuple[FloatArray, ...]:
        """[T, D] → [T, J] per demo."""
        rows = np.asarray(features)
        if rows.ndim != 2 or rows.shape[1] != sum(one.shape[1] for one in self.demo_features):
            raise ValueError(
                f"features have shape {rows.shape}, which is not what `begin` of this cost model sees; both must come "
                f"from the same one."
            )
        ends = np.cumsum([one.shape[1] for one in self.demo_features])[:-1]
        parts = np.split(rows, ends, axis=1)
        starts = np.split(rows[0] if first is None else np.asarray(first), ends)
        return tuple(cost(part, start) for cost, part, start in zip(self._costs, parts, starts, strict=True))

    def between(self, demo: int) -> FloatArray:
        """Costs [J, J] of a demo's frames to one another."""
        return self._costs[demo].between_demo_frames()

    def whole(self, features: npt.ArrayLike, demo: int) -> tuple[FloatArray, FloatArray]:
        """Distances of whole pictures: [T, J] of an episode to a demo, and [J, J] of its frames to one another.

        What stays behind is a small part of a picture: these say where the hand is all the same.
        """
        part = np.split(np.asarray(features), np.cumsum([one.shape[1] for one in self.demo_features])[:-1], axis=1)
        return self._costs[demo].whole(part[demo])


@final
class FineEye:
    """Sees the frames of one episode, once for each demo."""

    def __init__(self, eyes: Sequence[FineLook]) -> None:
        self._eyes = eyes

    def __call__(self, frames: Frames, progress: Progress | None = None) -> Features:
        """[T, D] The demos' parts one after the other."""
        return np.concatenate([eye(frames, progress) for eye in self._eyes], axis=1)

    @property
    def words(self) -> tuple[str, ...]:
        """What of camera and light was corrected, for people."""
        return tuple(dict.fromkeys(word for eye in self._eyes for word in eye.words))

    @property
    def trusted(self) -> bool:
        """Whether it is the scene of a demo, as far as one can see."""
        return any(eye.correction.found.trusted for eye in self._eyes)


@final
class FineView:
    """Frames as one demo's camera and light would have shown them → maps [T, D], with the places that were seen."""

    def __init__(self, encoder: Encoder, demo: Frames) -> None:
        self._encoder = encoder
        shown = smaller(demo)
        self._whole, self._first = Normaliser(shown), Normaliser(shown[:1])
        self.places = by_place(encoder, np.zeros((1, encoder.dim), np.float32)).shape[1]

    def begin(self, known: Frames) -> FineLook:
        """Of one episode: all its frames, or the first."""
        normaliser = self._whole if len(known) > 1 else self._first
        return FineLook(self._encoder, normaliser.correction(smaller(known)), self.places)


@final
class FineLook:
    """Sees the frames of one episode as one demo's camera would have."""

    def __init__(self, encoder: Encoder, correction: Correction, places: int) -> None:
        self._encoder, self.correction = encoder, correction
        side = round(places**0.5)
        missed = resize((~correction.seen[None, :, :, None].repeat(3, axis=3) * np.uint8(255)), side)[0, :, :, 0]
        self._seen = (missed <= UNSEEN * 255).astype(np.float32).ravel()
        self.words: tuple[str, ...] = correction.words

    def __call__(self, frames: Frames, progress: Progress | None = None) -> Features:
        """[T, places x channels, and for each place whether it was seen]."""
        maps, gains = [], []
        for start in range(0, len(frames), CHUNK):
            shown, needed = self.correction.apply(smaller(frames[start : start + CHUNK]))
            gains.append(needed)
            features = by_place(self._encoder, self._encoder(shown))
            if self._encoder.name == ENCODER:
                features = features[:, :, -CHANNELS:]
            maps.append(np.ascontiguousarray(features).reshape(len(features), -1))
            if progress is not None:
                progress(start + len(shown))
        self.words = (*self.correction.words, *flicker(np.concatenate(gains)))
        rows = np.concatenate(maps)
        return np.concatenate([rows, np.broadcast_to(self._seen, (len(rows), len(self._seen)))], axis=1)


def smaller(frames: Frames) -> Frames:
    """The frames with their longer side at most `LOOKED_AT`."""
    height, width = frames.shape[1:3]
    scale = LOOKED_AT / max(height, width)
    return frames if scale >= 1 else resize(frames, (max(1, round(height * scale)), max(1, round(width * scale))))
