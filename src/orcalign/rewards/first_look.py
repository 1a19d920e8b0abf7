"""A demo beside the environment that is to repeat it, before anything is trained: what differs, in words and a picture.

Still pixels of the environment, over several resets, are the background. A demo in which even they differ shows another
camera or another scene, unless a move of the camera that can be found explains it.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from orcalign.costs.predicted.scenery import OTHER_VIEW, Scenery, elsewhere
from orcalign.encoders.resize import resize
from orcalign.rewards.base import Frames
from orcalign.video import Demo
from orcalign.video.normalise import Normaliser, shrink

STILL = 0.2
"""Share of the picture that must stand still, to tell by it."""
SAME = 0.3
"""Difference of backgrounds, in the unit of `OTHER_VIEW`, up to which nobody would see one."""
ELSEWHERE = 0.003
"""Share of the picture that differs from reset to reset, from which something stands elsewhere each time."""
LONGEST = 240
"""Pixels of the longer side at which they are compared."""
FEW = 40
"""Demo frames that are looked at."""
SMALL = 64
BLACK = 16
"""A picture is black if nothing in it is brighter."""
TALL, GAP, BESIDE = 240, 6, 3
"""Of the picture: pixels of its height and between its parts, and first frames of the environment in it."""


@final
@dataclass(frozen=True, eq=False)
class FirstLook:
    """What `first_look` says."""

    words: tuple[str, ...]
    """What differs, for people."""
    elsewhere: float
    """Share of the picture that differs between the environment's own first frames."""
    refused: str
    """Why this demo cannot be followed here; empty if it can."""
    picture: npt.NDArray[np.uint8]
    """[H, W, 3] The demo's first frame, and some of the environment's."""


def first_look(demo: Demo, starts: Frames, play: Frames) -> FirstLook:
    """Compare a demo with frames of the environment.

    Args:
        demo: what is to be repeated.
        starts: [R,H,W,3] frames right after resets.
        play: [N,H,W,3] frames of some episodes a little later.

    >>> rng = np.random.default_rng(0)
    >>> scene = rng.integers(0, 255, (48, 64, 3), np.uint8).repeat(2, 0).repeat(2, 1)
    >>> own = scene[None].repeat(10, axis=0)
    >>> first_look(Demo(own), own, own).words
    ()
    >>> first_look(Demo(own[:, :, ::-1]), own, own).refused
    'the demo is mirrored'
    >>> first_look(Demo(own // 2), own, own).words
    ('the demo has light 50% darker',)
    """
    words, refused = _size(demo, *starts.shape[1:3]), ""
    scale = max(1.0, max(starts.shape[1:3]) / LONGEST)
    height, width = (round(side / scale) for side in starts.shape[1:3])
    some = demo.frames[np.unique(np.linspace(0, len(demo) - 1, min(FEW, len(demo))).round().astype(int))]
    shown, own = _shrunk(some, height, width), _shrunk([*starts, *play], height, width)
    scenery = Scenery.of(own)
    if scenery.static.mean() >= STILL:
        off = scenery.difference(shown)
        found = Normaliser(own).correction(shown)
        said = [word.removesuffix(": corrected") for word in found.told(starts.shape[2])]
        if off >= OTHER_VIEW and not found.found.trusted:
            mirrored = scenery.difference(np.ascontiguousarray(shown[:, :, ::-1])) < min(OTHER_VIEW, off / 2)
            refused = "the demo is mirrored" if mirrored else "the demo shows another camera or another scene"
        elif off >= SAME and said and found.found.trusted:
            words.append(f"the demo has {', '.join(said)}")
        elif found.found.trusted:
            words += [f"the demo has {word}" for word in said if "light" in word]
    differs = float(elsewhere(resize(np.ascontiguousarray(starts), SMALL)).mean())
    if differs >= ELSEWHERE:
        words.append(f"something stands elsewhere in every episode ({max(differs, 0.01):.0%} of the picture)")
    return FirstLook(tuple(words), differs, refused, beside(demo.frames[0], starts))


def black(frames: Frames) -> bool:
    """Whether all of the frames [N,H,W,3] are.

    >>> black(np.zeros((2, 4, 4, 3), np.uint8)), black(np.full((1, 4, 4, 3), 99, np.uint8))
    (True, False)
    """
    return bool(len(frames) and frames.max() <= BLACK)


def beside(first: npt.NDArray[np.uint8], starts: Frames) -> npt.NDArray[np.uint8]:
    """[H,W,3] The demo's first frame, and the environment's, from left to right."""
    tiles = []
    for picture in (first, *starts[:BESIDE]):
        width = max(1, round(picture.shape[1] * TALL / picture.shape[0]))
        tiles += [shrink(picture, TALL, width).round().astype(np.uint8), np.full((TALL, GAP, 3), 255, np.uint8)]
    # A wider gap parts the demo from the others.
    return np.concatenate([tiles[0], tiles[1], *tiles[1:-1]], axis=1)


def png(picture: npt.NDArray[np.uint8]) -> bytes:
    """A picture [H,W,3] as a PNG file.

    >>> png(np.zeros((2, 3, 3), np.uint8))[:8]
    b'\\x89PNG\\r\\n\\x1a\\n'
    """
    height, width = picture.shape[:2]
    rows = b"".join(b"\0" + row.tobytes() for row in np.ascontiguousarray(picture))
    parts = (
        (b"IHDR", struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")
    )  # fmt: skip
    chunks = (
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def _shrunk(frames: Iterable[npt.NDArray[np.uint8]], height: int, width: int) -> Frames:
    return np.stack([shrink(frame, height, width).round().astype(np.uint8) for frame in frames])


def _size(demo: Demo, height: int, width: int) -> list[str]:
    h, w = demo.frames.shape[1:3]
    if (h, w) == (height, width):
        return []
    stretched = "" if abs(w * height / (h * width) - 1) < 0.02 else ", another shape"
    return [f"the demo has {w}x{h} pixels and the environment draws {width}x{height}{stretched}"]
