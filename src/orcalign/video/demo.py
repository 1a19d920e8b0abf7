"""A demonstration: frames with their origin, stored as one folder that checks itself.

my-demo/
  manifest.json   everything but the pixels, and the sha256 of the content
  frames.npz      the frames, lossless
  states.npy      what the environment observed in each frame, if that is known and wanted
  demo.mp4        the same to look at; never read back
"""

import hashlib
import json
import os
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from orcalign.checks import require
from orcalign.files import atomic_folder
from orcalign.video.read import read_video
from orcalign.video.timeline import VideoOptions
from orcalign.video.warps import Warp, compose, identity
from orcalign.video.write import check_rate, write_mp4

MANIFEST = "manifest.json"
FRAMES = "frames.npz"
STATES = "states.npy"
FORMAT = "orcalign-demo"
VERSION = 1
Render = Literal["fast", "paper", "unknown"]
# A demo is whole when it is saved; the limits on reading foreign files do not apply to it.
_NO_LIMIT = VideoOptions(max_frames=2**31, max_bytes=2**62)


def _created_by() -> str:
    from orcalign import __version__

    return f"orcalign {__version__}"


@dataclass(frozen=True, eq=False)
class Demo:
    """A demonstration video in memory; treat its frames as read-only.

    >>> demo = Demo(np.zeros((4, 8, 8, 3), np.uint8), fps=10, task="door-close")
    >>> demo.indices, demo.original_length
    ((0, 1, 2, 3), 4)
    >>> demo.warp(Warp((0, 3), 4)).indices
    (0, 3)
    """

    frames: NDArray[np.uint8]
    """uint8 [J,H,W,3]"""
    fps: float = 10.0
    """Frames per second at which it is shown."""
    source: str = "memory"
    """Where it came from: a path, or the policy and seed that made it."""
    task: str | None = None
    """Name of the task, where known."""
    camera: str | None = None
    """Name of the camera, where known."""
    render: Render = "unknown"
    """How it was rendered; a real video is "unknown"."""
    indices: tuple[int, ...] = ()
    """Frame of the original that each frame shows [J]; left out, the demo is its own original."""
    original_length: int = 0
    """Frames of the original."""
    success: tuple[bool, ...] | None = None
    """Whether the task is done in each frame [J]; None where nobody can say."""
    created_by: str = field(default_factory=_created_by)
    """Program and version that made it."""
    extra: dict[str, Any] = field(default_factory=dict)
    """Anything else that JSON can hold."""
    states: NDArray[np.float32] | None = None
    """[J, D] What the environment observed in each frame, without time; None, as of any video. No reward of frames
    looks at them."""
    sentences: tuple[str, ...] | None = None
    """[J] What each frame stands for, as `goals` makes it: a sentence, which the frame only shows to people, or "" for
    a picture that is meant itself. None of any video."""

    def __post_init__(self) -> None:
        frames = np.ascontiguousarray(self.frames)
        if frames.dtype != np.uint8 or frames.ndim != 4 or frames.shape[3] != 3 or 0 in frames.shape:
            raise ValueError(
                f"Demo frames have type {frames.dtype} and shape {list(frames.shape)}; "
                "they must be uint8 [J,H,W,3] with at least one frame."
            )
        check_rate(self.fps)
        require("render", self.render, get_args(Render))
        own = not self.indices and not self.original_length
        whole = identity(len(frames)) if own else self.index_map
        if len(whole) != len(frames):
            raise ValueError(f"The demo has {len(frames)} frames but {len(whole)} indices; give one for each frame.")
        success = self.success
        if success is not None:
            success = tuple(bool(one) if isinstance(one, (bool, np.bool_)) else one for one in success)
            if len(success) != len(frames) or not all(isinstance(one, bool) for one in success):
                raise ValueError(
                    f"The demo has {len(frames)} frames and success={list(success)}; give True or False for each frame."
                )
        try:
            extra = json.loads(json.dumps(self.extra, allow_nan=False))
        except (TypeError, ValueError) as error:
            raise ValueError(f"Demo extra cannot be stored as JSON ({error}); use plain values.") from error
        if self.states is not None:
            states = np.ascontiguousarray(self.states, np.float32)
            if states.ndim != 2 or len(states) != len(frames) or not states.size or not np.isfinite(states).all():
                raise ValueError(
                    f"Demo states have shape {list(states.shape)}; they must be finite numbers [J,D], "
                    f"a row for each of the {len(frames)} frames."
                )
            vars(self).update(states=states)
        if self.sentences is not None:
            told = tuple(self.sentences)
            if len(told) != len(frames) or not all(isinstance(one, str) for one in told):
                raise ValueError(
                    f"The demo has {len(frames)} frames and sentences={told}; give one text for each frame."
                )
            vars(self).update(sentences=told)
        # Frozen for everybody else: here, what was given takes its stored form.
        vars(self).update(frames=frames, fps=float(self.fps), extra=extra, success=success)
        vars(self).update(indices=whole.indices, original_length=whole.source_length)

    def __len__(self) -> int:
        return len(self.frames)

    @property
    def index_map(self) -> Warp:
        """The map from these frames to the original's."""
        return Warp(self.indices, self.original_length)

    @property
    def sha256(self) -> str:
        """Hash of frames, shape, index map, states and sentences: what a reward depends on, and nothing else."""
        head = {"indices": self.indices, "original_length": self.original_length, "shape": self.frames.shape}
        digest = hashlib.sha256(json.dumps(head, sort_keys=True).encode())
        digest.update(self.frames.data)
        if self.states is not None:
            digest.update(repr(self.states.shape).encode() + self.states.tobytes())
        if self.sentences is not None:
            digest.update(json.dumps(self.sentences).encode())
        return digest.hexdigest()

    @property
    def success_words(self) -> str:
        """How many frames show success, in words.

        >>> Demo(np.zeros((2, 8, 8, 3), np.uint8), success=(False, True)).success_words
        '1 of 2 frames, the last one too'
        """
        if self.success is None:
            return "not said"
        last = "the last one too" if self.success[-1] else "not the last one"
        return f"{sum(self.success)} of {len(self)} frames, {last}"

    def warp(self, warp: Warp) -> "Demo":
        """The demo with its time warped; the map to the original is kept."""
        both = compose(self.index_map, warp)
        success = None if self.success is None else tuple(warp.apply(self.success).tolist())
        states = None if self.states is None else warp.apply(self.states)
        words = None if self.sentences is None else tuple(self.sentences[i] for i in warp.indices)
        frames = warp.apply(self.frames)
        return replace(self, frames=frames, indices=both.indices, success=success, states=states, sentences=words)

    @classmethod
    def from_video(
        cls,
        path: str | os.PathLike[str],
        options: VideoOptions | None = None,
        task: str | None = None,
        camera: str | None = None,
    ) -> "Demo":
        """A demo from any video that `read_video` reads; how it was rendered is unknown."""
        clip = read_video(path, options)
        rate = min(1000.0, max(0.01, clip.fps))
        return cls(clip.frames, rate, clip.source, task=task, camera=camera)

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write the demo folder, whole or not at all; an existing one only with `overwrite`.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Demo(np.zeros((4, 8, 8, 3), np.uint8)).save(Path(folder) / "demo")
        ...     len(Demo.load(Path(folder) / "demo"))
        4
        """
        target = Path(path)
        check_target(target, overwrite)
        manifest = {name: getattr(self, name) for name in _STORED}
        manifest |= {"format": FORMAT, "version": VERSION}
        manifest |= {"sha256": self.sha256, "shape": list(self.frames.shape)}
        with atomic_folder(target, replace=overwrite) as part:
            np.savez_compressed(part / FRAMES, frames=self.frames, fps=np.float64(self.fps))
            if self.states is not None:
                np.save(part / STATES, self.states, allow_pickle=False)
            write_mp4(part / "demo.mp4", self.frames, self.fps)
            text = json.dumps(manifest, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False)
            (part / MANIFEST).write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Demo":
        """Read a demo folder and check its version and content."""
        folder, name = Path(path), os.fspath(path)
        manifest = {"success": None, "sentences": None, **_read_manifest(folder)}  # older ones do not say
        if not (folder / FRAMES).is_file():
            raise FileNotFoundError(f"Demo {name!r} lacks its {FRAMES}; restore it or save the demo again.")
        clip = read_video(folder / FRAMES, _NO_LIMIT)
        try:
            stored = {name: manifest[name] for name in _STORED}
            demo = cls(clip.frames, **stored, states=_read_states(folder / STATES))
        except KeyError as error:
            raise ValueError(f"Demo {name!r}: {MANIFEST} lacks the entry {error}; save it again.") from error
        except (TypeError, ValueError) as error:
            raise ValueError(f"Demo {name!r}: {MANIFEST} is wrong ({error}) Save it again.") from error
        if demo.sha256 != manifest.get("sha256"):
            raise ValueError(
                f"Demo {name!r} was changed after it was saved: its frames or index map do not match the "
                f"sha256 in {MANIFEST}; restore it or save it again."
            )
        return demo


_STORED = tuple(one.name for one in fields(Demo) if one.name not in ("frames", "states"))
"""What the manifest holds of a demo."""


def load_demo(path: str | os.PathLike[str], options: VideoOptions | None = None) -> Demo:
    """A demo from a demo folder, or from anything `read_video` reads; the options are for the latter only."""
    if not is_demo(path):
        return Demo.from_video(path, options)
    if options is not None and options != VideoOptions():
        raise ValueError(
            f"{os.fspath(path)!r} is a saved demo and is used as it is; leave out trim, fps and size, "
            "or give the original video."
        )
    return Demo.load(path)


def is_demo(path: str | os.PathLike[str]) -> bool:
    """Whether the path is a demo folder."""
    return (Path(path) / MANIFEST).is_file()


def check_target(target: Path, overwrite: bool) -> None:
    """Refuse to write a demo over something that is there, unless it is a demo and may be replaced."""
    if not (target.exists() or target.is_symlink()):
        return
    if not overwrite:
        raise FileExistsError(
            f"{str(target)!r} exists already; choose another name, or replace it with overwrite (--overwrite)."
        )
    # Overwriting replaces the whole folder, so it must hold nothing but a demo.
    if target.is_symlink() or not target.is_dir() or (not is_demo(target) and any(target.iterdir())):
        raise FileExistsError(f"{str(target)!r} is not a demo folder and is not overwritten; choose another name.")


def _read_states(path: Path) -> NDArray[np.float32] | None:
    """States of a demo, if there are any."""
    if not path.is_file():
        return None
    try:
        with path.open("rb") as file:  # np.load leaves a file open that is no array
            return np.asarray(np.load(file, allow_pickle=False), np.float32)
    except (ValueError, EOFError) as error:
        raise ValueError(f"{str(path)!r} cannot be read ({error}); save the demo again.") from None


def _read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a demo folder, of the right format and version."""
    name = str(folder)
    if not folder.exists():
        raise FileNotFoundError(f"Demo {name!r} does not exist; check the path.")
    if not is_demo(folder):
        raise ValueError(f"{name!r} is not a demo folder (no {MANIFEST} in it); read videos with Demo.from_video.")
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"Demo {name!r}: {MANIFEST} is not JSON ({error}); save the demo again.") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ValueError(f"Demo {name!r}: {MANIFEST} is not of format {FORMAT!r}; give a folder saved by orcalign.")
    if manifest.get("version") != VERSION:
        raise ValueError(
            f"Demo {name!r} has version {manifest.get('version')!r}, this program reads {VERSION}; "
            "use the orcalign that saved it, or make the demo again."
        )
    return manifest
