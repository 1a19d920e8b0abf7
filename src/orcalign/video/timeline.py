"""Which frames of a timed sequence to keep: trimming, and resampling by timestamps."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orcalign.video.options import VideoOptions


class Shown(NamedTuple):
    """A picture on screen from `time` for `duration` seconds (0 when unknown), converted only if kept."""

    time: float
    duration: float
    picture: Callable[[], NDArray[np.uint8]]
    label: str


class Kept(NamedTuple):
    """A picture chosen for output time `time`."""

    time: float
    shown: Shown


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
    height_width: tuple[int, int] | None = None
    """Picture size it claims."""


def choose(source: Source, options: VideoOptions) -> Iterator[Kept]:
    """The frames of a source that the options keep, in order.

    Without `fps` these are the frames whose own timestamp lies in [start, end). With `fps`, output k is the
    frame on screen at start + k/fps, however irregular the timestamps are.

    >>> def frames(start):
    ...     yield from (Shown(t, 0.1, lambda: np.zeros((1, 1, 3), np.uint8), "") for t in (0.0, 0.1, 0.5))
    >>> [kept.shown.time for kept in choose(Source("x", frames), VideoOptions(fps=10))]
    [0.0, 0.1, 0.1, 0.1, 0.1, 0.5]
    >>> [kept.time for kept in choose(Source("x", frames), VideoOptions(start=0.1))]
    [0.1, 0.5]
    """
    if options.fps is None:
        return _trimmed(source, options)
    return _resampled(source, options, options.fps)


def _trimmed(source: Source, options: VideoOptions) -> Iterator[Kept]:
    for shown in source.shown(options.start):
        if options.end is not None and shown.time >= options.end - source.slack:
            return
        if shown.time >= options.start - source.slack:
            yield Kept(shown.time, shown)


def _resampled(source: Source, options: VideoOptions, fps: float) -> Iterator[Kept]:
    end = float("inf") if options.end is None else options.end - 1e-9
    # More than a quarter of an output step would show frames visibly before their time.
    slack = min(source.slack, 0.25 / fps)
    k, gap, previous = 0, 0.0, None
    for shown in source.shown(options.start):
        if previous is not None:
            gap = shown.time - previous.time
            while (time := options.start + k / fps) < min(shown.time - slack, end):
                yield Kept(time, previous)
                k += 1
        previous = shown
        if options.start + k / fps >= end:
            return
    if previous is None:
        return
    last = previous.duration or gap or (1 / source.rate if source.rate else 1 / fps)
    while (time := options.start + k / fps) < min(previous.time + last - slack, end):
        yield Kept(time, previous)
        k += 1


def expected_frames(source: Source, options: VideoOptions) -> float | None:
    """How many frames the options would keep, judged from what the source claims; None if it claims nothing.

    >>> expected_frames(Source("x", lambda start: iter(()), duration=14400.0), VideoOptions(start=400, fps=5))
    70000.0
    """
    if source.duration is None:
        return None if options.fps or source.count is None else float(source.count)
    span = max(0.0, min(source.duration, options.end or float("inf")) - options.start)
    if options.fps is not None:
        return span * options.fps
    if source.count and source.duration > 0:
        return source.count * span / source.duration
    return span * source.rate if source.rate else None
