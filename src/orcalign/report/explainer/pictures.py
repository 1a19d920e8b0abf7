"""Frames uint8 [T,H,W,3] → small pictures that a page can carry in its own text."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

CLIP_BYTES = 2_700_000
"""What the pictures of one clip may take; in base64 a third more, so two clips stay well below 10 MB."""

# Longest side and WebP quality, best first. Sharp pictures of half the size say more than large blurred ones.
LADDER = ((320, 75), (320, 55), (256, 55), (208, 50), (160, 45), (128, 40), (96, 35), (64, 30))
_SAMPLE = 8


def embed_frames(
    frames: npt.NDArray[np.uint8], budget: int = CLIP_BYTES, codec: str | None = None
) -> dict[str, Any]:
    """The frames [T,H,W,3] as base64 WebP (JPEG where the codec library has no WebP), within `budget` bytes.

    The first rung of `LADDER` whose pictures fit is taken, so a long or noisy clip gets smaller pictures; the
    last rung is taken even if it does not fit. Equal frames are kept once: `order` [T] says which of
    `pictures` a frame is.

    >>> clip = embed_frames(np.zeros((3, 48, 64, 3), np.uint8))
    >>> clip["width"], clip["height"], clip["order"], len(clip["pictures"])
    (64, 48, [0, 0, 0], 1)
    """
    codec = codec or best_codec()
    order, first = _distinct(frames)
    distinct = frames[first]
    sample = distinct[np.unique(np.linspace(0, len(distinct) - 1, _SAMPLE).astype(int))]
    for rung in LADDER:
        last = rung == LADDER[-1]
        # A few frames tell the size of all: most rungs are refused without encoding the whole clip.
        if not last and _mean_size(_encode(sample, rung, codec)) * len(distinct) > budget:
            continue
        pictures = _encode(distinct, rung, codec)
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


def best_codec() -> str:
    """The name of the picture encoder that PyAV offers here: a distribution may build it without WebP.

    >>> best_codec() in ("libwebp", "mjpeg")
    True
    """
    from av.codec import codecs_available

    return "libwebp" if "libwebp" in codecs_available else "mjpeg"


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


def _mean_size(pictures: list[bytes]) -> float:
    return sum(map(len, pictures)) / len(pictures)


def _scaled(size: tuple[int, ...], side: int) -> tuple[int, int]:
    """Height and width with the longer one at most `side`; never enlarged."""
    scale = min(1.0, side / max(size))
    height, width = (max(1, round(length * scale)) for length in size)
    return height, width


def _encode(frames: npt.NDArray[np.uint8], rung: tuple[int, int], codec: str) -> list[bytes]:
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
