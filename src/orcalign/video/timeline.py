"""What part of a video to read and in which shape, and which frames that keeps: trimming, resampling by timestamps."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orcalign.checks import require_count, require_number

LARGEST_SIDE = 8192


@dataclass(frozen=True)
class VideoOptions:
    """Trim, frame rate, picture size and safety limits for reading a video.

    >>> VideoOptions(start=1.0, end=3.0, fps=0, size=224)
    Traceback (most recent call last):
    ...
    ValueError: fps is 0; it must be a finite number above 0.
    """

    start: float = 0.0
    """Seconds from the beginning of the video at which reading starts."""
    end: float | None = None
    """Seconds at which reading stops (exclusive); None, or a time after the last frame, reads to the end."""
    fps: float | None = None
    """Resample to this rate: output k is the frame on screen at start + k/fps. None keeps every frame."""
    size: int | tuple[int, int] | None = None
    """Resize to a square of this side, or to (height, width). None keeps the size of the video."""
    longest: int | None = None
    """Shrink the picture until its longer side has at most this many pixels; its shape is kept."""
    centre_crop: bool = False
    """Cut the largest centred square out of the picture before resizing."""
    mirror: bool = False
    """Show it from right to left."""
    max_frames: int = 3000
    """Most frames that may be kept; more is an error, before decoding where the file tells its length."""
    max_bytes: int = 4 * 2**30
    """Most memory the kept frames of `read_video` may take; `iter_frames` holds one frame and ignores it."""
    still_fps: float = 10.0
    """Rate assumed for sources that carry none: a folder of images, or an npz without `fps`."""
    allow_truncated: bool = False
    """Keep the frames before the damage of a cut-off or corrupt file instead of raising an error."""

    def __post_init__(self) -> None:
        require_number(self.start, "start", at_least=0)
        if self.end is not None and require_number(self.end, "end", above=0) <= self.start:
            raise ValueError(f"end is {self.end}; it must be after start, {self.start}: swap or widen them.")
        if self.fps is not None:
            require_number(self.fps, "fps", above=0)
        require_number(self.still_fps, "still_fps", above=0)
        require_count(self.max_frames, "max_frames", at_least=1)
        require_count(self.max_bytes, "max_bytes", at_least=1)
        if self.longest is not None and self.size is not None:
            raise ValueError(f"size={self.size!r} and longest={self.longest!r} exclude each other; give one.")
        sides = self.size if isinstance(self.size, tuple) else (self.size, self.size)
        if len(sides) != 2:
            raise ValueError(f"size is {self.size!r}; it must be one whole number or (height, width).")
        for name, side in (("longest", self.longest), *(("size", side) for side in sides)):
            if side is not None and require_count(side, name, at_least=1) > LARGEST_SIDE:
                raise ValueError(f"{name} is {side}; it must be at most {LARGEST_SIDE} pixels.")

    def fitted(self, height: int, width: int) -> tuple[int, int]:
        """Height and width that a cropped picture of this size is brought to.

        >>> VideoOptions(longest=320).fitted(1080, 1920)
        (180, 320)
        """
        if self.size is not None:
            return self.size if isinstance(self.size, tuple) else (self.size, self.size)
        if self.longest is None or max(height, width) <= self.longest:
            return height, width
        scale = self.longest / max(height, width)
        return max(1, round(height * scale)), max(1, round(width * scale))


class Shown(NamedTuple):
    """A picture on screen from `time` for `duration` seconds (0 when unknown), converted only if kept."""

    time: float
    duration: float
    picture: Callable[[], NDArray[np.uint8]]
    label: str


@dataclass(frozen=True)
class Source:
    """An opened video, folder or array: what it says about itself, and its frames in order."""

    name: str
    shown: Callable[[float], Iterator[Shown]]
    """Frames from the one on screen at the given second (or any earlier one) to the end."""
    rate: float | None = None
    """Frames per second it claims."""
    duration: float | None = None
    """Seconds it claims to last."""
    count: int | None = None
    """Frames it claims to have."""
    slack: float = 1e-9
    """Seconds by which its timestamps may be off because its clock rounds them."""


def choose(source: Source, options: VideoOptions) -> Iterator[tuple[float, Shown]]:
    """The frames of a source that the options keep, in order, each with its time in the output.

    Without `fps` these are the frames whose own timestamp lies in [start, end). With `fps`, output k is the
    frame on screen at start + k/fps, however irregular the timestamps are.

    >>> def frames(start):
    ...     yield from (Shown(t, 0.1, lambda: np.zeros((1, 1, 3), np.uint8), "") for t in (0.0, 0.1, 0.5))
    >>> [shown.time for time, shown in choose(Source("x", frames), VideoOptions(fps=10))]
    [0.0, 0.1, 0.1, 0.1, 0.1, 0.5]
    >>> [time for time, shown in choose(Source("x", frames), VideoOptions(start=0.1))]
    [0.1, 0.5]
    """
    if options.fps is not None:
        yield from _resampled(source, options, options.fps)
        return
    for shown in source.shown(options.start):
        if options.end is not None and shown.time >= options.end - source.slack:
            return
        if shown.time >= options.start - source.slack:
            yield shown.time, shown


def _resampled(source: Source, options: VideoOptions, fps: float) -> Iterator[tuple[float, Shown]]:
    end = float("inf") if options.end is None else options.end - 1e-9
    # More than a quarter of an output step would show frames visibly before their time.
    slack = min(source.slack, 0.25 / fps)
    k, gap, previous = 0, 0.0, None
    for shown in source.shown(options.start):
        if previous is not None:
            gap = shown.time - previous.time
            while (time := options.start + k / fps) < min(shown.time - slack, end):
                yield time, previous
                k += 1
        previous = shown
        if options.start + k / fps >= end:
            return
    if previous is None:
        return
    last = previous.duration or gap or (1 / source.rate if source.rate else 1 / fps)
    while (time := options.start + k / fps) < min(previous.time + last - slack, end):
        yield time, previous
        k += 1


def expected_frames(source: Source, options: VideoOptions) -> float | None:
    """How many frames the options would keep, judged from what the source claims; None if it claims nothing."""
    if source.duration is None:
        return None if options.fps or source.count is None else float(source.count)
    span = max(0.0, min(source.duration, options.end or float("inf")) - options.start)
    if options.fps is not None:
        return span * options.fps
    if source.count and source.duration > 0:
        return source.count * span / source.duration
    return span * source.rate if source.rate else None
