"""Sources without a clock: a folder of images, and an npz file of frames."""

import contextlib
import functools
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from orcalign.video.media import READABLE
from orcalign.video.picture import LARGEST_PICTURE, check_area, to_rgb, turn_of
from orcalign.video.timeline import Shown, Source, VideoOptions

IMAGE_ENDINGS = frozenset({".png", ".jpg", ".jpeg", ".bmp", ".webp", ".tif", ".tiff"})
_MAGIC = {b"\x89PNG": "png", b"\xff\xd8": "mjpeg", b"BM": "bmp", b"RIFF": "webp"}
_MAGIC |= dict.fromkeys((b"II*\0", b"MM\0*"), "tiff")
_LONGEST_HEADER = 10_000


def natural_key(name: str) -> tuple[tuple[int, int | str], ...]:
    """Sort key in which numbers count as numbers.

    >>> sorted(["f10.png", "f9.png", "F1.png"], key=natural_key)
    ['F1.png', 'f9.png', 'f10.png']
    """
    parts = re.findall(r"[0-9]+|[^0-9]+", name.casefold())
    return (*((0, int(p)) if p.isdecimal() else (1, p) for p in parts), (2, name))


def open_folder(folder: Path, options: VideoOptions) -> Source:
    """A folder of images as a video of `still_fps`; hidden files and other endings are passed over."""
    images = (p for p in folder.iterdir() if p.suffix.lower() in IMAGE_ENDINGS and p.is_file())
    paths = sorted((p for p in images if not p.name.startswith(".")), key=lambda p: natural_key(p.name))
    if not paths:
        if (folder / "manifest.json").is_file():
            raise ValueError(f"{str(folder)!r} is a saved demo, not a video; read it with load_demo.")
        raise ValueError(
            f"{str(folder)!r} is a folder without images ({', '.join(sorted(IMAGE_ENDINGS))}); give {READABLE}."
        )
    rate = options.still_fps

    def shown(start: float) -> Iterator[Shown]:
        # Without a stored clock any frame can be reached directly.
        for k in range(max(0, int(start * rate) - 1), len(paths)):
            picture = functools.partial(read_image, paths[k])
            yield Shown(k / rate, 1 / rate, picture, f"image {str(paths[k])!r}")

    return Source(str(folder), shown, rate=rate, duration=len(paths) / rate, count=len(paths))


def read_image(path: Path) -> NDArray[np.uint8]:
    """One upright RGB image [H,W,3]; an unreadable or cut-off file is a ValueError that names it."""
    import av

    data = path.read_bytes()
    codec = next((name for magic, name in _MAGIC.items() if data.startswith(magic)), None)
    try:
        if codec is None or _lacks_end(data):
            raise ValueError("not an image, or cut off")
        # Straight to the decoder: the image demuxers split files in pieces or trust the ending of the name.
        decoder: Any = av.CodecContext.create(codec, "r")
        # Strictness only where it finds damage alone: sound tiff and jpeg files fail it.
        strict = {"err_detect": "crccheck+explode"} if codec == "png" else {}
        decoder.options = {"max_pixels": str(LARGEST_PICTURE), **strict}
        decoder.thread_count = 1
        frames = [*decoder.decode(av.Packet(data)), *decoder.decode(None)]
        if frames[0].is_corrupt:
            raise ValueError("decoded with errors")
        return to_rgb(frames[0], turn_of(frames[0]), VideoOptions())  # sizes are compared before fitting
    # PyAV's own errors, but also IndexError for files without a picture.
    except Exception as error:
        raise ValueError(
            f"Image {str(path)!r} cannot be decoded (empty, damaged or not an image); replace it."
        ) from error


def _lacks_end(data: bytes) -> bool:
    """Whether the end mark is missing: decoders fill what was lost with grey and say nothing."""
    if data.startswith(b"RIFF"):
        return len(data) < 8 + int.from_bytes(data[4:8], "little")
    if data.startswith(b"\xff\xd8"):
        return b"\xff\xd9" not in data[-4096:]
    return data.startswith(b"\x89PNG") and b"IEND" not in data[-4096:]


def open_npz(path: Path, options: VideoOptions) -> Source:
    """An npz with uint8 `frames` [T,H,W,3] and, if known, a scalar `fps`; frames are unpacked one by one."""
    with _reading(path), zipfile.ZipFile(path) as archive:
        if "frames.npy" not in archive.namelist():
            keys = [repr(name.removesuffix(".npy")[:40]) for name in archive.namelist()[:8]] or ["none"]
            raise ValueError(
                f"{str(path)!r} has no array `frames` (it holds: {', '.join(keys)}); save it under that name."
            )
        with archive.open("frames.npy") as member:
            shape = _header(member, path)
        rate = options.still_fps
        if "fps.npy" in archive.namelist():
            with archive.open("fps.npy") as member:
                rate = _scalar(member, path)
    if not (0 < rate < float("inf")):
        raise ValueError(f"{str(path)!r} holds a bad `fps`; store one number above 0, or leave it out.")
    count, height, width, _ = shape
    if count == 0:
        raise ValueError(f"{str(path)!r} holds no frames (shape {list(shape)}); save at least one.")
    check_area(width, height, str(path))

    def shown(start: float) -> Iterator[Shown]:
        with _reading(path), zipfile.ZipFile(path) as archive, archive.open("frames.npy") as member:
            _header(member, path)
            for k in range(count):
                data = member.read(height * width * 3)
                if len(data) < height * width * 3:
                    raise ValueError(f"{str(path)!r} ends in frame {k} of {count}; save it again.")
                if (k + 1) / rate < start:
                    continue
                frame = np.frombuffer(data, np.uint8).reshape(height, width, 3)
                yield Shown(k / rate, 1 / rate, frame.copy, f"frame {k}")

    return Source(str(path), shown, rate=rate, duration=count / rate, count=count)


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn what zip files raise when they are damaged, which is almost anything, into one ValueError."""
    try:
        yield
    except Exception as error:
        # Errors that name the file were raised here and already explain themselves.
        if str(path) in str(error):
            raise
        raise ValueError(f"{str(path)!r} is a damaged npz file ({type(error).__name__}); save it again.") from error


def _array_header(member: IO[bytes], path: Path) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    formats = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    try:
        read = formats[np.lib.format.read_magic(member)]
        return read(member, max_header_size=_LONGEST_HEADER)
    except Exception as error:  # the header holds Python literals: a damaged one can raise anything
        raise ValueError(f"{str(path)!r} has a damaged array in it; save it again.") from error


def _scalar(member: IO[bytes], path: Path) -> float:
    shape, _, dtype = _array_header(member, path)
    if shape != () or dtype.kind not in "iuf":
        return float("nan")
    data = member.read(dtype.itemsize)
    return float(np.frombuffer(data, dtype)[0]) if len(data) == dtype.itemsize else float("nan")


def _header(member: IO[bytes], path: Path) -> tuple[int, int, int, int]:
    shape, fortran, dtype = _array_header(member, path)
    if dtype != np.uint8 or len(shape) != 4 or shape[3] != 3 or fortran or min(shape) < 0 or 0 in shape[1:]:
        raise ValueError(
            f"{str(path)!r} holds `frames` of type {dtype} and shape {list(shape)}; "
            "it must be uint8 [T,H,W,3] in C order."
        )
    return shape
