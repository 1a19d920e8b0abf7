"""Frames uint8 [T,H,W,3] and matrices [T, J] → what a page can carry in its own text."""

from __future__ import annotations

import hashlib
import html
from base64 import b64encode
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.floating[Any]]
CLIP_BYTES = 2_700_000
"""What the pictures of one clip may take; in base64 a third more, so two clips stay well below 10 MB."""

# Longest side and WebP quality, best first. Sharp pictures of half the size say more than large blurred ones.
LADDER = ((320, 75), (320, 55), (256, 55), (208, 50), (160, 45), (128, 40), (96, 35), (64, 30))
_SAMPLE = 8
MOST = 640
"""Rows and columns of a matrix that are kept: more than a screen shows of one heatmap."""
_DECADES = 6


def embed_frames(frames: npt.NDArray[np.uint8], budget: int = CLIP_BYTES, codec: str | None = None) -> dict[str, Any]:
    """The frames [T,H,W,3] as base64 WebP (JPEG where the codec library has no WebP), within `budget` bytes.

    The first rung of `LADDER` whose pictures fit is taken, so a long or noisy clip gets smaller pictures; the
    last rung is taken even if it does not fit. Equal frames are kept once: `order` [T] says which of
    `pictures` a frame is.

    >>> clip = embed_frames(np.zeros((3, 48, 64, 3), np.uint8))
    >>> clip["width"], clip["height"], clip["order"], len(clip["pictures"])
    (64, 48, [0, 0, 0], 1)
    """
    from av.codec import codecs_available

    # A distribution may build the codec library without WebP.
    codec = codec or ("libwebp" if "libwebp" in codecs_available else "mjpeg")
    order, first = _distinct(frames)
    distinct = frames[first]
    sample = distinct[np.unique(np.linspace(0, len(distinct) - 1, _SAMPLE).astype(int))]
    for rung in LADDER:
        last = rung == LADDER[-1]
        # A few frames tell the size of all: most rungs are refused without encoding the whole clip.
        if not last and sum(map(len, encode_pictures(sample, rung, codec))) / len(sample) * len(distinct) > budget:
            continue
        pictures = encode_pictures(distinct, rung, codec)
        if last or sum(map(len, pictures)) <= budget:
            break
    height, width = _scaled(frames.shape[1:3], rung[0])
    return {
        "type": "image/webp" if codec == "libwebp" else "image/jpeg",
        "width": width,
        "height": height,
        "order": order,
        "pictures": [b64encode(picture).decode("ascii") for picture in pictures],
    }


def image_tags(clip: dict[str, Any], names: Sequence[str]) -> str:
    """The frames of `embed_frames` as elements of a page, by name for those who do not see them.

    >>> image_tags({"type": "image/webp", "order": [0], "pictures": ["AA"]}, ["frame 0"])
    '<img alt="frame 0" src="data:image/webp;base64,AA">'
    """
    return "".join(
        f'<img alt="{html.escape(name)}" src="data:{clip["type"]};base64,{clip["pictures"][place]}">'
        for name, place in zip(names, clip["order"], strict=True)
    )


def _distinct(frames: npt.NDArray[np.uint8]) -> tuple[list[int], list[int]]:
    """For every frame the number of its picture, and for every picture the first frame that shows it."""
    seen: dict[bytes, int] = {}
    order: list[int] = []
    first: list[int] = []
    for t, frame in enumerate(frames):
        key = hashlib.sha256(frame.tobytes()).digest()
        if key not in seen:
            seen[key] = len(first)
            first.append(t)
        order.append(seen[key])
    return order, first


def _scaled(size: tuple[int, ...], side: int) -> tuple[int, int]:
    """Height and width with the longer one at most `side`; never enlarged."""
    scale = min(1.0, side / max(size))
    height, width = (max(1, round(length * scale)) for length in size)
    return height, width


def encode_pictures(frames: npt.NDArray[np.uint8], rung: tuple[int, int], codec: str) -> list[bytes]:
    """Each frame [T,H,W,3] as a picture by libwebp or mjpeg, with the longest side and the quality of `rung`."""
    import av

    side, quality = rung
    height, width = _scaled(frames.shape[1:3], side)
    context: Any = av.CodecContext.create(codec, "w")
    context.width, context.height, context.time_base = width, height, Fraction(1, 25)
    context.thread_count = 1  # more would only delay the packets
    if codec == "libwebp":
        pixels, colours = "yuv420p", "MPEG"
        context.options = {"quality": str(quality), "compression_level": "2"}
    else:
        pixels, colours = "yuvj420p", "JPEG"
        scale = str(round(2 + (75 - quality) / 4))  # JPEG's quantiser: 2 is fine, 13 coarse
        context.options = {"qmin": scale, "qmax": scale}
    context.pix_fmt = pixels
    pictures = []
    try:
        for k, image in enumerate(frames):
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(image), format="rgb24").reformat(
                width=width,
                height=height,
                format=pixels,
                dst_colorspace="ITU601",
                dst_color_range=colours,
                interpolation="AREA",
                threads=1,
            )
            frame.pts = k
            pictures += [bytes(packet) for packet in context.encode(frame)]
        pictures += [bytes(packet) for packet in context.encode(None)]
    except av.FFmpegError as error:
        raise OSError(
            f"Cannot make {width}x{height} pictures for the page with {codec} ({error.strerror or error}); "
            "write the scores without the page, or with smaller frames."
        ) from error
    if len(pictures) != len(frames):
        raise OSError(
            f"The {codec} encoder made {len(pictures)} pictures of {len(frames)} frames, one each is needed; "
            "write the scores without the page, or install another version of PyAV."
        )
    return pictures


def embed_matrix(values: FloatArray, bits: int) -> dict[str, Any]:
    """The matrix [T, J] as 8- or 16-bit steps between its least and its greatest value, in base64.

    Where most of what is not 0 lies below a fiftieth of the greatest value (coverage of a long demo), steps
    are taken in the logarithm over at most six decades, and the page says so. A side above `MOST` is thinned
    to `MOST` evenly chosen rows or columns: cells stay exact, some are left out.

    >>> heat = embed_matrix(np.array([[0.0, 0.5], [0.25, 1.0]]), bits=8)
    >>> from base64 import b64decode
    >>> heat["low"], heat["high"], heat["log"], list(b64decode(heat["data"]))
    (0.0, 1.0, False, [0, 128, 64, 255])
    """
    kept = values[np.ix_(kept_indices(values.shape[0]), kept_indices(values.shape[1]))].astype(np.float64)
    low, high = float(kept.min()), float(kept.max())
    positive = kept[kept > 0]
    log = bool(low >= 0 and positive.size and (positive < high / 50).mean() > 0.5)
    if log:
        low = max(float(positive.min()), high * 10.0**-_DECADES)
        kept = np.log(np.maximum(kept, low) / low) / np.log(high / low)
    else:
        # Halves first: the difference of two very large numbers of either sign would overflow.
        kept = (kept / 2 - low / 2) / (high / 2 - low / 2) if high > low else np.zeros_like(kept)
    steps = np.rint(kept * (2**bits - 1)).astype(f"<u{bits // 8}")
    return {
        "rows": steps.shape[0],
        "columns": steps.shape[1],
        "bits": bits,
        "low": low,
        "high": high,
        "log": log,
        "data": b64encode(steps.tobytes()).decode("ascii"),
    }


def kept_indices(count: int) -> npt.NDArray[np.int64]:
    """Which of `count` rows or columns the page keeps; the page's script counts in the same way.

    >>> kept_indices(3).tolist(), len(kept_indices(1000)), int(kept_indices(1000)[-1])
    ([0, 1, 2], 640, 999)
    """
    kept = min(count, MOST)
    # Whole numbers, rounded half up: JavaScript's Math.round and NumPy's differ on halves of floats.
    return (2 * np.arange(kept) * (count - 1) + max(kept - 1, 1)) // (2 * max(kept - 1, 1))
