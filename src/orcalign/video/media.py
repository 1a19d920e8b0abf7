"""Opening video files with PyAV, and what their headers say."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from orcalign.video.structure import missing_bytes

if TYPE_CHECKING:
    from av import VideoStream
    from av.container import InputContainer

READABLE = "mp4, mov, webm, avi, mkv, gif, a folder of images, or an npz with uint8 `frames` [T,H,W,3]"
# Without a list, text files decode as ANSI art and playlists open other files.
_VIDEO_FORMATS = "mov,mp4,matroska,webm,avi,gif,apng,webp,mpegts,mpeg,flv,asf,ogg,mjpeg,h264,hevc,m4v,ivf"
_AUDIO_FORMATS = "mp3,wav,flac,aac,aiff"


def open_stream(path: Path) -> tuple["InputContainer", "VideoStream"]:
    """The container and its main video stream; cover art does not count."""
    import av
    from av.stream import Disposition

    name = str(path)
    if path.stat().st_size == 0:
        raise ValueError(f"{name!r} is empty (0 bytes); record or download it again.")
    try:
        container = av.open(
            f"file:{path.absolute()}",
            mode="r",
            container_options={
                "format_whitelist": f"{_VIDEO_FORMATS},{_AUDIO_FORMATS}",
                "protocol_whitelist": "file",
            },
            metadata_errors="replace",
        )
    # PyAV raises its own family, but also bare ValueError and RuntimeError: none may leak.
    except Exception as error:
        lost = missing_bytes(path)
        if lost:
            raise ValueError(
                f"{name!r} is cut off: its headers promise at least {lost} more bytes, and the part that "
                "says how to decode it is missing; copy or record it again."
            ) from error
        raise ValueError(f"{name!r} is not a video that can be read; give {READABLE}.") from error
    # Cover art of a song is stored as a video stream of one picture.
    streams = [s for s in container.streams.video if not s.disposition & Disposition.attached_pic]
    if not streams:
        kinds = ", ".join(sorted({s.type for s in container.streams})) or "nothing"
        container.close()
        lost = missing_bytes(path)
        hint = f"it is cut off, with at least {lost} bytes missing" if lost else f"it holds: {kinds}"
        raise ValueError(f"{name!r} has no video stream ({hint}); give a whole file with pictures in it.")
    best = container.streams.best("video")
    stream = next((s for s in streams if best is not None and s.index == best.index), streams[0])
    if stream.codec_context is None:
        container.close()
        raise ValueError(f"{name!r} uses a video codec that is not built in; convert it to H.264 mp4 first.")
    return container, stream


def own_seconds(container: "InputContainer", stream: "VideoStream") -> float | None:
    """Seconds the video stream itself is said to last; None if only the file as a whole says so."""
    if stream.duration is not None and stream.time_base:
        return float(stream.duration * stream.time_base)
    # Matroska keeps the length of a track as text.
    tag = re.fullmatch(r"(\d{1,4}):(\d\d):(\d\d(?:\.\d+)?)", stream.metadata.get("DURATION", ""))
    if tag:
        return int(tag[1]) * 3600 + int(tag[2]) * 60 + float(tag[3])
    return container.duration / 1e6 if container.duration and len(container.streams) == 1 else None
