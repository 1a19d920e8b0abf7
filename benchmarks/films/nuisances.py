"""What differs between two recordings of the same thing, and means nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt
from scipy.ndimage import affine_transform

from benchmarks.films.family import Frames

Nuisance = Callable[[Frames], Frames]


def _light(factor: npt.ArrayLike) -> Nuisance:
    return lambda frames: (frames * np.asarray(factor, np.float32)).clip(0, 255).astype(np.uint8)


def flicker(frames: Frames) -> Frames:
    """Every frame 10% lighter or darker, as under a lamp at another frequency."""
    gains = 1 + 0.1 * np.sin(1.9 * np.arange(len(frames)))
    return (frames * gains[:, None, None, None].astype(np.float32)).clip(0, 255).astype(np.uint8)


def _camera(right: float = 0.0, down: float = 0.0, zoom: float = 0.0, turn: float = 0.0) -> Nuisance:
    """Shifts are of a picture 320 pixels wide; what comes into view is drawn out from the edge."""
    angle = np.deg2rad(turn)
    matrix = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]]) / (1 + zoom)

    def apply(frames: Frames) -> Frames:
        height, width = frames.shape[1:3]
        centre = np.array([height - 1, width - 1]) / 2
        offset = centre - matrix @ (centre + np.array([down, right]) * width / 320)
        out = np.empty_like(frames)
        for t in range(len(frames)):
            for c in range(3):
                out[t, :, :, c] = affine_transform(frames[t, :, :, c], matrix, offset, order=1, mode="nearest")
        return out

    return apply


def variable(frames: Frames) -> Frames:
    """Frames dropped and doubled irregularly, by a seventh of the film at a time."""
    T = len(frames)
    steps = np.where((np.arange(T) * 7 // T) % 2 == 0, 2, 0.5)
    return frames[np.minimum(np.cumsum(steps).astype(int) * T // int(np.cumsum(steps)[-1] + 1), T - 1)]


def pause(frames: Frames) -> Frames:
    """Rests for a third of its length after 40%."""
    at = int(0.4 * len(frames))
    return np.concatenate([frames[:at], np.repeat(frames[at : at + 1], len(frames) // 3, axis=0), frames[at:]])


def portrait(frames: Frames) -> Frames:
    """A phone held upright: three by four, with more above and below."""
    height, width = frames.shape[1:3]
    more = (width * 4 // 3 - height) // 2
    return np.pad(frames, ((0, 0), (more, more), (0, 0), (0, 0)), mode="edge")


NUISANCES: Mapping[str, Nuisance] = {
    "light 30% down": _light(0.7),
    "light 30% up": _light(1.3),
    "tint": _light([1.15, 1.0, 0.85]),
    "flicker": flicker,
    "camera 10 px": _camera(right=8, down=-6),
    "zoom 3%": _camera(zoom=0.03),
    "rotation 2 degrees": _camera(turn=2),
    "doubled frame rate": lambda frames: np.repeat(frames, 2, axis=0),
    "variable frame rate": variable,
    "pause": pause,
    "speed": lambda frames: frames[::2],
    "portrait": portrait,
}
"""Name to what it makes of a film; a film that is upright is compared with a demo that is, too."""
