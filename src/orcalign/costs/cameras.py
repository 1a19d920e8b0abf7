"""Several cameras of one moment: their pictures stand side by side in each frame, and the worst of them counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, final

import numpy as np
import numpy.typing as npt

from orcalign.costs.frames import CostModel
from orcalign.encoders import Progress
from orcalign.encoders.protocol import Features, Frames
from orcalign.matching.match import FloatArray
from orcalign.video import Demo


@final
class CameraModel:
    """The largest of the cameras' costs: what one does not see the other may.

    Args:
        demos: videos [J,H,W,3] with the cameras' pictures side by side.
        widths: pixels of each camera's picture in them.
        make: makes the cost model of one camera from its demos.

    >>> from orcalign.costs import FrameModel
    >>> from orcalign.encoders import make_encoder
    >>> frames = np.zeros((2, 16, 32, 3), np.uint8)
    >>> frames[1, :, 16:] = 255
    >>> model = CameraModel([Demo(frames)], (16, 16), lambda demos: FrameModel(make_encoder("pixels"), demos))
    >>> model.between(0).tolist()
    [[0.0, 2.0], [2.0, 0.0]]
    """

    def __init__(self, demos: Sequence[Demo], widths: Sequence[int], make: Callable[[list[Demo]], CostModel]) -> None:
        self._shares = np.cumsum(widths) / sum(widths)
        views = [self.split(demo.frames) for demo in demos]
        self._models = [
            make([replace(demo, frames=view[k]) for demo, view in zip(demos, views, strict=True)])
            for k in range(len(widths))
        ]
        self.encoder: Any = self._models[0].encoder
        self.own_scale, self.threshold = self._models[0].own_scale, self._models[0].threshold
        features = zip(*(model.demo_features for model in self._models), strict=True)
        self.demo_features = tuple(np.concatenate(one, axis=1) for one in features)

    @property
    def coarse(self) -> bool:
        """As `FineModel.coarse`, of all of them."""
        models: Any = self._models
        return all(model.coarse for model in models)

    def begin(self, known: Frames) -> CameraEye:
        """An eye for each camera."""
        eyes = [model.begin(view) for model, view in zip(self._models, self.split(known), strict=True)]
        return CameraEye(self, eyes)

    def compare(self, features: npt.ArrayLike, first: npt.ArrayLike | None = None) -> tuple[FloatArray, ...]:
        """[T, D] → [T, J] per demo."""
        rows = np.asarray(features)
        firsts = [None] * len(self._models) if first is None else self._parts(np.asarray(first)[None])
        found = [
            model.compare(part, None if one is None else one[0])
            for model, part, one in zip(self._models, self._parts(rows), firsts, strict=True)
        ]
        return tuple(np.max(costs, axis=0) for costs in zip(*found, strict=True))

    def between(self, demo: int) -> FloatArray:
        """Costs [J, J] of a demo's frames to one another."""
        return np.asarray(np.max([model.between(demo) for model in self._models], axis=0))

    def whole(self, features: npt.ArrayLike, demo: int) -> tuple[FloatArray, FloatArray]:
        """As `FineModel.whole`, the mean of the cameras."""
        models: Any = self._models
        parts = zip(models, self._parts(np.asarray(features)), strict=True)
        found = [model.whole(part, demo) for model, part in parts]
        rows, own = (np.mean(one, axis=0) for one in zip(*found, strict=True))
        return rows, own

    def _parts(self, rows: Features) -> list[Features]:
        """Each camera sees as many numbers as any other: one encoder, and as many demos."""
        return np.split(rows, len(self._models), axis=1)

    def split(self, frames: Frames) -> list[Frames]:
        """The pictures [T,H,W,3] of each camera."""
        ends = np.round(self._shares[:-1] * frames.shape[2]).astype(int)
        return [np.ascontiguousarray(view) for view in np.split(frames, ends, axis=2)]


@final
class CameraEye:
    """The cameras' eyes."""

    def __init__(self, model: CameraModel, eyes: Sequence[Any]) -> None:
        self._model, self._eyes = model, eyes

    def __call__(self, frames: Frames, progress: Progress | None = None) -> Features:
        """[T, D] Of one camera after the other."""
        views = self._model.split(frames)
        return np.concatenate([eye(view, progress) for eye, view in zip(self._eyes, views, strict=True)], axis=1)

    @property
    def words(self) -> tuple[str, ...]:
        """What was corrected, camera by camera."""
        return tuple(f"camera {k + 1}: {word}" for k, eye in enumerate(self._eyes) for word in eye.words)

    @property
    def trusted(self) -> bool:
        """Whether each of them sees its scene."""
        return all(eye.trusted for eye in self._eyes)
