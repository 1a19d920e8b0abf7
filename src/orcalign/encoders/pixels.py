"""The picture itself as its feature: no weights, no torch; for tests and toy worlds."""

from __future__ import annotations

import hashlib

import numpy as np

from orcalign.encoders.protocol import Features, Frames, Progress
from orcalign.encoders.resize import resize

CENTRE = 127.5
"""Between two byte values, so that no frame becomes the zero vector, which has no cosine."""
CHUNK = 64


class Pixels:
    """An `Encoder`: shrink to ``size`` × ``size`` RGB, from -1 to 1; pooled, the mean colour.

    >>> encoder = Pixels(size=4)
    >>> features = encoder(np.full((2, 8, 8, 3), 255, np.uint8))
    >>> features.shape, float(features.min())
    ((2, 48), 1.0)
    >>> Pixels(size=4, spatial=False).dim
    3
    """

    name = "pixels"

    def __init__(self, size: int = 16, spatial: bool = True) -> None:
        if size < 1:
            raise ValueError(f"The size is {size}, but a picture has at least 1 pixel a side: use 16.")
        self.size = size
        self.spatial = spatial
        self.dim = size * size * 3 if spatial else 3
        self.fingerprint = hashlib.sha256(f"pixels 1 {size} {spatial}".encode()).hexdigest()

    def __call__(self, frames: Frames, progress: Progress | None = None) -> Features:
        """Encode uint8 frames [T,H,W,3] into float32 features [T,D]."""
        out = np.empty((len(frames), self.dim), np.float32)
        for start in range(0, max(len(frames), 1), CHUNK):
            small = resize(frames[start : start + CHUNK], self.size).astype(np.float32)
            small = (small - np.float32(CENTRE)) / np.float32(CENTRE)
            out[start : start + CHUNK] = (
                small.reshape(-1, self.dim) if self.spatial else small.mean(axis=(1, 2))
            )
            if progress is not None:
                progress(min(start + CHUNK, len(frames)))
        return out
