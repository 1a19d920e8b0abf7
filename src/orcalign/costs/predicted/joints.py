"""The joint predictor: frames to the places of joints, to angles, and to how far both are to be believed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, final

import numpy as np
import numpy.typing as npt

from orcalign.checks import require
from orcalign.costs.frames import FrameModel
from orcalign.costs.predicted.confidence import Confidence
from orcalign.costs.predicted.entities import COMPARED
from orcalign.costs.predicted.eye import Eye
from orcalign.encoders import Progress
from orcalign.encoders.protocol import Frames
from orcalign.files import read_arrays, save_arrays
from orcalign.matching.match import FloatArray
from orcalign.video import Demo

FORMAT = 2
HUNDRED = 100.0
"""Entities are in centimetres."""


class Reader(Protocol):
    """The network: frames to what they show and to its own features of them."""

    kind: str
    """How a file names it."""

    def read(self, frames: Frames, progress: Progress | None = None) -> tuple[FloatArray, npt.NDArray[np.float32]]:
        """Values [T, E] in metres and radians, and features [T, d], of frames [T,H,W,3], each row for itself."""

    def state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Plain values and arrays."""


@final
class EyeReader:
    """An eye: a frozen network, what attends to places in its maps, and a small head."""

    kind = "eye"

    def __init__(self, eye: Eye) -> None:
        self.eye = eye

    def read(self, frames: Frames, progress: Progress | None = None) -> tuple[FloatArray, npt.NDArray[np.float32]]:
        """As `Reader`."""
        return self.of_maps(self.eye.look(frames, progress))

    def of_maps(self, maps: npt.NDArray[np.float16]) -> tuple[FloatArray, npt.NDArray[np.float32]]:
        """The same of what the eye has looked at [T, places, 64]; features are its last layer before what it says."""
        # One by one: the product of many rows rounds otherwise than that of one.
        seen = [self.eye.predict(maps[t : t + 1]) for t in range(len(maps))]
        return np.stack([one.values[0] for one in seen]) / HUNDRED, np.stack([one.hidden[0] for one in seen])

    def state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """The eye's."""
        return self.eye.state()


@final
class JointPredictor:
    """A reader and its confidence, for one scene, one camera, one size and one way of drawing.

    It is an encoder: features [T, E + 1] are what it reads, places in metres before angles in radians, and then the
    confidence.
    """

    spatial = False

    def __init__(
        self, reader: Reader, confidence: Confidence, about: Mapping[str, Any], joints: Sequence[str], angles: int
    ) -> None:
        self.reader, self.confidence, self.about = reader, confidence, dict(about)
        self.joints, self.angles = tuple(joints), angles
        self.name = f"joint predictor ({reader.kind})"
        self.size = int(self.about["size"])
        self.dim = 3 * len(self.joints) + angles + 1

    def __call__(self, frames: Frames, progress: Progress | None = None) -> npt.NDArray[np.float32]:
        """Features [T, E + 1] of frames uint8 [T,H,W,3]."""
        values, features = self.reader.read(frames, progress)
        return np.column_stack([values, self.confidence(features)]).astype(np.float32)

    def places(self, features: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """[T, joints, 3] In metres, of features [T, E + 1]."""
        return features[:, : 3 * len(self.joints)].reshape(len(features), len(self.joints), 3)

    def compared(self, features: npt.NDArray[Any], what: str) -> npt.NDArray[Any]:
        """Of features [T, E + 1] those that `what` of `COMPARED` names."""
        require("compared", what, COMPARED)
        if what == "arms" and not self.angles:
            raise ValueError(f"a {self.name} reads places and no angles; compare joints, or use one that reads both.")
        at = slice(3 * len(self.joints)) if what == "joints" else slice(3 * len(self.joints), -1)
        return features[:, at]

    def require(self, **about: Any) -> JointPredictor:
        """Itself, if it was made for what is named, as render="fast"."""
        for name, wanted in about.items():
            if self.about.get(name) != wanted:
                raise ValueError(
                    f"this predictor was made for {name} {self.about.get(name)!r}, not for {wanted!r}; make one for "
                    "that with: orcalign predictor data, and orcalign predictor train."
                )
        return self

    @cached_property
    def fingerprint(self) -> str:
        """Of all that it is."""
        plain, arrays = self.state()
        found = hashlib.sha256(repr(sorted(plain.items())).encode())
        for name in sorted(arrays):
            found.update(name.encode() + np.ascontiguousarray(arrays[name]).tobytes())
        return found.hexdigest()

    def state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Plain values and arrays; `from_state` reads them."""
        plain, arrays = self.reader.state()
        plain = {
            "joint predictor": FORMAT, "kind": self.reader.kind, "reader": plain, "about": self.about,
            "joints": list(self.joints), "angles": self.angles,
        }  # fmt: skip
        arrays = {f"reader/{name}": value for name, value in arrays.items()}
        return plain, arrays | {f"confidence/{name}": value for name, value in self.confidence.arrays().items()}

    @classmethod
    def from_state(cls, plain: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> JointPredictor:
        """What `state` gave."""
        if plain.get("joint predictor") != FORMAT:
            raise ValueError(f"this is no joint predictor, or one of another version than {FORMAT}.")

        def under(prefix: str) -> dict[str, npt.NDArray[Any]]:
            return {name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)}

        reader: Reader
        if plain["kind"] == EyeReader.kind:
            reader = EyeReader(Eye.from_state(plain["reader"], under("reader/")))
        else:
            from orcalign.costs.predicted.finetuned import FineTuned

            reader = FineTuned.from_state(plain["reader"], under("reader/"))
        confidence = Confidence.from_arrays(under("confidence/"))
        return cls(reader, confidence, plain["about"], plain["joints"], plain["angles"])

    def save(self, path: Path) -> None:
        """Write it to one file (safetensors), whole or not at all."""
        plain, arrays = self.state()
        save_arrays(path, {name: np.ascontiguousarray(value) for name, value in arrays.items()}, plain)

    @classmethod
    def load(cls, path: Path) -> JointPredictor:
        """What `save` wrote."""
        arrays, plain = read_arrays(path)
        try:
            return cls.from_state(plain, arrays)
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{str(path)!r} holds no joint predictor that this version reads ({error}).") from None


@final
class JointModel:
    """The cost model of the joint predictor: Euclidean distances of what it reads; beside them its confidence.

    Args:
        predictor: what sees the frames.
        demos: the videos.
        what: one of `COMPARED`.
    """

    own_scale = threshold = None

    def __init__(self, predictor: JointPredictor, demos: Sequence[Demo], what: str = "joints") -> None:
        self.encoder: Any = predictor
        self._what = what
        self.demo_features = tuple(predictor(demo.frames) for demo in demos)
        compared = [predictor.compared(one, what) for one in self.demo_features]
        self._frames = FrameModel(None, demos, "euclidean", features=compared)

    def begin(self, known: npt.NDArray[np.uint8]) -> JointPredictor:
        """The predictor: a frame looks the same in whatever episode it is."""
        predictor: JointPredictor = self.encoder
        return predictor

    def compare(self, features: npt.ArrayLike, first: npt.ArrayLike | None = None) -> tuple[FloatArray, ...]:
        """[T, E + 1] → [T, J] per demo."""
        return self._frames.compare(self.encoder.compared(np.asarray(features), self._what))

    def beside(self, features: npt.ArrayLike) -> dict[str, FloatArray]:
        """The confidence [T]."""
        return {"confidence": np.asarray(features)[:, -1].astype(np.float64)}

    def between(self, demo: int) -> FloatArray:
        """Costs [J, J] of a demo's frames to one another."""
        return self._frames.between(demo)
