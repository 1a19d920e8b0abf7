"""Where the learner's frames are drawn from: what of them ever changes, and what stands behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from orcalign.encoders.protocol import Frames, check_frames
from orcalign.encoders.resize import resize
from orcalign.matching.match import FloatArray

SAMPLE = 400
CHANGED = 16
"""Levels of 256 from the median picture, in any colour, by which a pixel has changed."""
MARGIN = 0.06
"""Of the side of what changes, on each side."""
SPARES = 0.85
"""A crop whose side is a larger share of the picture's is not worth it."""
ROOM = 2.2
"""Sides of what differs from reset to reset that are looked at, since the hand comes there from beside and above."""
CLOSEST = 128
"""Pixels of a side of what is looked at, at least: the network sees no more."""
SMALL = 64
"""Side of the background that is kept."""
SEEN = 0.9
"""Share of the frames in which the background must be seen at a pixel."""
OTHER_VIEW = 1.0
"""From here on a background is another: a camera turned by a 64th of the picture moves what it shows, where the picture
is a metre wide, by 1.6 cm, as much as a good eye errs."""
NOISE = 1.0
"""Levels by which two pictures of one camera differ at least: of codecs, and of what stands elsewhere."""


@dataclass(frozen=True, eq=False)
class Scenery:
    """Size of the frames, the part that the eye looks at, and the background."""

    size: tuple[int, int]
    """Height and width of a frame."""
    crop: tuple[int, int, int, int]
    """Top, bottom, left and right of what is looked at: a square, or everything."""
    background: npt.NDArray[np.uint8]
    """[64,64,3] The median picture."""
    static: npt.NDArray[np.bool_]
    """[64,64] Where it is nearly always to be seen."""

    @classmethod
    def of(cls, frames: Frames, starts: Frames | None = None) -> Scenery:
        """Of the learner's frames [N,H,W,3], drawn after many resets.

        Where `starts` [R,H,W,3], drawn right after resets, differ in a part of large pictures alone, that part is
        looked at, and what is about it: an arm moves half of a picture, and nothing else in it is to be found.
        """
        check_frames(frames)
        some = frames[:: max(1, len(frames) // SAMPLE)]
        middle = np.median(some[:: max(1, len(some) // 100)], axis=0).astype(np.uint8)
        times = sum((_far(frame, middle) for frame in some), np.zeros(middle.shape[:2], np.int64))
        # Twice, so that one flaw of a decoder does not count.
        crop = _crop(times >= min(2, len(some)))
        if starts is not None:
            crop = _closer(crop, starts)
        small = resize(np.ascontiguousarray(some), SMALL)
        background = resize(middle[None], SMALL)[0]
        seen = np.mean([~_far(frame, background) for frame in small], axis=0)
        return cls((frames.shape[1], frames.shape[2]), crop, background, seen >= SEEN)

    def cut(self, frames: Frames) -> Frames:
        """What is looked at of frames [T,H,W,3]; larger ones are shrunk, those of another shape are a ValueError."""
        frames = self._fitted(frames)
        top, bottom, left, right = self.crop
        return frames[:, top:bottom, left:right]

    def difference(self, frames: Frames) -> float:
        """How far the background of frames [T,H,W,3] of one scene is from this one: 1 is as if the camera had turned by
        one of 64 parts of the picture, about the error that would make in the places.

        Brightness and contrast may differ. At each pixel the frames that come nearest count, since the background is
        seen there in some of them. Where the background has no features, little can be told, and little is said.
        """
        frames = self._fitted(frames)
        if not self.static.any():
            return 0.0
        own = self.background.astype(np.float64)
        seen = resize(np.ascontiguousarray(frames[:: max(1, len(frames) // 100)]), SMALL).astype(np.float64)
        middle = np.median(seen, axis=0)
        centre, spread = (getattr(middle[self.static], name)(0) for name in ("mean", "std"))
        own_centre, own_spread = (getattr(own[self.static], name)(0) for name in ("mean", "std"))
        gain = np.clip(own_spread / np.maximum(spread, 1.0), 0.5, 2.0)
        seen = (seen - centre) * gain + own_centre
        off = np.quantile(np.abs(seen - own).mean(-1), 0.25, axis=0)[self.static].mean()
        turned = [
            np.abs(np.roll(own, by, axis) - own).mean(-1)[self.static].mean() for axis in (0, 1) for by in (-1, 1)
        ]
        return float(max(0.0, off - NOISE) / max(float(np.mean(turned)), NOISE))

    def problem(self, frames: Frames) -> str:
        """One sentence if frames [T,H,W,3] come from another camera; nothing otherwise."""
        off = self.difference(frames)
        if off < OTHER_VIEW:
            return ""
        return (
            f"the background of these frames differs from the learner's as if the camera had turned by {off:.1f} 64ths "
            "of the picture, so places would be read wrong; record the demo with the learner's camera, or draw the "
            "learner with the demo's."
        )

    def _fitted(self, frames: Frames) -> Frames:
        """Frames of the eye's own size."""
        check_frames(frames)
        (H, W), (height, width) = self.size, frames.shape[1:3]
        if height == width >= H == W:
            return resize(np.ascontiguousarray(frames), H)
        if (height, width) != self.size:
            raise ValueError(
                f"the frames have {height}x{width} pixels (height x width), and this eye was made for {H}x{W}; give it "
                "frames of that size, or larger square ones of a square picture, or make an eye for these."
            )
        return frames

    def state(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        """Plain values and arrays."""
        return {"size": list(self.size), "crop": list(self.crop)}, {
            "background": self.background,
            "static": self.static.astype(np.uint8),
        }

    @classmethod
    def from_state(cls, plain: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Scenery:
        """What `state` gave."""
        H, W = plain["size"]
        top, bottom, left, right = plain["crop"]
        return cls((H, W), (top, bottom, left, right), arrays["background"], arrays["static"].astype(bool))


def _far(frame: Frames, middle: Frames) -> npt.NDArray[np.bool_]:
    """[H,W] Where a frame is not the median picture."""
    return np.asarray(np.abs(frame.astype(np.int16) - middle).max(-1) > CHANGED)


def elsewhere(starts: Frames) -> npt.NDArray[np.bool_]:
    """[H,W] What differs from reset to reset, by frames right after them [R,H,W,3]."""
    middle = np.median(starts, axis=0).astype(np.uint8)
    differs = sum((_far(frame, middle) for frame in starts), np.zeros(middle.shape[:2], np.int64))
    # Twice, so that one flaw of a decoder does not count.
    return np.asarray(differs >= 2)


def _crop(changed: npt.NDArray[np.bool_]) -> tuple[int, int, int, int]:
    """The square about all that changes, or everything."""
    H, W = changed.shape
    if not changed.any():
        return 0, H, 0, W
    ends = []
    for axis in (1, 0):
        there = np.flatnonzero(changed.any(axis))
        ends.append((int(there[0]), int(there[-1]) + 1))
    (top, bottom), (left, right) = ends
    side = round(max(bottom - top, right - left) * (1 + 2 * MARGIN))
    if side > min(H, W) or side > SPARES * max(H, W):
        return 0, H, 0, W
    top = min(max(0, (top + bottom - side) // 2), H - side)
    left = min(max(0, (left + right - side) // 2), W - side)
    return top, top + side, left, left + side


def _closer(crop: tuple[int, int, int, int], starts: Frames) -> tuple[int, int, int, int]:
    """The square about what differs from reset to reset, with room about it; `crop` where that is no smaller."""
    differs = elsewhere(starts)
    if not differs.any():
        return crop
    ends = [np.flatnonzero(differs.any(axis)) for axis in (1, 0)]
    side = max(CLOSEST, round(ROOM * max(int(end[-1] - end[0]) + 1 for end in ends)))
    if side >= crop[1] - crop[0] or side >= crop[3] - crop[2]:
        return crop
    corner = [
        min(max(0, (int(end[0] + end[-1]) - side) // 2), length - side)
        for end, length in zip(ends, starts.shape[1:3], strict=True)
    ]
    return corner[0], corner[0] + side, corner[1], corner[1] + side


def whitening(maps: npt.NDArray[np.float32], kept: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Weight [kept, C] and bias [kept] that turn the C channels of maps [N, C, places] into principal components of
    about unit variance; those of nearly none are not blown up.

    >>> maps = np.random.default_rng(0).normal(size=(20, 3, 9)).astype(np.float32)
    >>> weight, bias = whitening(maps * 4 + 7, 2)
    >>> found = weight @ (maps * 4 + 7) + bias[:, None]
    >>> bool(np.abs(found.mean((0, 2))).max() < 1e-3), bool(np.abs(found.std((0, 2)) - 1).max() < 1e-3)
    (True, True)
    """
    C = maps.shape[1]
    total, square, count = np.zeros(C), np.zeros((C, C)), maps.shape[0] * maps.shape[2]
    for one in maps:
        wide = one.astype(np.float64)
        total += wide.sum(1)
        square += wide @ wide.T
    mean = total / count
    covariance: FloatArray = square / count - np.outer(mean, mean)
    deviation = np.sqrt(np.maximum(covariance.diagonal(), 0)) + 1e-3
    variances, axes = np.linalg.eigh(covariance / np.outer(deviation, deviation))
    last = np.arange(C)[::-1][:kept]
    weight = (axes[:, last] / np.maximum(np.sqrt(np.maximum(variances[last], 0)), 0.3)).T / deviation
    return weight.astype(np.float32), (-weight @ mean).astype(np.float32)
