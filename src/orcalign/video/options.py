"""What part of a video to read, and in which shape."""

import math
from dataclasses import dataclass

LARGEST_SIDE = 8192


def _finite(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{name}={value!r} is not a finite number; give seconds or rates as plain numbers.")
    return float(value)


@dataclass(frozen=True)
class VideoOptions:
    """Trim, frame rate, picture size and safety limits for reading a video.

    >>> VideoOptions(start=1.0, end=3.0, fps=10, size=224).height_width
    (224, 224)
    >>> VideoOptions(fps=0)
    Traceback (most recent call last):
    ...
    ValueError: fps=0 must be above 0; leave it out to keep the video's own frames.
    """

    start: float = 0.0
    """Seconds from the beginning of the video at which reading starts."""
    end: float | None = None
    """Seconds at which reading stops (exclusive); None, or a time after the last frame, reads to the end."""
    fps: float | None = None
    """Resample to this rate: output k is the frame on screen at start + k/fps. None keeps every frame."""
    size: int | tuple[int, int] | None = None
    """Resize to a square of this side, or to (height, width). None keeps the size of the video."""
    longest: int | None = None
    """Shrink the picture until its longer side has at most this many pixels; its shape is kept."""
    centre_crop: bool = False
    """Cut the largest centred square out of the picture before resizing."""
    max_frames: int = 3000
    """Most frames that may be kept; more is an error, before decoding where the file tells its length."""
    max_bytes: int = 4 * 2**30
    """Most memory the kept frames of `read_video` may take; `iter_frames` holds one frame and ignores it."""
    still_fps: float = 10.0
    """Rate assumed for sources that carry none: a folder of images, or an npz without `fps`."""
    allow_truncated: bool = False
    """Keep the frames before the damage of a cut-off or corrupt file instead of raising an error."""

    def __post_init__(self) -> None:
        if _finite("start", self.start) < 0:
            raise ValueError(f"start={self.start} is negative; give seconds from the beginning of the video.")
        if self.end is not None and _finite("end", self.end) <= self.start:
            raise ValueError(f"end={self.end} must be after start={self.start}; swap or widen them.")
        if self.fps is not None and _finite("fps", self.fps) <= 0:
            raise ValueError(f"fps={self.fps} must be above 0; leave it out to keep the video's own frames.")
        if _finite("still_fps", self.still_fps) <= 0:
            raise ValueError(f"still_fps={self.still_fps} must be above 0; 10 is the default.")
        for name in ("max_frames", "max_bytes"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name}={value!r} must be a whole number of at least 1.")
        if self.longest is not None:
            if self.size is not None:
                raise ValueError(
                    f"size={self.size!r} and longest={self.longest!r} exclude each other; give one."
                )
            whole = isinstance(self.longest, int) and not isinstance(self.longest, bool)
            if not whole or not 1 <= self.longest <= LARGEST_SIDE:
                raise ValueError(
                    f"longest={self.longest!r} must be a whole number between 1 and {LARGEST_SIDE}."
                )
        if self.size is not None:
            sides = self.size if isinstance(self.size, tuple) else (self.size, self.size)
            whole = all(isinstance(side, int) and not isinstance(side, bool) for side in sides)
            if len(sides) != 2 or not whole or not all(1 <= side <= LARGEST_SIDE for side in sides):
                raise ValueError(
                    f"size={self.size!r} must be one whole number or (height, width), "
                    f"each between 1 and {LARGEST_SIDE}."
                )

    @property
    def height_width(self) -> tuple[int, int] | None:
        """Target (height, width) of `size`, or None."""
        if self.size is None or isinstance(self.size, tuple):
            return self.size
        return (self.size, self.size)

    def fitted(self, height: int, width: int) -> tuple[int, int]:
        """Height and width that a cropped picture of this size is brought to.

        >>> VideoOptions(longest=320).fitted(1080, 1920)
        (180, 320)
        """
        if self.height_width is not None:
            return self.height_width
        if self.longest is None or max(height, width) <= self.longest:
            return height, width
        scale = self.longest / max(height, width)
        return max(1, round(height * scale)), max(1, round(width * scale))
