"""Real little video files, written with PyAV in every format the reader claims."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

HEIGHT, WIDTH, COUNT, RATE = 48, 64, 30, 10


def moving_bar(count: int = COUNT, height: int = HEIGHT, width: int = WIDTH) -> np.ndarray:
    """A white corner, and a green bar that moves 2 pixels a frame over a red ground: every frame differs."""
    frames = np.empty((count, height, width, 3), np.uint8)
    frames[:] = (200, 40, 90)
    for k in range(count):
        frames[k, :, 2 * k % width : 2 * k % width + 8] = (10, 220, 30)
    frames[:, : height // 4, : width // 8] = 255
    return frames


def bar_index(frame: np.ndarray) -> int:
    """Which frame of `moving_bar` a picture shows, read off its pixels."""
    row = frame[len(frame) // 2].astype(int)
    green = row[:, 1] - row[:, 0] > 80
    return int(np.flatnonzero(green)[0]) // 2


def write_any(
    path: Path,
    frames: np.ndarray,
    codec: str,
    pix_fmt: str,
    *,
    stamps_ms: list[int] | None = None,
    matrix: list[int] | None = None,
    options: dict[str, str] | None = None,
    container: dict[str, str] | None = None,
    source_format: str = "rgb24",
    gop: int = 12,
) -> Path:
    """Encode frames with any codec; with `stamps_ms` at these times instead of a steady rate."""
    with av.open(str(path), "w", container_options=container or {}) as output:
        stream = output.add_stream(codec, rate=RATE)
        stream.width, stream.height, stream.pix_fmt = frames.shape[2], frames.shape[1], pix_fmt
        stream.codec_context.options = options or {}
        stream.codec_context.gop_size = gop
        if stamps_ms is not None:
            stream.codec_context.time_base = Fraction(1, 1000)
        if matrix is not None:
            stream.set_display_matrix(matrix)
        for k, image in enumerate(frames):
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(image), format=source_format)
            frame.pts, frame.time_base = (
                (k, Fraction(1, RATE)) if stamps_ms is None else (stamps_ms[k], Fraction(1, 1000))
            )
            output.mux(stream.encode(frame))
        output.mux(stream.encode(None))
    return path


X265_QUIET = {"x265-params": "log-level=none:pools=1"}
FORMATS: dict[str, tuple[str, str, dict[str, str], dict[str, str]]] = {
    "mp4": ("libx264", "yuv420p", {}, {"movflags": "+faststart"}),
    "mov": ("libx264", "yuv420p", {}, {}),
    "webm": ("libvpx-vp9", "yuv420p", {"deadline": "realtime"}, {}),
    "avi": ("mpeg4", "yuv420p", {"qscale": "2"}, {}),
    "mkv": ("libx264", "yuv420p", {}, {}),
    "gif": ("gif", "rgb8", {}, {}),
}


@pytest.fixture(scope="session")
def bar() -> Callable[..., np.ndarray]:
    return moving_bar


@pytest.fixture(scope="session")
def which() -> Callable[[np.ndarray], int]:
    return bar_index


@pytest.fixture(scope="session")
def encode() -> Callable[..., Path]:
    return write_any


@pytest.fixture(scope="session")
def videos(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One sound file of each format, 30 frames at 10 per second."""
    folder = tmp_path_factory.mktemp("videos")
    return {
        ending: write_any(folder / f"clip.{ending}", moving_bar(), codec, pix_fmt, options=options, container=container)
        for ending, (codec, pix_fmt, options, container) in FORMATS.items()
    }


def write_still(path: Path, image: np.ndarray) -> Path:
    """One png, jpg, bmp, webp or tiff image."""
    codec = {".png": "png", ".jpg": "mjpeg", ".bmp": "bmp", ".webp": "libwebp", ".tiff": "tiff"}[path.suffix]
    pix_fmt = {"mjpeg": "yuvj444p", "bmp": "bgr24", "libwebp": "yuv420p"}.get(codec, "rgb24")
    if image.shape[2] == 4:
        pix_fmt = "rgba"
    context = av.CodecContext.create(codec, "w")
    context.width, context.height, context.pix_fmt = image.shape[1], image.shape[0], pix_fmt
    context.time_base = Fraction(1, 25)
    kind = "rgba" if image.shape[2] == 4 else "rgb24"
    frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(image), format=kind).reformat(format=pix_fmt)
    frame.pts = 0
    packets = [*context.encode(frame), *context.encode(None)]
    path.write_bytes(b"".join(bytes(packet) for packet in packets))
    return path


@pytest.fixture(scope="session")
def still() -> Callable[[Path, np.ndarray], Path]:
    return write_still
