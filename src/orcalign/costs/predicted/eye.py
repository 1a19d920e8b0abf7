"""The eye: says where the hand, the objects and the goal are in a frame, having learned it from the learner's own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, final

import numpy as np
import numpy.typing as npt

from orcalign.costs.predicted.described import DescribedDemo
from orcalign.costs.predicted.entities import Entities
from orcalign.costs.predicted.fitting import (
    FRESH_RATE,
    REFIT_RATE,
    Errors,
    Told,
    cautious,
    checked,
    held_out,
    measure,
    relative_error,
    train,
)
from orcalign.costs.predicted.network import Head, Predicted
from orcalign.costs.predicted.scenery import Scenery, whitening
from orcalign.costs.predicted.smoothing import smooth
from orcalign.encoders import Encoder, Progress, make_encoder
from orcalign.encoders.protocol import Frames
from orcalign.files import read_arrays, save_arrays
from orcalign.matching.kernel import kernel
from orcalign.matching.match import FloatArray

FORMAT = 1
ENCODER = "efficientnet-lite0-fine"
CHANNELS = 64
"""Kept of the encoder's 136."""
SAMPLE = 600
"""Frames of which the principal components are taken."""
CHUNK = 128

Maps = npt.NDArray[np.float16]


@kernel
def _mixed(weight: Any, bias: Any, maps: Any, out: Any) -> None:
    """[N, kept, places] = weight [kept, C] times maps [N, C, places] plus bias; a library's product would round
    otherwise with another number of threads."""
    kept, C = weight.shape
    for n in range(maps.shape[0]):
        for o in range(kept):
            row = out[n, o]
            row[:] = bias[o]
            for c in range(C):
                share = weight[o, c]
                for p in range(maps.shape[2]):
                    row[p] += share * maps[n, c, p]


@final
class Eye:
    """Frames to places in centimetres, for one environment, one camera and one way of drawing.

    It is begun from random frames, then fitted, as often as there is more to learn from. Weights are NumPy arrays;
    torch is imported to fit and to predict alone. It pickles.

    >>> rng, play = np.random.default_rng(0), np.zeros((40, 32, 32, 3), np.uint8)
    >>> states = rng.uniform(0, 1, (40, 2))
    >>> for frame, (x, y) in zip(play, states, strict=True):
    ...     frame[int(28 * y) : int(28 * y) + 4, int(28 * x) : int(28 * x) + 4] = 255
    >>> eye = Eye.begin(Entities((0, 1)), play, states, states[:1])
    >>> features = eye.look(play)
    >>> eye.fit(features, eye.entities.read(states), updates=4)
    >>> features.shape, eye.predict(features).values.shape, list(eye.errors), len(eye.describe(features))
    ((40, 256, 64), (40, 2), ['hand'], 40)
    """

    def __init__(
        self,
        entities: Entities,
        scenery: Scenery,
        basis: tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]],
        rest: FloatArray,
        about: Mapping[str, Any],
        head: Head | None = None,
    ) -> None:
        self.entities, self.scenery, self.basis = entities, scenery, basis
        self.rest = rest
        """[E] What is read where an episode begins."""
        self.about = dict(about)
        """Plain values: what it was made for and from."""
        self.head = head
        self.errors: Errors = {}
        """Median and 90% quantile of each part's error, in centimetres, on frames that it was not fitted to."""
        self.error = float("inf")
        """Median error there of the hand relative to the first object (or the goal, or nothing)."""
        self.threads: int | None = None
        """Of the encoder; None: all cores. They change no number."""
        self._encoder: Encoder | None = None

    @classmethod
    def begin(
        cls,
        entities: Entities,
        frames: Frames,
        states: npt.ArrayLike,
        rests: npt.ArrayLike,
        *,
        about: Mapping[str, Any] | None = None,
        seed: int = 0,
        threads: int | None = None,
        starts: Frames | None = None,
    ) -> Eye:
        """An eye that knows where to look, from random frames [N,H,W,3], their observations [N, D], and those right
        after resets [R, D]; it has learned nothing of the places yet.

        Args:
            entities: what the observations hold.
            frames: of many resets, so that all that can differ does.
            states: the observation of each frame.
            rests: where episodes begin.
            about: what to remember: task, way of drawing, camera, where the frames come from.
            seed: of the network's first weights.
            threads: of the encoder.
            starts: frames right after resets [S,H,W,3]: what differs in them is looked at.
        """
        scenery = Scenery.of(frames, starts)
        values = checked(entities.read(states), len(frames))
        rest = np.median(checked(entities.read(np.atleast_2d(rests))), axis=0)
        plain = {**(about or {}), "encoder": ENCODER, "seed": seed, "frames": len(frames), "updates": 0, "still": []}
        eye = cls(entities, scenery, (np.zeros((0, 0), np.float32),) * 2, rest, plain)
        eye.threads = threads
        eye.basis = whitening(eye._maps(frames[:: max(1, len(frames) // SAMPLE)]), CHANNELS)
        eye.about["still"] = Head.fresh(entities, CHANNELS, values, seed).still_parts(entities)
        return eye

    def look(self, frames: Frames, progress: Progress | None = None) -> Maps:
        """[T, places, 64] What the frozen network sees of frames [T,H,W,3]; row t depends on frame t alone."""
        weight, bias = self.basis
        self.scenery.cut(frames)
        parts = []
        for start in range(0, max(1, len(frames)), CHUNK):
            maps = self._maps(frames[start : start + CHUNK])
            kept = np.empty((len(maps), len(weight), maps.shape[2]), np.float32)
            _mixed(weight, bias, maps, kept)
            parts.append(kept.transpose(0, 2, 1).astype(np.float16))
            if progress is not None:
                progress(min(start + CHUNK, len(frames)))
        return np.concatenate(parts)

    def _maps(self, frames: Frames) -> npt.NDArray[np.float32]:
        """[T, 136, places]"""
        if self._encoder is None:
            self._encoder = make_encoder(ENCODER, threads=self.threads)
        seen = self._encoder(np.ascontiguousarray(self.scenery.cut(frames)))
        places = (self._encoder.size // 8) ** 2
        return seen.reshape(len(frames), seen.shape[1] // places, places)

    def fit(
        self,
        features: Maps,
        values: npt.ArrayLike,
        *,
        updates: int,
        learning_rate: float | None = None,
        seed: int = 0,
        progress: Told | None = None,
        weights: npt.ArrayLike | None = None,
        recent: float = 0.0,
        groups: npt.ArrayLike | None = None,
        fresh: bool = False,
    ) -> None:
        """Learn that frames with these features [N, places, 64], oldest first, show these values [N, E].

        It goes on from what it has learned, unless `fresh`. Afterwards `errors` are those on the frames held out.

        Args:
            features: what `look` gave.
            values: what `Entities.read` gave.
            updates: steps of AdamW, of 32 frames each.
            learning_rate: the highest; by default 2e-3, or 5e-4 when it goes on.
            seed: of which frames are drawn.
            progress: is told updates done and to do.
            weights: [N] how often a frame is drawn, relative to others.
            recent: share of each batch that is drawn from the newest half.
            groups: [N] episode or layout of each frame, as whole numbers: those held out are held out whole.
            fresh: forget what was learned.
        """
        known = checked(np.asarray(values, np.float64), len(features))
        if known.shape[1] != self.entities.dim:
            raise ValueError(f"values have {known.shape[1]} columns, and the eye's entities {self.entities.dim}.")
        aside = held_out(len(known), groups)
        if fresh or self.head is None:
            head, rate = Head.fresh(self.entities, features.shape[2], known, self.about["seed"]), FRESH_RATE
        else:
            head, rate = self.head.restated(self.entities, known), REFIT_RATE
        if head.still.all():
            raise ValueError(
                f"none of {', '.join(name for name, _ in self.entities.parts)} moves in these {len(known)} frames; "
                "there is nothing to learn: are the entities those of this environment, and do its episodes differ?"
            )
        self.head = train(
            head,
            self.entities,
            features,
            known,
            rows=np.flatnonzero(~aside),
            updates=updates,
            learning_rate=rate if learning_rate is None else learning_rate,
            seed=seed,
            weights=weights,
            recent=recent,
            progress=progress,
        )
        total = updates + (0 if fresh else self.about["updates"])
        self.about.update(updates=total, fitted=int((~aside).sum()), still=self.head.still_parts(self.entities))
        seen = self.predict(features[aside])
        self.head = cautious(self.head, self.entities, seen, known[aside])
        self.errors = measure(self.entities, seen, known[aside])
        self.error = relative_error(self.entities, seen, known[aside])

    def predict(self, features: Maps) -> Predicted:
        """Where things are in frames with these features [N, places, 64]."""
        if self.head is None:
            raise ValueError("this eye has learned nothing yet; call fit first.")
        return self.head.predict(self.entities, features)

    def describe(self, features: Maps) -> DescribedDemo:
        """A demo whose frames have these features [J, places, 64], told as one story; all of it is believed."""
        values, scales, _ = self.predict(features)
        told = smooth(self.entities, values, scales, self.rest)
        believed = np.ones(len(values), bool)
        return DescribedDemo(self.entities, told.values, told.scales, told.start, believed, self.error)

    def same_view(self, frames: Frames) -> float:
        """How far the background of a demo's frames [J,H,W,3] is from that of the eye's own; see `Scenery`.

        From `OTHER_VIEW` on it is another camera's.
        """
        return self.scenery.difference(frames)

    def view_problem(self, frames: Frames) -> str:
        """One sentence if a demo's frames [J,H,W,3] come from another camera; nothing otherwise."""
        return self.scenery.problem(frames)

    def require(self, entities: Entities | None = None, **about: Any) -> Eye:
        """Itself, if it was made for these entities and for what is named, as task="push" or render="fast"."""
        if entities is not None and entities != self.entities:
            raise ValueError(
                f"this eye was made for the entities {self.entities.plain()}, not for {entities.plain()}; make an eye "
                "for these."
            )
        for name, wanted in about.items():
            if name in self.about and self.about[name] != wanted:
                raise ValueError(
                    f"this eye was made for {name} {self.about[name]!r}, not for {wanted!r}; make an eye for that."
                )
        return self

    def state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Plain values and arrays; `from_state` reads them."""
        scenery, arrays = self.scenery.state()
        arrays = {**arrays, "basis": self.basis[0], "basis_bias": self.basis[1], "rest": self.rest}
        if self.head is not None:
            arrays |= self.head.arrays()
        plain = {"eye": FORMAT, "entities": self.entities.plain(), "scenery": scenery, "about": self.about}
        plain |= {"errors": {name: list(pair) for name, pair in self.errors.items()}}
        plain |= {"error": self.error if self.errors else None}
        return plain, {name: np.ascontiguousarray(value) for name, value in arrays.items()}

    @classmethod
    def from_state(cls, plain: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Eye:
        """What `state` gave."""
        if plain.get("eye") != FORMAT:
            raise ValueError(f"this is no eye, or one of another version than {FORMAT}.")
        scenery = Scenery.from_state(plain["scenery"], arrays)
        entities, basis = Entities.from_plain(plain["entities"]), (arrays["basis"], arrays["basis_bias"])
        eye = cls(entities, scenery, basis, arrays["rest"], plain["about"], Head.from_arrays(arrays))
        eye.errors = {name: (float(pair[0]), float(pair[1])) for name, pair in plain["errors"].items()}
        eye.error = float("inf") if plain["error"] is None else plain["error"]
        return eye

    def save(self, path: Path) -> None:
        """Write it to one file (safetensors), whole or not at all."""
        plain, arrays = self.state()
        save_arrays(path, arrays, plain)

    @classmethod
    def load(cls, path: Path) -> Eye:
        """What `save` wrote."""
        arrays, plain = read_arrays(path)
        try:
            return cls.from_state(plain, arrays)
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{str(path)!r} holds no eye that this version reads ({error}).") from None

    def with_encoder_of(self, other: Eye) -> Eye:
        """Itself, which looks through the network that another one has ready."""
        self._encoder, self.threads = other._encoder, other.threads
        return self

    @property
    def digest(self) -> str:
        """Of all that it is: equal digests, equal predictions."""
        plain, arrays = self.state()
        found = hashlib.sha256(json.dumps(plain, sort_keys=True).encode())
        for name in sorted(arrays):
            found.update(name.encode() + arrays[name].tobytes())
        return found.hexdigest()

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_encoder": None}
