"""Opening video files with PyAV, what their headers say, and whether they are as long as their headers promise.

Demuxers end quietly at the end of a cut-off file, so a truncated recording would pass for a shorter one.
"""

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from av import VideoStream
    from av.container import InputContainer

READABLE = "mp4, mov, webm, avi, mkv, gif, a folder of images, or an npz with uint8 `frames` [T,H,W,3]"
# Without a list, text files decode as ANSI art and playlists open other files.
_VIDEO_FORMATS = "mov,mp4,matroska,webm,avi,gif,apng,webp,mpegts,mpeg,flv,asf,ogg,mjpeg,h264,hevc,m4v,ivf"
_AUDIO_FORMATS = "mp3,wav,flac,aac,aiff"
_MOST_BOXES = 100_000
_MOV_BOXES = {b"ftyp", b"moov", b"mdat", b"free", b"skip", b"wide", b"styp", b"sidx", b"moof", b"pnot"}


def open_stream(path: Path) -> tuple["InputContainer", "VideoStream"]:
    """The container and its main video stream; cover art does not count."""
    import av
    from av.stream import Disposition

    name = str(path)
    if path.stat().st_size == 0:
        raise ValueError(f"{name!r} is empty (0 bytes); record or download it again.")
    try:
        only = {"format_whitelist": f"{_VIDEO_FORMATS},{_AUDIO_FORMATS}", "protocol_whitelist": "file"}
        container = av.open(f"file:{path.absolute()}", container_options=only, metadata_errors="replace")
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


def missing_bytes(path: Path) -> int:
    """Bytes the container promises beyond the end of the file: 0 when it is whole or of an unknown kind.

    Knows mp4/mov, mkv/webm, avi and gif (whose missing end mark counts as one byte).
    """
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        head = file.read(16)
        if head[4:8] in _MOV_BOXES:
            end = _mov_end(file, size)
        elif head[:4] == b"\x1a\x45\xdf\xa3":
            end = _matroska_end(file)
        elif head[:4] == b"RIFF":
            end = _riff_end(file, size)
        elif head[:4] == b"GIF8":
            file.seek(max(0, size - 64))
            end = size + (not file.read().rstrip(b"\0").endswith(b";"))
        else:
            end = 0
    return max(0, end - size)


def _mov_end(file: BinaryIO, size: int) -> int:
    position = 0
    for _ in range(_MOST_BOXES):
        file.seek(position)
        head = file.read(16)
        # Some cameras leave padding after the last box: only text-like names are boxes.
        if len(head) < 8 or not all(32 <= byte < 127 for byte in head[4:8]):
            break
        length = int.from_bytes(head[:4], "big")
        if length == 1 and len(head) == 16:
            length = int.from_bytes(head[8:16], "big")
        if length < 8:
            break
        position += length
        if position >= size:
            break
    return position


def _vint(file: BinaryIO) -> int | None:
    """EBML length at the file's position; None if unknown or unreadable."""
    first = file.read(1)
    if not first or not first[0]:
        return None
    extra = 8 - first[0].bit_length()
    rest = file.read(extra)
    value = int.from_bytes(bytes([first[0] & (0x7F >> extra)]) + rest, "big")
    return None if len(rest) < extra or value == (1 << (7 * (extra + 1))) - 1 else value


def _matroska_end(file: BinaryIO) -> int:
    file.seek(4)
    header = _vint(file)
    if header is None:
        return 0
    file.seek(header, os.SEEK_CUR)
    # Past this point a known size is kept only of the segment, the one element that holds everything.
    if file.read(4) != b"\x18\x53\x80\x67":
        return 0
    length = _vint(file)
    return 0 if length is None else file.tell() + length


def _riff_end(file: BinaryIO, size: int) -> int:
    position = 0
    for _ in range(_MOST_BOXES):
        file.seek(position)
        head = file.read(8)
        length = int.from_bytes(head[4:8], "little")
        # A recorder that was switched off leaves length 0: nothing is promised.
        if head[:4] != b"RIFF" or length == 0 or position >= size:
            break
        position += 8 + length + length % 2
    # The padding byte after an odd chunk is often left out at the end of the file.
    return position - 1 if position == size + 1 else position
