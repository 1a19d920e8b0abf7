"""Video files as they are shown and as an encoder sees them, read and encoded at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from orcalign.encoders import Encoder, encode_stream
from orcalign.encoders.resize import resize
from orcalign.matching.match import FloatArray
from orcalign.video import Demo, VideoOptions, count_frames, is_demo, iter_frames, load_demo

Frames = npt.NDArray[np.uint8]
Progress = Callable[[int], None]
"""Told how many frames of a clip are done."""

SHOWN = 320
"""Longer side, in pixels, at which videos are read: enough for the encoders and for the page."""
CHUNK = 16


UNEVEN = 1.5
"""How much longer than usual a frame may be shown in a video of a steady rate."""


@dataclass(frozen=True, eq=False)
class ShownClip:
    """A video as it is shown."""

    path: str
    frames: Frames
    """[T, H, W, 3] Of several cameras side by side."""
    fps: float
    widths: tuple[int, ...] = ()
    """Of the cameras' pictures, if there are several."""
    sentences: tuple[str, ...] | None = None
    """[T] As in `Demo`: of goals in words."""


@dataclass(frozen=True, eq=False)
class EncodedClip(ShownClip):
    """The same as the encoder sees it, too."""

    features: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    """[T, D]"""


def encode_file(path: Path, encoder: Encoder, options: VideoOptions, progress: Progress | None = None) -> EncodedClip:
    """Read and encode a video at the same time; a saved demo is used as it is."""
    if is_demo(path):
        demo = _load(path)
        chunks = (demo.frames[first : first + CHUNK] for first in range(0, len(demo), CHUNK))
        features = encode_stream(encoder, chunks, progress=progress, expected=len(demo))
        frames, fps = demo.frames, demo.fps
    else:
        source = VideoFrames(path, options)
        features = encode_stream(encoder, source.chunks(), progress=progress, expected=source.expected)
        frames, fps = source.frames(), source.fps()
        kept, fps = steady(source.times, fps)
        if kept is not None:
            frames, features = frames[kept], features[kept]
    _require_two(path, frames)
    return EncodedClip(str(path), frames, fps, features=features)


def read_clip(path: Path, options: VideoOptions) -> ShownClip:
    """Read a video, or several cameras of one moment: LEFT,RIGHT; a saved demo is used as it is."""
    cameras = cameras_of(path)
    if len(cameras) > 1:
        return _beside([read_clip(one, options) for one in cameras], str(path))
    if is_demo(path):
        demo = _load(path)
        frames, fps = demo.frames, demo.fps
    else:
        source = VideoFrames(path, options)
        for _ in source.chunks():
            pass
        frames = source.frames()
        kept, fps = steady(source.times, source.fps())
        frames = frames if kept is None else frames[kept]
    _require_two(path, frames)
    return ShownClip(str(path), frames, fps)


def cameras_of(path: Path) -> list[Path]:
    """The videos of a name with commas, unless a file is called so.

    >>> cameras_of(Path("left.mp4,right.mp4"))
    [PosixPath('left.mp4'), PosixPath('right.mp4')]
    """
    if path.exists() or "," not in str(path):
        return [path]
    return [Path(part.strip()) for part in str(path).split(",") if part.strip()]


def steady(times: Sequence[float], fps: float) -> tuple[npt.NDArray[np.int64] | None, float]:
    """Which frames to show at a steady rate, by their times, and that rate; None for a video that has one.

    >>> steady([0.0, 0.1, 0.2, 0.3], 10)
    (None, 10)
    >>> kept, fps = steady([0.0, 0.1, 0.2, 0.5, 0.6], 8)
    >>> kept.tolist(), round(fps, 3)
    ([0, 1, 2, 2, 2, 3, 4], 10.0)
    """
    gaps = np.diff(times)
    if len(gaps) < 2 or (gaps.max() <= UNEVEN * np.median(gaps) and gaps.min() >= np.median(gaps) / UNEVEN):
        return None, fps
    span = times[-1] - times[0]
    # A long rest is not to become thousands of frames.
    count = min(round(span / float(np.quantile(gaps, 0.2))), 4 * len(times))
    at = times[0] + span * np.arange(count + 1) / count
    return np.searchsorted(times, at + 1e-6, side="right") - 1, count / span


def like(clip: ShownClip, demo: ShownClip) -> ShownClip:
    """The attempt with its cameras in the demo's sizes; one camera is left as it is."""
    if len(clip.widths) != len(demo.widths):
        counts = [len(one.widths) or 1 for one in (demo, clip)]
        raise ValueError(
            f"'{demo.path}' is of {counts[0]} camera(s) and '{clip.path}' of {counts[1]}; give the same cameras of "
            f"each, in the same order, with commas between: left.mp4,right.mp4."
        )
    if not demo.widths:
        require_same_shape(demo, clip)
        return clip
    views = np.split(clip.frames, np.cumsum(clip.widths)[:-1], axis=2)
    height = demo.frames.shape[1]
    for number, (view, width) in enumerate(zip(views, demo.widths, strict=True)):
        if abs(view.shape[2] / view.shape[1] - width / height) > 0.02 * width / height:
            raise ValueError(f"camera {number + 1} of '{clip.path}' has another shape than that of '{demo.path}'.")
    sized = [
        resize(np.ascontiguousarray(view), (height, width)) for view, width in zip(views, demo.widths, strict=True)
    ]
    return ShownClip(clip.path, np.concatenate(sized, axis=2), clip.fps, demo.widths)


def _beside(clips: Sequence[ShownClip], path: str) -> ShownClip:
    """Side by side, at the lowest of their rates, as long as the shortest."""
    fps = min(clip.fps for clip in clips)
    seconds = min(len(clip.frames) / clip.fps for clip in clips)
    height = clips[0].frames.shape[1]
    views = []
    for clip in clips:
        at = np.minimum(
            (np.arange(max(2, round(seconds * fps))) / fps * clip.fps + 1e-6).astype(int), len(clip.frames) - 1
        )
        width = max(1, round(clip.frames.shape[2] * height / clip.frames.shape[1]))
        views.append(resize(np.ascontiguousarray(clip.frames[at]), (height, width)))
    return ShownClip(path, np.concatenate(views, axis=2), fps, tuple(view.shape[2] for view in views))


def _load(path: Path) -> Demo:
    demo = load_demo(path)
    if demo.sentences is not None:
        raise ValueError(f"'{path}' is a list of goals in words; give them again with --goal.")
    return demo


def _require_two(path: Path, frames: Frames) -> None:
    if len(frames) < 2:
        raise ValueError(f"'{path}' has one frame only; a demo or an attempt needs at least two.")


class VideoFrames:
    """The frames of a video in chunks, kept where they are read to, so that nothing is copied twice."""

    def __init__(self, path: Path, options: VideoOptions) -> None:
        self._path, self._options = path, options
        self.expected = count_frames(path, options) or 0
        self._blocks: list[Frames] = []
        self.times: list[float] = []
        """[T] seconds, once the chunks have been read."""
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
            self.times.append(frame.time)
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
        span = self.times[-1] - self.times[0]
        return (len(self.times) - 1) / span if span > 0 else self._options.still_fps


def require_same_shape(demo: ShownClip, attempt: ShownClip) -> None:
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
