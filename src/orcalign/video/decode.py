"""Video files through PyAV: opening, seeking, timestamps, and what to do about damage.

Every failure inside the codec library comes out as one ValueError whose text stands alone.
"""

import contextlib
import functools
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from orcalign.video.media import missing_bytes, open_stream, own_seconds
from orcalign.video.picture import Turn, check_area, to_rgb, turn_of
from orcalign.video.timeline import Shown, Source, VideoOptions

if TYPE_CHECKING:
    from av import VideoCodecContext, VideoFrame, VideoStream
    from av.container import InputContainer

# Seeking needs a sound index; below this many seconds decoding from the beginning is as fast.
_SEEK_FROM = 5.0
_INDEXED = {"mov", "matroska", "avi"}
# A timestamp that falls back by more than this is a break in the clock, not jitter.
_CLOCK_BREAK = 1.0
# The length of a last frame is often unknown, so a little less than promised is no sign of damage.
_SHORT_BY = 0.5
# Coarser clocks tick once a frame and round nothing.
_COARSEST_ROUNDING = 0.0101


def open_video(path: Path, options: VideoOptions) -> Source:
    """Open a video file; its frames are decoded while they are asked for, one at a time."""
    container, stream = open_stream(path)
    with container:
        check_area(stream.codec_context.width, stream.codec_context.height, str(path))
        tick = float(stream.time_base) if stream.time_base else 0.0
        duration = own_seconds(container, stream)
        if duration is None and container.duration:
            duration = container.duration / 1e6
        return Source(
            name=str(path),
            shown=lambda start: _shown(path, start, options),
            rate=float(stream.average_rate) if stream.average_rate else None,
            duration=duration if duration and duration > 0 else None,
            count=stream.frames or None,
            slack=(tick / 2 if tick <= _COARSEST_ROUNDING else 0.0) + 1e-9,
        )


def _shown(path: Path, start: float, options: VideoOptions) -> Iterator[Shown]:
    if start > _SEEK_FROM:
        frames = _timed(path, start, options)
        first = next(frames, None)
        # A wrong or missing index lands too late or nowhere: then only decoding from the beginning is safe.
        if first is not None and first.time <= start:
            yield first
            yield from frames
            return
        del frames
    yield from _timed(path, None, options)


def _timed(path: Path, seek_to: float | None, options: VideoOptions) -> "Iterator[Shown]":
    container, stream = open_stream(path)
    with container:
        tick = float(stream.time_base) if stream.time_base else 0.0
        period = 1 / float(stream.average_rate) if stream.average_rate else 0.04
        zero = stream.start_time * tick if stream.start_time is not None else None
        if seek_to is not None and not _seek(container, stream, seek_to):
            return
        previous: float | None = None
        turn: Turn | None = None
        for frame in _frames(path, container, stream, options.allow_truncated):
            check_area(frame.width, frame.height, str(path))
            turn = turn or turn_of(frame)
            stamp = frame.pts if frame.pts is not None else frame.dts
            if stamp is None:
                time = 0.0 if previous is None else previous + period
            else:
                zero = stamp * tick if zero is None else zero
                time = stamp * tick - zero
            if previous is not None and time <= previous:
                later = previous + (period if time < previous - _CLOCK_BREAK else max(tick, 1e-6))
                if zero is not None and time < previous - _CLOCK_BREAK:
                    zero -= later - time
                time = later
            previous = time
            length = float(frame.duration or 0) * tick
            picture = functools.partial(_convert, path, frame, turn, options)
            yield Shown(time, length, picture, f"the frame at {time:.3f} s")


def _seek(container: "InputContainer", stream: "VideoStream", seconds: float) -> bool:
    # Program streams and the like guess the times of frames after a jump.
    if not _INDEXED & set(container.format.name.split(",")):
        return False
    if stream.start_time is None or not stream.time_base:
        return False
    try:
        container.seek(stream.start_time + int(seconds / stream.time_base), stream=stream)
    except Exception:  # any failure has the same remedy: decode from the beginning
        return False
    return True


def _convert(path: Path, frame: "VideoFrame", turn: Turn, options: VideoOptions) -> NDArray[np.uint8]:
    try:
        return to_rgb(frame, turn, options)
    except Exception as error:
        raise ValueError(
            f"{str(path)!r} has pixels of format {frame.format.name!r} that cannot be turned into RGB; "
            "convert it to H.264 mp4 first."
        ) from error


def _decoder(stream: "VideoStream") -> "VideoCodecContext":
    import av

    context = stream.codec_context
    # The built-in VP8 and VP9 decoders drop the alpha layer; libvpx keeps it.
    library = {"vp8": "libvpx", "vp9": "libvpx-vp9"}.get(context.name)
    if stream.metadata.get("alpha_mode") == "1" and library:
        return av.CodecContext.create(library, "r")  # type: ignore[return-value]
    context.thread_type = "AUTO"
    return context


def _frames(
    path: Path, container: "InputContainer", stream: "VideoStream", allow_truncated: bool
) -> "Iterator[VideoFrame]":
    """Decoded frames until the end or the first damage, which is an error unless allowed."""
    decoder = _decoder(stream)
    good, damage, ends = 0, None, None
    packets = container.demux(stream)
    while damage is None:
        packet, frames = None, []
        try:
            packet = next(packets, None)
            if packet is None:
                break
            if packet.is_corrupt:
                damage = "an incomplete packet"
            else:
                frames = decoder.decode(packet)
        except EOFError as error:
            if packet is None:
                damage = _reason(error)  # else the flush packet came twice
        except Exception as error:
            damage = _reason(error)
        for frame in frames:
            if frame.is_corrupt:
                damage = "a frame with decoding errors"
                break
            good += 1
            ends = None
            if frame.pts is not None and frame.time_base:
                ends = float((frame.pts + (frame.duration or 0)) * frame.time_base)
            yield frame
        if damage and good == 0 and allow_truncated and packet is not None and packet.size:
            damage = None  # recordings that start in mid-stream become sound at the next key frame
    if damage:
        for frame in _drain(decoder) if allow_truncated else ():
            good += 1
            yield frame
    else:
        damage = _shortfall(path, container, stream, ends)
    if damage and not allow_truncated:
        raise ValueError(
            f"{str(path)!r} is cut off or corrupt ({damage}) after {good} good frames; copy or record it "
            "again, trim to the sound part with end, or keep what is before the damage with allow_truncated."
        )


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__).lower()


def _shortfall(path: Path, container: "InputContainer", stream: "VideoStream", ends: float | None) -> str | None:
    """How a stream that ended without error falls short of what its headers promise; None if not."""
    lost = missing_bytes(path)
    if lost:
        return f"its headers promise at least {lost} more bytes"
    # Demuxers also skip over damage in silence. Only the video's own length counts: sound may be longer.
    seconds = own_seconds(container, stream)
    if seconds is None or not stream.time_base or ends is None:
        return None
    lasts = ends - float((stream.start_time or 0) * stream.time_base)
    if lasts < seconds - max(_SHORT_BY, 0.1 * seconds):
        return f"it says it lasts {seconds:.2f} s and ends at {lasts:.2f} s"
    return None


def _drain(decoder: "VideoCodecContext") -> "Iterator[VideoFrame]":
    with contextlib.suppress(Exception):
        yield from itertools.takewhile(lambda frame: not frame.is_corrupt, decoder.decode(None))
