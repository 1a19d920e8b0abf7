"""What turns a clip into one embedding."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from orcalign.encoders.protocol import Frames, check_frames

Embedding = npt.NDArray[np.float32]
MOST = 32
"""Frames that a network sees at most; of longer clips they are drawn evenly, as RoboCLIP does."""


@runtime_checkable
class ClipEncoder(Protocol):
    """Embeds clips, and sentences if its network was trained with them."""

    name: str
    dim: int
    frames: int
    """It sees at most so many of a clip."""
    substitute: str
    """What it stands in for, in words, where it is not the network that a paper names; empty otherwise."""
    fingerprint: str
    """Of everything that decides an embedding."""

    def __call__(self, frames: Frames) -> Embedding:
        """uint8 [T,H,W,3] → [D]"""

    def text(self, sentence: str) -> Embedding:
        """A sentence → [D], comparable with clips; a ValueError where the network has no text tower."""


def evenly(length: int, most: int = MOST) -> npt.NDArray[np.int64]:
    """Which of so many frames are seen: all, or `most` of them from the first to the last.

    >>> evenly(3).tolist(), evenly(9, 3).tolist()
    ([0, 1, 2], [0, 4, 8])
    """
    return np.linspace(0, length - 1, min(length, most)).round().astype(np.int64)


def check_clip(frames: Frames, whose: str = "the clip") -> None:
    """Refuse what has no motion.

    >>> check_clip(np.zeros((1, 8, 8, 3), np.uint8))
    Traceback (most recent call last):
    ...
    ValueError: the clip has 1 frame, and a video model sees motion; give at least 2.
    """
    check_frames(frames)
    if len(frames) < 2:
        raise ValueError(f"{whose} has {len(frames)} frame, and a video model sees motion; give at least 2.")


def cosine(one: npt.ArrayLike, other: npt.ArrayLike) -> float:
    """From -1 to 1; 0 where one of them is nothing.

    >>> cosine([1, 0], [2, 0]), cosine([1, 0], [0, 1]), cosine([0, 0], [1, 0])
    (1.0, 0.0, 0.0)
    """
    a, b = np.asarray(one, np.float64), np.asarray(other, np.float64)
    size = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / size if size else 0.0
