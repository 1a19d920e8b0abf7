"""Video files as they are shown and as an encoder sees them, read and encoded at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from orcalign.encoders import Encoder, encode_stream
from orcalign.matching.match import FloatArray
from orcalign.video import VideoOptions, count_frames, is_demo, iter_frames, load_demo

Frames = npt.NDArray[np.uint8]
Progress = Callable[[int], None]
"""Told how many frames of a clip are done."""

SHOWN = 320
"""Longer side, in pixels, at which videos are read: enough for the encoders and for the page."""
CHUNK = 16


@dataclass(frozen=True, eq=False)
class EncodedClip:
    """A video as it is shown and as the encoder sees it."""

    path: str
    frames: Frames
    """[T, H, W, 3]"""
    fps: float
    features: FloatArray
    """[T, D]"""
    sentences: tuple[str, ...] | None = None
    """[T] As in `Demo`: of goals in words."""


def encode_file(path: Path, encoder: Encoder, options: VideoOptions, progress: Progress | None = None) -> EncodedClip:
    """Read and encode a video at the same time; a saved demo is used as it is."""
    if is_demo(path):
        demo = load_demo(path)
        if demo.sentences is not None:
            raise ValueError(f"'{path}' is a list of goals in words; give them again with --goal.")
        chunks = (demo.frames[first : first + CHUNK] for first in range(0, len(demo), CHUNK))
        features = encode_stream(encoder, chunks, progress=progress, expected=len(demo))
        frames, fps = demo.frames, demo.fps
    else:
        source = VideoFrames(path, options)
        features = encode_stream(encoder, source.chunks(), progress=progress, expected=source.expected)
        frames, fps = source.frames(), source.fps()
    if len(frames) < 2:
        raise ValueError(f"'{path}' has one frame only; a demo or an attempt needs at least two.")
    return EncodedClip(str(path), frames, fps, features)


class VideoFrames:
    """The frames of a video in chunks, kept where they are read to, so that nothing is copied twice."""

    def __init__(self, path: Path, options: VideoOptions) -> None:
        self._path, self._options = path, options
        self.expected = count_frames(path, options) or 0
        self._blocks: list[Frames] = []
        self._times: list[float] = []
        self._used = 0

    def chunks(self) -> Iterator[Frames]:
        """Frames [CHUNK, H, W, 3], one after the other, while they are decoded."""
        first = 0
        for frame in iter_frames(self._path, self._options):
            if not self._blocks or self._used == len(self._blocks[-1]):
                if self._used > first:
                    yield self._blocks[-1][first : self._used]
                # A header may be off by a frame or two; a second block of one frame would cost a copy of all.
                size = self.expected + 8 if not self._blocks else 16 * CHUNK
                self._blocks.append(np.empty((size, *frame.image.shape), np.uint8))
                first = self._used = 0
            self._blocks[-1][self._used] = frame.image
            self._times.append(frame.time)
            self._used += 1
            if self._used - first == CHUNK:
                yield self._blocks[-1][first : self._used]
                first = self._used
        if self._used > first:
            yield self._blocks[-1][first : self._used]

    def frames(self) -> Frames:
        """All frames [T, H, W, 3], once the chunks have been read."""
        full = [*self._blocks[:-1], self._blocks[-1][: self._used]]
        return full[0] if len(full) == 1 else np.concatenate(full)

    def fps(self) -> float:
        """Frames per second, by their times."""
        span = self._times[-1] - self._times[0]
        return (len(self._times) - 1) / span if span > 0 else self._options.still_fps


def require_same_shape(demo: EncodedClip, attempt: EncodedClip) -> None:
    """Refuse to compare pictures of different shape: the encoder would see one of them stretched."""
    if demo.sentences is not None and all(demo.sentences):
        return
    shapes = [clip.frames.shape[1:3] for clip in (demo, attempt)]
    (demo_height, demo_width), (height, width) = shapes
    if abs(demo_width / demo_height - width / height) > 0.02 * width / height:
        raise ValueError(
            f"'{demo.path}' is {demo_width}x{demo_height} and '{attempt.path}' {width}x{height} pixels (as read); "
            f"pictures of different shape cannot be compared. Add --crop to cut both to their centre square."
        )
