"""Stretch frames to the square that a network sees; and an encoder that does nothing else."""

from __future__ import annotations

import hashlib
from functools import lru_cache

import numba
import numpy as np
import numpy.typing as npt

from orcalign.checks import require_count
from orcalign.encoders.protocol import Features, Frames, Progress, check_frames

CENTRE = 127.5
"""Between two byte values, so that no frame becomes the zero vector, which has no cosine."""
CHUNK = 64


def resize(frames: Frames, size: int | tuple[int, int]) -> Frames:
    """Stretch frames [T,H,W,3] to [T,size,size,3], or to (height, width).

    Bilinear, with a wider triangle when shrinking: every source pixel has its share in the result (antialiasing), as in
    Pillow's ``BILINEAR``. The sides are scaled separately: a crop could cut away the object that the video is about.

    >>> picture = np.array([[0, 0, 200, 200]] * 4, np.uint8)[None, :, :, None].repeat(3, axis=3)
    >>> resize(picture, 2)[0, :, :, 0].tolist()
    [[29, 171], [29, 171]]
    >>> resize(picture, 4) is picture
    True
    """
    check_frames(frames)
    T, H, W, _ = frames.shape
    height, width = size if isinstance(size, tuple) else (size, size)
    if (height, width) == (H, W):
        return frames
    rows, row_weights = triangle(H, height)
    columns, column_weights = triangle(W, width)
    out = np.empty((T, height, width, 3), np.uint8)
    _resample(np.ascontiguousarray(frames), rows, row_weights, columns, column_weights, out)
    return out


@lru_cache(maxsize=64)
def triangle(source: int, target: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
    """First source pixel [target] and weights [target,K] of a triangle filter along one side."""
    scale = source / target
    radius = max(scale, 1.0)
    centres = (np.arange(target) + 0.5) * scale
    first = np.maximum(np.floor(centres - radius + 0.5), 0).astype(np.int64)
    last = np.minimum(np.floor(centres + radius + 0.5), source).astype(np.int64)
    taps = int((last - first).max())
    first = np.minimum(first, source - taps)
    places = first[:, None] + np.arange(taps)
    weights = np.maximum(0.0, 1.0 - np.abs((places + 0.5 - centres[:, None]) / radius))
    weights /= weights.sum(axis=1, keepdims=True)
    return first, weights.astype(np.float32)


@numba.njit(cache=True, nogil=True)
def _resample(frames, rows, row_weights, columns, column_weights, out):  # type: ignore[no-untyped-def]
    T, _, W, _ = frames.shape
    line = np.empty(W * 3, np.float32)
    for t in range(T):
        for y in range(out.shape[1]):
            # Rows first: the inner loop runs over neighbouring bytes and is vectorised.
            line[:] = np.float32(0)
            for k in range(row_weights.shape[1]):
                weight = row_weights[y, k]
                source = frames[t, rows[y] + k].reshape(W * 3)
                for i in range(W * 3):
                    line[i] += weight * np.float32(source[i])
            for x in range(out.shape[2]):
                red = green = blue = np.float32(0.5)
                i = columns[x] * 3
                for k in range(column_weights.shape[1]):
                    weight = column_weights[x, k]
                    red += weight * line[i]
                    green += weight * line[i + 1]
                    blue += weight * line[i + 2]
                    i += 3
                out[t, y, x, 0] = np.uint8(min(red, np.float32(255)))
                out[t, y, x, 1] = np.uint8(min(green, np.float32(255)))
                out[t, y, x, 2] = np.uint8(min(blue, np.float32(255)))


class Pixels:
    """An `Encoder`: shrink to ``size`` × ``size`` RGB, from -1 to 1; pooled, the mean colour.

    The picture itself as its feature: no weights, no torch; for tests and toy worlds.

    >>> encoder = Pixels(size=4)
    >>> features = encoder(np.full((2, 8, 8, 3), 255, np.uint8))
    >>> features.shape, float(features.min())
    ((2, 48), 1.0)
    """

    name = "pixels"

    def __init__(self, size: int = 16, spatial: bool = True) -> None:
        self.size = require_count(size, "size", at_least=1)
        self.spatial = spatial
        self.dim = size * size * 3 if spatial else 3
        self.fingerprint = hashlib.sha256(f"pixels 1 {size} {spatial}".encode()).hexdigest()

    def __call__(self, frames: Frames, progress: Progress | None = None) -> Features:
        """Encode uint8 frames [T,H,W,3] into float32 features [T,D]."""
        out = np.empty((len(frames), self.dim), np.float32)
        for start in range(0, max(len(frames), 1), CHUNK):
            small = resize(frames[start : start + CHUNK], self.size).astype(np.float32)
            small = (small - np.float32(CENTRE)) / np.float32(CENTRE)
            places = small.reshape(-1, self.dim) if self.spatial else small.mean(axis=(1, 2))
            out[start : start + CHUNK] = places
            if progress is not None:
                progress(min(start + CHUNK, len(frames)))
        return out
