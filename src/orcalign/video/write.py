"""Frames uint8 [T,H,W,3] → H.264 mp4 that every browser plays."""

import contextlib
import itertools
import os
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orcalign.files import atomic_file

Frames = NDArray[np.uint8] | Iterable[NDArray[np.uint8]]
_BT709 = 1
# A fixed number, not the number of cores: x264 gives the same bytes only for the same number of threads.
_THREADS = 2


def write_mp4(path: str | os.PathLike[str], frames: Frames, fps: float, crf: int = 18) -> None:
    """Write frames [T,H,W,3] (an array, or an iterable of [H,W,3]) as H.264 yuv420p with the index in front.

    H.264 needs even sides: an odd one gets its last row or column twice. `crf` is the quality, from 0
    (nearly lossless) over 18 (looks the same) to 51. The file appears whole or not at all.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "clip.mp4"
    ...     write_mp4(file, np.zeros((3, 31, 41, 3), np.uint8), fps=10)
    ...     file.read_bytes()[4:8]
    b'ftyp'
    """
    import av

    rate = check_rate(fps)
    if not 0 <= crf <= 51:
        raise ValueError(f"crf={crf} must be between 0 (best) and 51 (smallest); 18 looks like the original.")
    with atomic_file(Path(path)) as part, _codec_errors(path):
        images = _checked(frames)
        first = next(images)
        height, width = (side + side % 2 for side in first.shape[:2])
        with av.open(f"file:{part.absolute()}", "w", format="mp4", options={"movflags": "+faststart"}) as container:
            stream = container.add_stream("libx264", rate=rate)
            stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
            context = stream.codec_context
            # x264's macroblock tree gave different bytes from run to run for small pictures; not without it.
            context.options = {"crf": str(crf), "preset": "medium", "x264-params": "mbtree=0"}
            context.thread_count = _THREADS
            # Named colours: a player that has to guess picks BT.601 or BT.709 by the size of the picture.
            context.colorspace = context.color_primaries = context.color_trc = _BT709
            context.color_range = 1
            for k, image in enumerate(itertools.chain([first], images)):
                odd = (height - image.shape[0], width - image.shape[1])
                if any(odd):
                    image = np.pad(image, ((0, odd[0]), (0, odd[1]), (0, 0)), mode="edge")
                colours: Any = {"format": "yuv420p", "dst_colorspace": "ITU709", "dst_color_range": "MPEG"}
                frame = av.VideoFrame.from_ndarray(image, format="rgb24")
                frame = frame.reformat(**colours, interpolation="AREA", threads=1)
                frame.pts, frame.time_base = k, 1 / rate
                container.mux(stream.encode(frame))
            container.mux(stream.encode(None))


@contextlib.contextmanager
def _codec_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn what the codec library raises into an OSError that names the output."""
    import av

    try:
        yield
    except av.FFmpegError as error:
        reason = (error.strerror or str(error)).lower()
        raise OSError(
            f"Cannot write {os.fspath(path)!r} ({reason}); check the free space and the frame size."
        ) from error


def check_rate(fps: float) -> Fraction:
    """Frames per second as a fraction that a container can hold."""
    if isinstance(fps, bool) or not 0.01 <= fps <= 1000:
        raise ValueError(f"fps={fps} must be a number between 0.01 and 1000.")
    return Fraction(fps).limit_denominator(1001)


def _checked(frames: Frames) -> Iterator[NDArray[np.uint8]]:
    """The frames one by one, each made sure to be uint8 [H,W,3] of one size; at least one."""
    shape = None
    for k, frame in enumerate(frames):
        image = np.asarray(frame)
        if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3 or 0 in image.shape:
            raise ValueError(
                f"Frame {k} has type {image.dtype} and shape {list(image.shape)}; frames must be uint8 [T,H,W,3]."
            )
        if shape is not None and image.shape != shape:
            raise ValueError(
                f"Frame {k} is {image.shape[1]}x{image.shape[0]} pixels, those before it "
                f"{shape[1]}x{shape[0]}; all frames of a video must have one size."
            )
        shape = image.shape
        yield np.ascontiguousarray(image)
    if shape is None:
        raise ValueError("There are no frames to write; give at least one.")
