"""A demonstration: frames with their origin, stored as one folder that checks itself.

my-demo/
  manifest.json   everything but the pixels, and the sha256 of the content
  frames.npz      the frames, lossless
  demo.mp4        the same to look at; never read back
"""

import hashlib
import json
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from orcalign.files import atomic_folder
from orcalign.video.manifest import (
    FORMAT,
    FRAMES,
    MANIFEST,
    VERSION,
    check_target,
    frames_file,
    is_demo,
    read_manifest,
)
from orcalign.video.options import VideoOptions
from orcalign.video.read import read_video
from orcalign.video.warps import Warp, compose, identity
from orcalign.video.write import write_mp4

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
    created_by: str = field(default_factory=_created_by)
    """Program and version that made it."""
    extra: dict[str, Any] = field(default_factory=dict)
    """Anything else that JSON can hold."""

    def __post_init__(self) -> None:
        frames = np.ascontiguousarray(self.frames)
        if frames.dtype != np.uint8 or frames.ndim != 4 or frames.shape[3] != 3 or 0 in frames.shape:
            raise ValueError(
                f"Demo frames have type {frames.dtype} and shape {list(frames.shape)}; "
                "they must be uint8 [J,H,W,3] with at least one frame."
            )
        object.__setattr__(self, "frames", frames)
        if isinstance(self.fps, bool) or not 0.01 <= self.fps <= 1000:
            raise ValueError(f"Demo fps={self.fps!r} must be a number between 0.01 and 1000.")
        object.__setattr__(self, "fps", float(self.fps))
        if self.render not in get_args(Render):
            raise ValueError(f"Unknown render {self.render!r}; known: {', '.join(get_args(Render))}.")
        if not self.indices and not self.original_length:
            whole = identity(len(frames))
        else:
            whole = Warp(self.indices, self.original_length)
        if len(whole) != len(frames):
            raise ValueError(
                f"The demo has {len(frames)} frames but {len(whole)} indices; give one for each frame."
            )
        object.__setattr__(self, "indices", whole.indices)
        object.__setattr__(self, "original_length", whole.source_length)
        try:
            extra = json.loads(json.dumps(self.extra, allow_nan=False))
        except (TypeError, ValueError) as error:
            raise ValueError(f"Demo extra cannot be stored as JSON ({error}); use plain values.") from error
        object.__setattr__(self, "extra", extra)

    def __len__(self) -> int:
        return len(self.frames)

    @property
    def index_map(self) -> Warp:
        """The map from these frames to the original's."""
        return Warp(self.indices, self.original_length)

    @property
    def sha256(self) -> str:
        """Hash of frames, shape and index map: what a reward depends on, and nothing else."""
        head = {
            "indices": list(self.indices),
            "original_length": self.original_length,
            "shape": list(self.frames.shape),
        }
        digest = hashlib.sha256(json.dumps(head, sort_keys=True).encode())
        digest.update(self.frames.data)
        return digest.hexdigest()

    def warp(self, warp: Warp) -> "Demo":
        """The demo with its time warped; the map to the original is kept."""
        both = compose(self.index_map, warp)
        return replace(self, frames=warp.apply(self.frames), indices=both.indices)

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
        manifest = {
            "camera": self.camera,
            "created_by": self.created_by,
            "extra": self.extra,
            "format": FORMAT,
            "fps": self.fps,
            "indices": list(self.indices),
            "original_length": self.original_length,
            "render": self.render,
            "sha256": self.sha256,
            "shape": list(self.frames.shape),
            "source": self.source,
            "task": self.task,
            "version": VERSION,
        }
        with atomic_folder(target, replace=overwrite) as part:
            np.savez_compressed(part / FRAMES, frames=self.frames, fps=np.float64(self.fps))
            write_mp4(part / "demo.mp4", self.frames, self.fps)
            text = json.dumps(manifest, sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False)
            (part / MANIFEST).write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Demo":
        """Read a demo folder and check its version and content."""
        folder = Path(path)
        manifest = read_manifest(folder)
        name = str(folder)
        clip = read_video(frames_file(folder), _NO_LIMIT)
        try:
            demo = cls(
                clip.frames,
                manifest["fps"],
                manifest["source"],
                manifest["task"],
                manifest["camera"],
                manifest["render"],
                tuple(manifest["indices"]),
                manifest["original_length"],
                manifest["created_by"],
                manifest["extra"],
            )
        except KeyError as error:
            raise ValueError(
                f"Demo {name!r}: {MANIFEST} lacks the entry {error}; save the demo again."
            ) from error
        except (TypeError, ValueError) as error:
            raise ValueError(f"Demo {name!r}: {MANIFEST} is wrong ({error}) Save the demo again.") from error
        if demo.sha256 != manifest.get("sha256"):
            raise ValueError(
                f"Demo {name!r} was changed after it was saved: its frames or index map do not match the "
                f"sha256 in {MANIFEST}; restore it or save it again."
            )
        return demo


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
