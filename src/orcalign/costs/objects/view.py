"""Look where the object is: around it, wherever it stands, and at what became of it.

A demo shows its object in one place; an attempt has it in another. Compared picture by picture, an arm that goes
where the demo's arm went looks better than one that goes to the object: the arm is large and the object small. So the
nearer a demo frame is to the demo's end, the more it is compared within a square that moves with the object, and the
less as a whole picture, which tells the way there. And an arm that goes where the demo's arm went and leaves the object
alone looks as good as one that takes it along. So, beside that, it is asked which of the object's own pixels show
something else than in the beginning, and whether these are those that do so in the demo.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import final

import numpy as np
import numpy.typing as npt

from orcalign.costs.objects.finder import Finder
from orcalign.costs.objects.journey import COLUMNS
from orcalign.costs.objects.thing import Frame, Shift
from orcalign.costs.objects.view_costs import ViewCosts
from orcalign.encoders import Encoder, Progress, num_places
from orcalign.encoders.protocol import Features, Frames
from orcalign.encoders.resize import resize
from orcalign.matching.match import FloatArray
from orcalign.video import Demo

SIDE = 3 / 8
"""Of the square, as a share of the picture's smaller side."""
SCALE = 3 / 8
"""Floor and temperature, as a share of the demo's reach in each view."""
UNKNOWN = -1.0
"""In the place of 1 (changed) or 0."""


@final
class ObjectView:
    """An `Encoder` that sees whole pictures and, beside them, a square which moves with each thing, and its pixels.

    Things are found in the first frame of what it is given, so it is for whole episodes and whole demos: a row
    depends on its frame and on the first one. `begin` sees an episode frame by frame. Features are those of the whole
    picture, those of each square, for each pixel of each thing whether it has changed (1 or 0; -1 where the thing is
    hidden in the first frame), and where each thing is that is taken away; `ViewCosts` compares them. In a map each
    place counts the same: what is bright or busy would outweigh the rest.

    Args:
        encoder: what sees pictures and squares.
        finder: finds the things.
        share: side of the squares as a share of the picture's smaller side.
    """

    def __init__(
        self,
        encoder: Encoder,
        finder: Finder,
        share: float = SIDE,
    ) -> None:
        self._encoder, self.finder = encoder, finder
        self.name, self.size, self.spatial = encoder.name, encoder.size, encoder.spatial
        self._places = num_places(encoder)
        self.side = round(share * min(finder.size))
        # In the demo a square does not leave the picture; elsewhere its edge is drawn out.
        self._corners = [
            tuple(
                int(np.clip(at - self.side // 2, 0, room - self.side))
                for at, room in zip(thing.home, finder.size, strict=True)
            )
            for thing in finder.things
        ]

    @property
    def dim(self) -> int:
        """The encoder's for the whole picture and each square, a number for each pixel of a thing, five for a way."""
        journeys = COLUMNS * len(self.finder.journeys)
        return (1 + len(self.finder.things)) * self._encoder.dim + sum(self.pixels) + journeys

    @property
    def fingerprint(self) -> str:
        """Hex digest of the encoder, and of what it is shown."""
        seen = hashlib.sha256(self._encoder.fingerprint.encode())
        seen.update(repr((self.side, [thing.home for thing in self.finder.things])).encode())
        for thing in self.finder.things:
            for array in (*thing.looked_at, thing.colours, *thing.body):
                seen.update(array.tobytes())
        for journey in self.finder.journeys:
            seen.update(repr((journey.thing, journey.goal)).encode() + journey.palette.tobytes())
        return seen.hexdigest()

    def __call__(self, frames: Frames, progress: Progress | None = None) -> Features:
        """Features [T, dim] of an episode's frames [T,H,W,3]."""
        return self.begin(frames[0])(frames, progress)

    def begin(self, first: Frame) -> EpisodeEye:
        """What sees the frames of the episode that begins with ``first`` [H,W,3], all at once or one by one."""
        return EpisodeEye(self, first)

    def encode(self, pictures: Frames, progress: Progress | None = None) -> Features:
        """Pictures or squares [T,H,W,3] → [T, D] of the encoder alone."""
        return self._encoder(pictures, progress)

    def assemble(self, eye: EpisodeEye, frames: Frames, views: Sequence[Features]) -> Features:
        """Features [T, dim] of frames of the episode of `eye`, from what was encoded of them: whole, and squares."""
        first, found = eye.first, eye.found
        since = np.concatenate([first[None], frames])
        changed = [
            thing.changed(since, one.shift)[1:].astype(np.float32)
            if one.clear
            else np.full((len(frames), len(thing.body[0])), UNKNOWN, np.float32)
            for thing, one in zip(self.finder.things, found, strict=True)
        ]
        where = [
            journey.seen(frames, first, (0, 0) if journey.goal is None else found[journey.goal].shift)
            for journey in self.finder.journeys
        ]
        alike = (_places_alike(view, self._places) for view in views)
        return np.concatenate([*alike, *changed, *where], axis=1)

    def cut(self, frames: Frames) -> tuple[Frames, ...]:
        """The squares of each frame, one for each thing: [T,H,W,3] → [T,S,S,3] each."""
        return self.begin(frames[0]).cut(frames)

    def square(self, thing: int, shift: Shift) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Rows [S] and columns [S] of a thing's square where the thing is shifted by so much."""
        rows, columns = (
            np.clip(np.arange(start, start + self.side) + by, 0, room - 1)
            for start, by, room in zip(self._corners[thing], shift, self.finder.size, strict=True)
        )
        return rows, columns

    @property
    def pixels(self) -> tuple[int, ...]:
        """How many each thing has."""
        return tuple(len(thing.body[0]) for thing in self.finder.things)


@final
class EpisodeEye:
    """Sees the frames of one episode as an `ObjectView` does: it knows where the things stand in it."""

    def __init__(self, view: ObjectView, first: Frame) -> None:
        self._view, self.first, self.found = view, first, view.finder.find(first)

    def __call__(self, frames: Frames, progress: Progress | None = None) -> Features:
        """Features [T, dim] of any of its frames [T,H,W,3]."""
        squares = [self._view.encode(square) for square in self.cut(frames)]
        return self._view.assemble(self, frames, [self._view.encode(frames, progress), *squares])

    def together(self, eyes: Sequence[EpisodeEye], frames: Frames) -> Features:
        """[B, dim] of a frame of each of B episodes, [B,H,W,3]: pictures and squares of all are encoded at once."""
        view = self._view
        pictures = [[frame[None], *eye.cut(frame[None])] for eye, frame in zip(eyes, frames, strict=True)]
        encoded = view.encode(np.concatenate([resize(one, view.size) for of in pictures for one in of]))
        views = encoded.reshape(len(eyes), len(pictures[0]), 1, -1)
        each = zip(eyes, frames, views, strict=True)
        return np.concatenate([view.assemble(eye, frame[None], tuple(of)) for eye, frame, of in each])

    def cut(self, frames: Frames) -> tuple[Frames, ...]:
        """The squares of each frame, one for each thing: [T,H,W,3] → [T,S,S,3] each."""
        places = (self._view.square(k, one.shift) for k, one in enumerate(self.found))
        return tuple(np.ascontiguousarray(frames[:, rows][:, :, columns]) for rows, columns in places)


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

    def begin(self, first: Frame) -> EpisodeEye:
        """Find the objects in the first frame."""
        return self.encoder.begin(first)

    def compare(self, features: npt.ArrayLike, first: npt.ArrayLike | None = None) -> tuple[FloatArray, ...]:
        """[T, dim] → ([T, J],)."""
        return (self.costs(features, first),)

    def between(self, demo: int) -> FloatArray:
        """Costs [J, J] of the demo's frames to one another."""
        return self.costs.between_demo_frames()


def _places_alike(features: Features, places: int) -> Features:
    """Rows [T, C * places] with the C channels of each place at the same length, so that none outweighs the others.

    >>> _places_alike(np.array([[0.0, 3.0, 4.0, 0.0]], np.float32), 2).tolist()
    [[0.0, 1.0, 1.0, 0.0]]
    """
    if places == 1:
        return features
    maps = features.reshape(len(features), -1, places)
    alike: Features = (maps / np.maximum(np.linalg.norm(maps, axis=1, keepdims=True), 1e-6)).astype(np.float32)
    return alike.reshape(features.shape)
