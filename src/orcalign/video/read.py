"""Any video → frames uint8 [T,H,W,3] with their times.

A truncated or corrupt file is an error, because a demo that silently ends early teaches the wrong thing;
`VideoOptions(allow_truncated=True)` keeps the frames before the damage.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orcalign.video.decode import open_video
from orcalign.video.media import READABLE
from orcalign.video.picture import fit
from orcalign.video.stills import IMAGE_ENDINGS, open_folder, open_npz
from orcalign.video.timeline import Source, VideoOptions, choose, expected_frames

# Durations in headers are rounded; only a clear excess is refused before decoding.
_ESTIMATE_TOLERANCE = 1.05


class TimedFrame(NamedTuple):
    """One frame and when it is on screen."""

    image: NDArray[np.uint8]
    """uint8 [H,W,3], the caller's to change."""
    time: float
    """Seconds from the beginning of the video."""


@dataclass(frozen=True, eq=False)
class Clip:
    """A video in memory."""

    frames: NDArray[np.uint8]
    """uint8 [T,H,W,3]"""
    fps: float
    """Frames per second: the rate asked for, else the video's own average over these frames."""
    times: NDArray[np.float64]
    """Seconds from the beginning of the video [T]."""
    source: str
    """The path it was read from."""

    def __len__(self) -> int:
        return len(self.frames)


def iter_frames(path: str | os.PathLike[str], options: VideoOptions | None = None) -> Iterator[TimedFrame]:
    """Frames of a video one by one; memory does not grow with the length of the file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/clip", frames=np.zeros((20, 4, 6, 3), np.uint8), fps=10.0)
    ...     options = VideoOptions(start=0.5, end=1.5, fps=2)
    ...     count_frames(f"{folder}/clip.npz", options)
    ...     [frame.time for frame in iter_frames(f"{folder}/clip.npz", options)]
    2
    [0.5, 1.0]
    """
    options = options or VideoOptions()
    return _stream(_open_source(path, options), options)


def count_frames(path: str | os.PathLike[str], options: VideoOptions | None = None) -> int | None:
    """About how many frames `iter_frames` will give, from what the file says of itself; None if it does not."""
    options = options or VideoOptions()
    expected = expected_frames(_open_source(path, options), options)
    return None if expected is None else round(expected)


def read_video(path: str | os.PathLike[str], options: VideoOptions | None = None) -> Clip:
    """Read a video file, a folder of images or an npz into memory.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "clip.npz"
    ...     np.savez(file, frames=np.zeros((20, 4, 6, 3), np.uint8), fps=10.0)
    ...     clip = read_video(file, VideoOptions(size=8))
    >>> clip.frames.shape, clip.fps, float(clip.times[-1])
    ((20, 8, 8, 3), 10.0, 1.9)
    """
    options = options or VideoOptions()
    frames = np.empty(0, np.uint8)
    times: list[float] = []
    source = _open_source(path, options)
    expected = expected_frames(source, options) or 0.0
    for image, time in _stream(source, options):
        k = len(times)
        if k == 0:
            _check_memory(max(1.0, expected), image.nbytes, source, options)
            frames = np.empty((64, *image.shape), np.uint8)
        elif k == len(frames):
            _check_memory(k + 1, image.nbytes, source, options)
            # Growing in place: a list and a stack at the end would hold every frame twice.
            frames.resize((2 * k, *image.shape), refcheck=False)
        frames[k] = image
        times.append(time)
    frames.resize((len(times), *frames.shape[1:]), refcheck=False)
    stamps = np.array(times)
    return Clip(frames, _rate(stamps, source, options), stamps, str(path))


def _open_source(given: str | os.PathLike[str], options: VideoOptions) -> Source:
    source = _open_any(Path(given), options)
    # One second of grace: a header may claim a little less than there is.
    if source.duration is not None and options.start >= source.duration + 1.0:
        raise _nothing_left(source, options)
    expected = expected_frames(source, options)
    if expected is not None and expected > options.max_frames * _ESTIMATE_TOLERANCE + 2:
        raise _too_many(source, options, f"would give about {expected:.0f} frames")
    return source


def _open_any(path: Path, options: VideoOptions) -> Source:
    name = str(path)
    if not path.exists():
        raise FileNotFoundError(f"{name!r} does not exist; check the path.")
    try:
        if path.is_dir():
            return open_folder(path, options)
        if not path.is_file():
            raise ValueError(f"{name!r} is neither a file nor a folder; give {READABLE}.")
        with path.open("rb"):
            pass
        if path.suffix.lower() == ".npz":
            return open_npz(path, options)
        if path.suffix.lower() in IMAGE_ENDINGS:
            raise ValueError(f"{name!r} is a single image; give the folder of images, or {READABLE}.")
        return open_video(path, options)
    except PermissionError as error:
        raise PermissionError(f"{name!r} may not be read by this user; change its permissions.") from error


def _stream(source: Source, options: VideoOptions) -> Iterator[TimedFrame]:
    count, last, image, shape = 0, None, None, None
    for time, shown in choose(source, options):
        if count == options.max_frames:
            raise _too_many(source, options, "gives more")
        if shown is last and image is not None:
            image = image.copy()
        else:
            image, last = fit(shown.picture(), options), shown
        if shape is not None and image.shape != shape:
            raise ValueError(
                f"{source.name!r}: {shown.label} is {image.shape[1]}x{image.shape[0]} pixels, those before "
                f"it {shape[1]}x{shape[0]}; give size to bring all to one size."
            )
        shape = image.shape
        count += 1
        yield TimedFrame(image, time)
    if count == 0:
        raise _nothing_left(source, options)


def _nothing_left(source: Source, options: VideoOptions) -> ValueError:
    if options.start == 0 and options.end is None:
        return ValueError(f"{source.name!r} has no frames that can be decoded; record or download it again.")
    lasts = "" if source.duration is None else f", which lasts {source.duration:.2f} s"
    end = "its end" if options.end is None else f"end={options.end}"
    return ValueError(
        f"No frame of {source.name!r}{lasts}, lies between start={options.start} and {end}; widen the trim."
    )


def _too_many(source: Source, options: VideoOptions, verdict: str) -> ValueError:
    lasts = "" if source.duration is None else f" says it lasts {source.duration:.1f} s and"
    return ValueError(
        f"{source.name!r}{lasts} {verdict}, over the limit max_frames={options.max_frames}; "
        "lower --fps, trim with --start and --end, or raise --max-frames."
    )


def _check_memory(count: float, frame_bytes: int, source: Source, options: VideoOptions) -> None:
    needed = count * frame_bytes
    if needed > options.max_bytes:
        raise ValueError(
            f"{source.name!r} needs {needed / 2**30:.2f} GiB for {count:.0f} frames, over the limit of "
            f"{options.max_bytes / 2**30:.2f} GiB (max_bytes); shrink the frames with --size, lower --fps, "
            "or trim with --start and --end."
        )


def _rate(times: NDArray[np.float64], source: Source, options: VideoOptions) -> float:
    if options.fps is not None:
        return float(options.fps)
    claimed = source.rate or options.still_fps
    if len(times) < 2:
        return float(claimed)
    measured = float((len(times) - 1) / (times[-1] - times[0]))
    # Rounded timestamps give 29.97002...: the exact rate in the header is better when it agrees.
    return float(claimed) if abs(measured - claimed) <= 0.02 * claimed else measured
