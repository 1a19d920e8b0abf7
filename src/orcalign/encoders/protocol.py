"""What every encoder promises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

Frames: TypeAlias = npt.NDArray[np.uint8]
"""Pictures [T,H,W,3], RGB."""
Features: TypeAlias = npt.NDArray[np.float32]
"""One row a picture, [T,D]."""
Progress: TypeAlias = Callable[[int], None]
"""Called with the number of frames done so far, from the calling thread, never decreasing."""


class FeatureSink(Protocol):
    """Where an engine puts features: an array [T,D], or something that grows."""

    def __setitem__(self, place: slice, features: Features, /) -> None:
        """Take the features [B,D] of frames place.start to place.stop."""


@runtime_checkable
class Encoder(Protocol):
    """Frames [T,H,W,3] to features [T,D].

    Frames of any height and width are stretched to ``size`` × ``size`` pixels (see `resize`), so nothing is
    cropped away. Row t depends on frame t alone: batch size and neighbours change nothing.

    >>> from orcalign.encoders import make_encoder
    >>> encoder = make_encoder("pixels")
    >>> encoder(np.zeros((5, 48, 64, 3), np.uint8)).shape == (5, encoder.dim)
    True
    """

    name: str
    """The name in the registry."""
    size: int
    """Height and width in pixels that the network sees."""
    spatial: bool
    """True when D is a flattened map with places, False when places were pooled away."""
    dim: int
    """D, the length of a feature."""
    fingerprint: str
    """Hex digest of weights, settings and engine: equal fingerprints give equal features."""

    def __call__(self, frames: Frames, progress: Progress | None = None) -> Features:
        """Encode uint8 frames [T,H,W,3] into float32 features [T,D]."""


def check_frames(frames: Frames) -> None:
    """Refuse anything but uint8 [T,H,W,3] with at least one pixel.

    >>> check_frames(np.zeros((8, 8, 3), np.uint8))
    Traceback (most recent call last):
    ...
    ValueError: Frames have shape (8, 8, 3), but an encoder takes [T,H,W,3]: a single picture is frames[None].
    """
    if frames.dtype != np.uint8:
        unit = "if yours go from 0 to 1, use (frames * 255).round().astype('uint8')"
        raise ValueError(
            f"Frames are {frames.dtype}, but an encoder takes uint8 values from 0 to 255: "
            f"{unit if frames.dtype.kind == 'f' else 'scale yours first'}."
        )
    if frames.ndim != 4 or frames.shape[3] != 3 or 0 in frames.shape[1:3]:
        raise ValueError(
            f"Frames have shape {frames.shape}, but an encoder takes [T,H,W,3]: a single picture is frames[None]."
        )
