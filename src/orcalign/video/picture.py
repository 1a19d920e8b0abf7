"""One decoded picture → upright RGB uint8 [H,W,3] → cropped and resized.

Transparent pixels are laid over black. High bit depths are scaled to 8 bits; HDR is not tone-mapped.
Pixels are taken as stored: a non-square pixel aspect ratio is ignored. Where a video stores fewer colour than
brightness samples, as most do, each colour sample is used for the pixels it stands for, without interpolation:
that is faster and coarser at coloured edges.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orcalign.video.timeline import VideoOptions

if TYPE_CHECKING:
    from av import VideoFrame

# Up to 8192 x 8192: a corrupt header may claim any size, and the claim alone must not take the memory.
LARGEST_PICTURE = 2**26
_UNSPECIFIED_COLOURS = 2
_HD_HEIGHT = 720


def check_area(width: int, height: int, source: str) -> None:
    """Refuse a picture size that no real video has."""
    if width * height > LARGEST_PICTURE:
        raise ValueError(
            f"{source!r} claims frames of {width}x{height} pixels, more than {LARGEST_PICTURE} in all; "
            "the file is damaged or must be scaled down first."
        )


def to_rgb(frame: "VideoFrame", turn: "Turn", options: VideoOptions) -> NDArray[np.uint8]:
    """Upright RGB picture [H,W,3] of a decoded frame, whatever its pixel format or transparency.

    Where the options shrink it, it is shrunk on the way, which is much faster than afterwards; `fit` does the rest.
    """
    from av.video.reformatter import Colorspace, Interpolation

    # The scaler's bit-exact code: the same file should give the same frames on every CPU.
    flags = Interpolation.BITEXACT
    height, width = _shrunk(frame.height, frame.width, turn, options)
    same = (height, width) == (frame.height, frame.width)
    flags |= Interpolation.BILINEAR if same else Interpolation.AREA
    # HD video that does not name its colours is BT.709 by the convention of all players.
    guess_hd = frame.colorspace == _UNSPECIFIED_COLOURS and frame.height >= _HD_HEIGHT
    space = Colorspace.ITU709 if guess_hd else None
    alpha = frame.format.has_palette or any(component.is_alpha for component in frame.format.components)
    target = "rgba" if alpha else "rgb24"
    converted = frame.reformat(
        width=width, height=height, format=target, src_colorspace=space, interpolation=flags, threads=1
    )
    pixels = np.asarray(converted.to_ndarray(), dtype=np.uint8)
    if alpha:
        colour, opacity = pixels[..., :3], pixels[..., 3:]
        whole = opacity.min() == 255
        pixels = colour if whole else ((colour.astype(np.uint16) * opacity + 127) // 255).astype(np.uint8)
    return turn.apply(pixels)


def _shrunk(height: int, width: int, turn: "Turn", options: VideoOptions) -> tuple[int, int]:
    """Stored height and width to convert a picture at: not above its own, and so that `fit` need not scale."""
    if turn.swap:
        upright = _shrunk(width, height, Turn(), options)
        return upright[1], upright[0]
    if not options.centre_crop:
        goal = options.fitted(height, width)
        return goal if goal[0] <= height and goal[1] <= width else (height, width)
    side = min(height, width)
    goal = options.fitted(side, side)
    if goal[0] != goal[1] or goal[0] >= side:
        return height, width
    # The square that is cut out afterwards must have its size and parity, so that it is still the centre.
    scale = goal[0] / side
    long = max(height, width)
    longer = goal[0] + 2 * round((long * scale - goal[0]) / 2)
    return (goal[0], longer) if height <= width else (longer, goal[0])


class Turn(NamedTuple):
    """How to bring a stored picture upright: swap the axes first, then flip rows and columns."""

    swap: bool = False
    flip_rows: bool = False
    flip_columns: bool = False

    def apply(self, rgb: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Turn a picture [H,W,3]."""
        turned = rgb.swapaxes(0, 1) if self.swap else rgb
        return turned[:: -1 if self.flip_rows else 1, :: -1 if self.flip_columns else 1]


_QUARTERS = (Turn(), Turn(True, True, False), Turn(False, True, True), Turn(True, False, True))


def turn_of(frame: "VideoFrame") -> Turn:
    """The quarter turn or mirroring that the frame's metadata asks for.

    Ask once a stream: PyAV ties a frame whose side data was looked at to itself, and it then lives on until
    the next sweep of the garbage collector.
    """
    try:
        entry: Any = frame.side_data.get("DISPLAYMATRIX")
    except ValueError:
        # PyAV cannot list side data of a kind it has no name for (EXIF); the angle alone it can still tell.
        return _QUARTERS[round(frame.rotation / 90) % 4]
    matrix = b"" if entry is None else bytes(entry)
    if len(matrix) < 36:
        return Turn()
    # Row vectors (x, y, 1) times this matrix give display coordinates; only quarter turns and mirrors count.
    a, b, _, c, d = (int(v) for v in np.frombuffer(matrix, dtype="=i4")[:5])
    if abs(b) + abs(c) > abs(a) + abs(d):
        return Turn(True, b < 0, c < 0)
    return Turn(False, d < 0, a < 0)


def fit(rgb: NDArray[np.uint8], options: VideoOptions) -> NDArray[np.uint8]:
    """Centre crop and resize [H,W,3] as the options say; area averaging down, bicubic up.

    >>> fit(np.zeros((48, 64, 3), np.uint8), VideoOptions(size=(10, 20))).shape
    (10, 20, 3)
    >>> fit(np.zeros((48, 64, 3), np.uint8), VideoOptions(centre_crop=True)).shape
    (48, 48, 3)
    """
    height, width = rgb.shape[:2]
    if options.centre_crop and height != width:
        side = min(height, width)
        top, left = (height - side) // 2, (width - side) // 2
        rgb = rgb[top : top + side, left : left + side]
    if options.mirror:
        rgb = rgb[:, ::-1]
    rgb = np.ascontiguousarray(rgb)
    goal = options.fitted(*rgb.shape[:2])
    if goal == rgb.shape[:2]:
        return rgb
    from av import VideoFrame
    from av.video.reformatter import Interpolation

    shrinks = goal[0] * goal[1] < rgb.shape[0] * rgb.shape[1]
    kind = Interpolation.AREA if shrinks else Interpolation.BICUBIC
    # The scaler works on YUV inside and halves the colour resolution of RGB without the full-chroma flags.
    full = Interpolation.FULL_CHR_H_INP | Interpolation.FULL_CHR_H_INT
    flags = kind | full | Interpolation.ACCURATE_RND | Interpolation.BITEXACT
    frame = VideoFrame.from_ndarray(rgb, format="rgb24")
    frame = frame.reformat(width=goal[1], height=goal[0], interpolation=flags, threads=1)
    return np.ascontiguousarray(frame.to_ndarray(), dtype=np.uint8)
