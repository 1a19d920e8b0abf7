"""Look where the object is: the beginning of a demo compared whole, its end around the object, wherever that stands.

A demo shows its object in one place; an attempt has it in another. Compared picture by picture, an arm that goes
where the demo's arm went looks better than one that goes to the object: the arm is large and the object small. So the
nearer a demo frame is to the demo's end, the more it is compared within a square that moves with the object, and the
less as a whole picture, which tells the way there. Where the object stands is seen in the first frame: what differs
there from the first frames of other episodes is what stands elsewhere each time, and it is looked for in the demo's
first frame. What moves within the first step is whoever acts, and is not looked at. Nothing but pictures is used.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt
from scipy import ndimage

from orcalign.encoders import Encoder, Progress
from orcalign.encoders.protocol import Features, Frames
from orcalign.matching import along_path
from orcalign.matching.match import FloatArray
from orcalign.rewards.frame_costs import FrameCosts

Frame = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]
Shift = tuple[int, int]
"""Rows down and columns to the right."""

SIDE = 3 / 8
"""Of the square, as a share of the picture's smaller side."""
SCALE = 3 / 8
"""Floor and temperature, as a share of the demo's reach in each view."""
BLUR = 1 / 256
"""Standard deviation as a share of the picture's height; more would melt small objects into their surroundings."""
DIFFERENT = 25.0
"""Sum over colours (of 255 each) from which on two pixels show different things."""
MARGIN = 1 / 64
"""Around what moves within the first step, as a share of the picture's height: other first steps lead elsewhere."""
FAR = 0.15
"""How far the object is looked for, as a share of the picture's smaller side."""
COARSE = 2
"""Pixels from one try to the next, before the best one is refined."""
SAMPLES = 500
"""Pixels of the object that are compared, at most."""
FEWEST = 8
"""Pixels that are enough of an object to look for."""
AGREE = 0.045
"""How far apart, as a share of the picture's smaller side, two first frames may see the object of the demo."""


@final
@dataclass(frozen=True, eq=False)
class Finder:
    """Finds the object of the demo in the first frames of other episodes.

    >>> def scene(row, column):
    ...     frame = np.full((64, 64, 3), 90, np.uint8)
    ...     frame[row : row + 7, column : column + 7] = (220, 40, 40)
    ...     return frame
    >>> others = [scene(*at) for at in ((21, 22), (21, 37), (35, 22), (36, 37), (20, 30))]
    >>> finder = Finder.learn(scene(28, 30), others)
    >>> finder.home, finder.shift(scene(30, 24)), finder.shift(scene(28, 30))
    ((31, 33), (2, -6), (0, 0))
    >>> Finder.learn(scene(28, 30), [scene(28, 30)] * 5) is None
    True
    """

    shown: Floats
    """[H,W,3] The demo's first frame, blurred."""
    empty: Floats
    """[H,W,3] What first frames of other episodes have in common, blurred."""
    still: Mask
    """[H,W] Where nothing moved within a first step: where the object is looked for."""
    home: tuple[int, int]
    """Row and column of the object in the demo."""

    @classmethod
    def learn(cls, shown: Frame, firsts: Sequence[Frame], nexts: Sequence[Frame] = ()) -> Finder | None:
        """From first frames alone; None if there is no object to find: very small, or always in one place.

        Args:
            shown: the demo's first frame, uint8 [H,W,3].
            firsts: first frames of other episodes, uint8 [H,W,3]; five or more, with the object here and there.
            nexts: the same episodes after a step of any kind, as many as firsts; what has moved by then is whoever
                acts, and would be found in its own place wherever the object stands. Left out, nobody is there.
        """
        for frame in (*firsts, *nexts):
            _check_size(shown.shape, frame.shape)
        demo, others = _blurred(shown), [_blurred(first) for first in firsts]
        empty = np.median(np.stack(others), axis=0).astype(np.float32)
        moved = np.zeros(demo.shape[:2], bool)
        for first, after in zip(others, nexts, strict=bool(nexts)):
            moved |= np.abs(first - _blurred(after)).sum(-1) > DIFFERENT
        still = ~ndimage.binary_dilation(moved, iterations=max(1, round(MARGIN * len(moved))))
        looks = [_look(first, empty, demo, still) for first in others]
        homes = np.array([(at[0] - by[0], at[1] - by[1]) for at, by in looks if by is not None])
        if not len(homes):
            return None
        home = np.median(homes, axis=0)
        # Each of them has looked for its own object; only if nearly all meet in one place there is one to find.
        agree = np.abs(homes - home).max(axis=1) <= AGREE * min(demo.shape[:2])
        if 4 * agree.sum() <= 3 * len(firsts):
            return None
        return cls(demo, empty, still, (int(home[0]), int(home[1])))

    def shift(self, first: Frame) -> Shift:
        """By how much the object of the episode that begins with ``first`` is off the demo's; not found, by 0."""
        _check_size(self.shown.shape, first.shape)
        return _look(_blurred(first), self.empty, self.shown, self.still)[1] or (0, 0)


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
    """

    def __init__(self, encoder: Encoder, finder: Finder, share: float = SIDE) -> None:
        self._encoder, self.finder = encoder, finder
        # Trunks that halve the picture five times have such a map; of others it is not known where a place begins.
        places = math.ceil(encoder.size / 32) ** 2
        self._places = places if encoder.spatial and encoder.dim % places == 0 else 1
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
        return ViewCosts(demo_features, distance)

    def cut(self, frames: Frames) -> Frames:
        """The square of each frame: [T,H,W,3] → [T,S,S,3]."""
        down, right = self.finder.shift(frames[0])
        rows, columns = (
            np.clip(np.arange(start, start + self.side), 0, room - 1)
            for start, room in zip((self._top + down, self._left + right), frames.shape[1:3], strict=True)
        )
        return np.ascontiguousarray(frames[:, rows][:, :, columns])


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

    >>> costs = ViewCosts(np.array([[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]]), "euclidean")
    >>> costs(np.array([[0.0, 2.0], [1.0, 2.0], [2.0, 4.0]])).tolist()
    [[0.0, 0.25, 0.5], [0.5, 0.0, 0.5], [1.0, 0.5, 0.0]]
    """

    def __init__(self, demo_features: npt.ArrayLike, distance: str = "cosine") -> None:
        features = np.asarray(demo_features)
        self.num_frames, self.dim = features.shape
        self._views = [FrameCosts(view, distance) for view in np.split(features, 2, axis=1)]
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

    >>> _places_alike(np.array([[3.0, 0.0, 4.0, 2.0]], np.float32), 2).round(2).tolist()
    [[0.6, 0.0, 0.8, 1.0]]
    """
    if places == 1:
        return features
    maps = features.reshape(len(features), -1, places)
    alike: Features = (maps / np.maximum(np.linalg.norm(maps, axis=1, keepdims=True), 1e-6)).astype(
        np.float32
    )
    return alike.reshape(features.shape)


def _check_size(demo: tuple[int, ...], frame: tuple[int, ...]) -> None:
    if demo != frame:
        raise ValueError(
            f"the frames are {frame[1]}x{frame[0]} pixels and the demo's {demo[1]}x{demo[0]}, so that an object "
            "cannot be found in both; make them the same size, or compare whole pictures (--look whole)."
        )


def _look(first: Floats, empty: Floats, shown: Floats, still: Mask) -> tuple[tuple[int, int], Shift | None]:
    """The middle of what stands elsewhere in a first frame, and its shift against the demo, if it is found there."""
    differs = np.abs(first - empty).sum(-1)
    there = ndimage.binary_opening((differs > DIFFERENT) & still)
    if there.sum() < FEWEST:
        return (0, 0), None
    rows, columns = np.nonzero(there)
    middle = int(rows.mean()), int(columns.mean())
    rows, columns = np.nonzero(ndimage.binary_dilation(there, iterations=2) & still)
    if len(rows) > SAMPLES:
        some = np.linspace(0, len(rows) - 1, SAMPLES).astype(int)
        rows, columns = rows[some], columns[some]
    shift, error = _search(first[rows, columns], rows, columns, shown)
    # Nowhere better than where there is nothing: it is hidden, or not the demo's object.
    return middle, shift if error < differs[rows, columns].mean() else None


def _search(
    wanted: Floats, rows: npt.NDArray[np.intp], columns: npt.NDArray[np.intp], shown: Floats
) -> tuple[Shift, float]:
    """By how much the pixels ``wanted`` [N,3] are shifted against the demo, and how much they differ there."""
    reach = COARSE * round(FAR * min(shown.shape[:2]) / COARSE)
    padded = np.pad(shown, ((reach, reach), (reach, reach), (0, 0)), mode="edge")

    def best(down: npt.NDArray[np.intp], right: npt.NDArray[np.intp]) -> tuple[int, int, float]:
        """Of these shifts; of two equally good ones the nearer."""
        down, right = (one.ravel() for one in np.meshgrid(down, right, indexing="ij"))
        there = padded[rows - down[:, None] + reach, columns - right[:, None] + reach]
        # What is hidden behind the arm may differ by much without saying much.
        errors = np.minimum(np.abs(wanted - there).sum(-1), 6 * DIFFERENT).mean(-1)
        k = np.lexsort((np.hypot(down, right), errors))[0]
        return int(down[k]), int(right[k]), float(errors[k])

    coarse = np.arange(-reach, reach + 1, COARSE)
    y, x, _ = best(coarse, coarse)
    y, x, error = best(*(np.clip(np.arange(k - COARSE, k + COARSE + 1), -reach, reach) for k in (y, x)))
    return (y, x), error


def _blurred(frame: Frame) -> Floats:
    width = BLUR * len(frame)
    blurred: Floats = ndimage.gaussian_filter(frame.astype(np.float32), (width, width, 0))
    return blurred
