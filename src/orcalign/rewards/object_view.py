"""Look where the object is: the beginning of a demo compared whole, its end around the object, wherever that stands.

A demo shows its object in one place; an attempt has it in another. Compared picture by picture, an arm that goes
where the demo's arm went looks better than one that goes to the object: the arm is large and the object small. So the
nearer a demo frame is to the demo's end, the more it is compared within a square that moves with the object, and the
less as a whole picture, which tells the way there.
"""

from __future__ import annotations

import hashlib
from typing import final

import numpy as np
import numpy.typing as npt

from orcalign.encoders import Encoder, Progress, num_places
from orcalign.encoders.protocol import Features, Frames
from orcalign.matching import along_path
from orcalign.matching.match import FloatArray
from orcalign.rewards.finder import Finder, Frame
from orcalign.rewards.frame_costs import FrameCosts, PlaceCosts

SIDE = 3 / 8
"""Of the square, as a share of the picture's smaller side."""
WORST = 1 / 4
"""Share of the square's places, where only those count that differ most."""
SCALE = 3 / 8
"""Floor and temperature, as a share of the demo's reach in each view."""


@final
class ObjectView:
    """An `Encoder` that sees whole pictures and, beside them, a square which moves with the object.

    The object is found in the first frame of what it is given, so it is for whole episodes and whole demos: a row
    depends on its frame and on the first one. Features are those of the whole picture, then those of the square;
    `costs` compares them. In a map each place counts the same: what is bright or busy would outweigh the rest.

    Args:
        encoder: what sees both.
        finder: finds the object.
        share: side of the square as a share of the picture's smaller side.
        worst: share of the square's places that count, those that differ most (with cosines); 1 for all of them.
    """

    def __init__(self, encoder: Encoder, finder: Finder, share: float = SIDE, worst: float = 1.0) -> None:
        self._encoder, self.finder, self._worst = encoder, finder, worst
        self._places = num_places(encoder)
        height, width = finder.shown.shape[:2]
        self.side = round(share * min(height, width))
        # In the demo the square does not leave the picture; elsewhere its edge is drawn out.
        self._top, self._left = (
            int(np.clip(at - self.side // 2, 0, room - self.side))
            for at, room in zip(finder.home, (height, width), strict=True)
        )

    @property
    def name(self) -> str:
        """The encoder's."""
        return self._encoder.name

    @property
    def size(self) -> int:
        """The encoder's."""
        return self._encoder.size

    @property
    def spatial(self) -> bool:
        """The encoder's."""
        return self._encoder.spatial

    @property
    def dim(self) -> int:
        """Twice the encoder's."""
        return 2 * self._encoder.dim

    @property
    def fingerprint(self) -> str:
        """Hex digest of the encoder, and of what it is shown."""
        seen = hashlib.sha256(self._encoder.fingerprint.encode())
        seen.update(repr((self.side, self.finder.home)).encode())
        for picture in (self.finder.shown, self.finder.empty, self.finder.still):
            seen.update(picture.tobytes())
        return seen.hexdigest()

    def __call__(self, frames: Frames, progress: Progress | None = None) -> Features:
        """Features [T, 2D] of an episode's frames [T,H,W,3]."""
        views = self._encoder(frames), self._encoder(self.cut(frames), progress)
        return np.concatenate([_places_alike(view, self._places) for view in views], axis=1)

    def costs(self, demo_features: npt.ArrayLike, distance: str = "cosine") -> ViewCosts:
        """What compares episodes with a demo, both seen by this encoder."""
        return ViewCosts(demo_features, distance, self._places, self._worst)

    def cut(self, frames: Frames) -> Frames:
        """The square of each frame: [T,H,W,3] → [T,S,S,3]."""
        rows, columns = self.square(frames[0])
        return np.ascontiguousarray(frames[:, rows][:, :, columns])

    def square(self, first: Frame) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Rows [S] and columns [S] of the square in an episode that begins with ``first`` [H,W,3]."""
        down, right = self.finder.shift(first)
        rows, columns = (
            np.clip(np.arange(start, start + self.side), 0, room - 1)
            for start, room in zip((self._top + down, self._left + right), first.shape[:2], strict=True)
        )
        return rows, columns


@final
class ViewCosts:
    """Distances of an episode to a demo in two views, in units of what changes in the demo.

        cost[t, j] = max(0, (1 - s[j]) * whole[t, j] + s[j] * square[t, j] - start * (1 - j / (J - 1)))

    whole and square are distances within each view, divided by the largest between two of the demo's frames; s rises
    from 0 to 1 along the demo's path. start is what the sum is in the first frame: the arm begins where it always
    begins, and so looks moved in the square until it has come to the object.

    Args:
        demo_features: [J, 2D], of an `ObjectView`.
        distance: "cosine" or "euclidean".
        places: in the map of each view.
        worst: share of the square's places that count, those that differ most; with cosines.

    >>> costs = ViewCosts(np.array([[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]]), "euclidean")
    >>> costs(np.array([[0.0, 2.0], [1.0, 2.0], [2.0, 4.0]])).tolist()
    [[0.0, 0.25, 0.5], [0.5, 0.0, 0.5], [1.0, 0.5, 0.0]]
    """

    def __init__(
        self, demo_features: npt.ArrayLike, distance: str = "cosine", places: int = 1, worst: float = 1.0
    ) -> None:
        features = np.asarray(demo_features)
        self.num_frames, self.dim = features.shape
        whole, square = np.split(features, 2, axis=1)
        by_place = worst < 1 and distance == "cosine"
        self._views: list[FrameCosts | PlaceCosts] = [
            FrameCosts(whole, distance),
            PlaceCosts(square, places, worst) if by_place else FrameCosts(square, distance),
        ]
        between = [view.between_demo_frames() for view in self._views]
        # A view in which nothing changes has no unit, and all distances in it are 0 anyway.
        self._reach = [float(pairs.max()) or 1.0 for pairs in between]
        # Cosine distances are squares: their roots add up along a straight way.
        steps = np.sqrt(between[0]) if distance == "cosine" else between[0]
        self._near = np.cumsum(along_path(steps)) if self.num_frames > 1 else np.zeros(1)

    def __call__(self, features: npt.ArrayLike) -> FloatArray:
        """Costs [T, J] of an episode's features [T, 2D]; each row depends on the first one as well."""
        rows = np.asarray(features)
        if rows.ndim != 2 or rows.shape[1] != self.dim:
            raise ValueError(
                f"features have shape {rows.shape} and the demo's rows {self.dim}; both must come from the same "
                f"ObjectView."
            )
        whole, square = (
            view(part) / reach
            for view, part, reach in zip(self._views, np.split(rows, 2, axis=1), self._reach, strict=True)
        )
        cost = (1 - self._near) * whole + self._near * square
        left = 1 - np.arange(self.num_frames) / max(1, self.num_frames - 1)
        out: FloatArray = np.maximum(cost - cost[0, 0] * left, 0)
        return out

    def between_demo_frames(self) -> FloatArray:
        """Costs [J, J] of the demo's frames to one another."""
        whole, square = (
            view.between_demo_frames() / reach for view, reach in zip(self._views, self._reach, strict=True)
        )
        return (1 - self._near) * whole + self._near * square


def _places_alike(features: Features, places: int) -> Features:
    """Rows [T, C * places] with the C channels of each place at the same length, so that none outweighs the others.

    >>> _places_alike(np.array([[0.0, 3.0, 4.0, 0.0]], np.float32), 2).tolist()
    [[0.0, 1.0, 1.0, 0.0]]
    """
    if places == 1:
        return features
    maps = features.reshape(len(features), -1, places)
    alike: Features = (maps / np.maximum(np.linalg.norm(maps, axis=1, keepdims=True), 1e-6)).astype(
        np.float32
    )
    return alike.reshape(features.shape)
