"""Frames as another recording's camera and light would have shown them, and in words what was corrected."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from orcalign.matching.kernel import kernel
from orcalign.video.alignment import Alignment, Similarity, align
from orcalign.video.light import LightField, gain, light_field, relight

Frames = npt.NDArray[np.uint8]

MEDIAN_OF = 15
"""Frames of which the background is the median."""
LONGEST = 160
"""Pixels of the longer side at which two cameras are compared."""
COARSER = 4
"""How much coarser light is looked at."""
SAME = 0.4
"""Pixels up to which a camera stands where it stood."""


@final
@dataclass(frozen=True, eq=False)
class Normalised:
    """What `normalise` makes of an episode."""

    frames: Frames
    """[T,H,W,3] As the reference's camera and light would have shown them."""
    seen: npt.NDArray[np.bool_]
    """[H,W] Where the episode's camera saw what is shown; the rest is the reference's background."""
    words: tuple[str, ...]
    """What was corrected, for people."""


def normalise(frames: Frames, reference: Frames) -> Normalised:
    """Bring an episode [T,H,W,3] to the camera and the light of a reference [J,h,w,3], such as a demo.

    Both must show one scene of which most stands still. A camera that moved, turned or zoomed by up to 12% is found on
    the temporal median of the frames; where the two do not agree, nothing is moved. Then a smooth field of light, and
    a gain for each frame. Deterministic; some 20 ms for an episode and 1 ms a frame of 240x180 pixels.

    >>> y, x = np.mgrid[:90, :120]
    >>> grey = 120 + 50 * np.sin(x / 5) * np.cos(y / 7) + 20 * np.sin((x + y * y / 40) / 9)
    >>> demo = (grey[..., None] * [1, 0.9, 0.8]).astype(np.uint8)[None].repeat(4, axis=0)
    >>> fixed = normalise((0.7 * np.roll(demo, 5, axis=2)).astype(np.uint8), demo)
    >>> fixed.words
    ('camera moved by 5 px: corrected', 'light 30% darker: corrected')
    >>> bool(np.abs(fixed.frames[0].astype(int) - demo[0])[:, 10:-10].mean() < 2)
    True
    """
    return Normaliser(reference)(frames)


@final
class Normaliser:
    """`normalise` for many episodes and one reference.

    >>> demo = np.random.default_rng(0).integers(0, 255, (5, 60, 80, 3), np.uint8)
    >>> Normaliser(demo)(demo).words
    ()
    """

    def __init__(self, reference: Frames) -> None:
        self._background = background(reference)

    def __call__(self, frames: Frames) -> Normalised:
        """[T,H,W,3] of any size, which it keeps; judged by all of them."""
        correction = self.correction(frames)
        out, gains = correction.apply(frames)
        return Normalised(out, correction.seen, (*correction.words, *flicker(gains)))

    def correction(self, frames: Frames) -> Correction:
        """What these frames [T,H,W,3] ask for: all of an episode, or the first few where the others are to come."""
        shown = background(frames)
        height, width = shown.shape[:2]
        own = shrink(self._background, height, width)
        if (own - shown).std() == 0 and (own == shown).all():
            return Correction(own, Similarity(), None, Alignment(Similarity(), 1.0, True))
        scale = max(1.0, max(height, width) / LONGEST)
        size = max(1, round(height / scale)), max(1, round(width / scale))
        small, reference = shrink(shown, *size), shrink(own, *size)
        found = align(small.mean(axis=2), reference.mean(axis=2))
        camera = found.similarity
        if camera.furthest(width, height) <= SAME:
            camera = Similarity()
        size = max(1, height // COARSER), max(1, width // COARSER)
        seen = np.ones((height, width), bool)
        moved = _warp(shown, camera, own, seen)
        # In another scene a difference says nothing about the light, apart from how bright it is in all.
        near = _whole(seen, size)
        field = light_field(shrink(moved, *size), shrink(own, *size), near) if found.trusted else None
        return Correction(own, camera, field, found)


@final
class Correction:
    """A camera and a light, found once for an episode and applied to its frames."""

    def __init__(
        self, reference: npt.NDArray[np.float32], camera: Similarity, field: LightField | None, found: Alignment
    ) -> None:
        self._reference, self.camera, self.found = reference, camera, found
        self.field = field
        height, width = reference.shape[:2]
        self._size = max(1, height // COARSER), max(1, width // COARSER)
        self.seen = np.ones((height, width), bool)
        _warp(reference, camera, reference, self.seen)
        self._coarse = shrink(reference, *self._size)
        self._coarse_seen = (
            shrink(self.seen.astype(np.float32)[..., None].repeat(3, axis=2), *self._size)[..., 0] > 0.99
        )
        self._factors = np.ones((1, 1, 3), np.float32) if field is None else np.exp(field.logs)
        # Between two scenes that do not agree, no pixel can be compared with any other.
        self._still = not found.trusted

    def apply(self, frames: Frames) -> tuple[Frames, npt.NDArray[np.float32]]:
        """Corrected frames [T,H,W,3] of the size that it was made for, and the gains [T,3] that each needed."""
        out = np.empty_like(frames)
        gains = np.ones((len(frames), 3), np.float32)
        for t, frame in enumerate(frames):
            picture = np.ascontiguousarray(frame)
            if self.camera != Similarity():
                picture = _warp(picture, self.camera, self._reference, self.seen)
            out[t] = picture
            if self._still:
                continue
            coarse = shrink(picture, *self._size)
            if self.field is not None:
                coarse = coarse * self._factors
            gains[t] = gain(coarse, self._coarse, self._coarse_seen)
            if self.field is not None or (gains[t] != 1).any():
                relight(out[t], self._factors, gains[t])
        # What the camera did not see is the reference's, whatever the light.
        if self.camera != Similarity():
            out[:, ~self.seen] = self._reference.round().astype(np.uint8)[~self.seen]
        return out, gains

    @property
    def words(self) -> tuple[str, ...]:
        """What was found of camera and light."""
        return self.told(self._reference.shape[1])

    def told(self, width: int) -> tuple[str, ...]:
        """The same, in pixels of a picture of this width."""
        if not self.found.trusted:
            return ("another camera or another scene: not corrected",)
        words = []
        shift, zoom, turn = self.camera.shift(width), self.camera.zoom, self.camera.turn
        if round(shift) >= 1:
            words.append(f"camera moved by {shift:.0f} px: corrected")
        if abs(zoom) >= 0.005:
            words.append(f"zoomed {'in' if zoom > 0 else 'out'} by {abs(zoom):.0%}: corrected")
        if abs(turn) >= 0.25:
            words.append(f"camera turned by {abs(turn):.1f} degrees: corrected")
        if self.field is not None:
            words += _light_words(self.field)
        return tuple(words)


def background(frames: Frames) -> npt.NDArray[np.float32]:
    """[H,W,3] The temporal median of frames [T,H,W,3], spread evenly over them.

    >>> background(np.array([0, 7, 7], np.uint8)[:, None, None, None].repeat(3, axis=3)).ravel().tolist()
    [7.0, 7.0, 7.0]
    """
    T = len(frames)
    if frames.ndim != 4 or frames.shape[3] != 3 or not T or frames.dtype != np.uint8:
        raise ValueError(f"frames are {frames.dtype} {frames.shape}; they must be uint8 [T,H,W,3], at least one.")
    chosen = np.unique(np.linspace(0, T - 1, min(MEDIAN_OF, T)).round().astype(np.int64))
    # An odd number has its middle among its values, so that the median stays a picture.
    chosen = chosen[: len(chosen) - (len(chosen) % 2 == 0)] if len(chosen) > 2 else chosen[:1]
    stack = list(frames[chosen])
    # Neighbours change places until all pixels are sorted: whole pictures at once, much faster than pixel by pixel.
    for k in range(len(stack)):
        for i in range(k % 2, len(stack) - 1, 2):
            stack[i], stack[i + 1] = np.minimum(stack[i], stack[i + 1]), np.maximum(stack[i], stack[i + 1])
    return np.asarray(stack[len(stack) // 2], np.float32)


def shrink(picture: npt.NDArray[Any], height: int, width: int) -> npt.NDArray[np.float32]:
    """A picture [H,W,3] at another size: means over what each pixel covers.

    >>> shrink(np.array([[[0, 0, 0], [9, 9, 9], [3, 3, 3]]], np.uint8), 1, 2)[0, :, 0].tolist()
    [3.0, 5.0]
    """
    if picture.shape[:2] == (height, width):
        return np.asarray(picture, np.float32)
    out = np.empty((height, width, 3), np.float32)
    _shrink(np.ascontiguousarray(picture), out)
    return out


def _whole(seen: npt.NDArray[np.bool_], size: tuple[int, int]) -> npt.NDArray[np.bool_]:
    """Where all that a coarse pixel covers was seen."""
    return np.asarray(shrink(seen.astype(np.float32)[..., None].repeat(3, axis=2), *size)[..., 0] > 0.99)


def _light_words(field: LightField) -> list[str]:
    overall = field.overall
    words, level = [], float(np.exp(-overall.mean()))
    if abs(level - 1) >= 0.05:
        words.append(f"light {abs(level - 1):.0%} {'brighter' if level > 1 else 'darker'}: corrected")
    if float(np.ptp(overall)) >= 0.05:
        words.append(f"colour of the light off by {math.expm1(float(np.ptp(overall))):.0%}: corrected")
    if field.uneven >= 0.15:
        words.append("light from another side: corrected")
    return words


def flicker(gains: npt.NDArray[np.float32]) -> tuple[str, ...]:
    """In words how much the light of the frames changes, by their gains [T, 3]; nothing if it hardly does."""
    spread = float(np.subtract(*np.percentile(np.log(gains.mean(axis=1)), [95, 5]))) / 2
    return (f"light that flickers by {spread:.0%}: corrected",) if spread >= 0.05 else ()


def _warp(picture: Any, camera: Similarity, filling: Any, seen: npt.NDArray[np.bool_]) -> Any:
    """A picture as the reference's camera would show it; `seen` is set to where it could be known."""
    if camera == Similarity():
        seen[:] = True
        return picture
    out = np.empty_like(picture)
    numbers = np.array([camera.right, camera.down, camera.along, camera.across])
    _warp_into(picture, numbers, filling, np.float32(0.5 if picture.dtype == np.uint8 else 0), out, seen)
    return out


@kernel
def _shrink(picture: Any, out: Any) -> None:
    """Area means: rows first, so that the inner loop runs over neighbours."""
    H, W = picture.shape[0], picture.shape[1]
    h, w = out.shape[0], out.shape[1]
    line = np.empty((W, 3), np.float32)
    for y in range(h):
        top, bottom = y * H / h, (y + 1) * H / h
        line[:] = 0
        row = int(top)
        while row < bottom - 1e-9:
            share = np.float32((min(row + 1.0, bottom) - max(float(row), top)) / (bottom - top))
            for x in range(W):
                for c in range(3):
                    line[x, c] += share * np.float32(picture[row, x, c])
            row += 1
        for x in range(w):
            left, right = x * W / w, (x + 1) * W / w
            red = green = blue = np.float32(0)
            column = int(left)
            while column < right - 1e-9:
                share = np.float32((min(column + 1.0, right) - max(float(column), left)) / (right - left))
                red += share * line[column, 0]
                green += share * line[column, 1]
                blue += share * line[column, 2]
                column += 1
            out[y, x, 0], out[y, x, 1], out[y, x, 2] = red, green, blue


@kernel
def _warp_into(picture: Any, numbers: Any, filling: Any, half: Any, out: Any, seen: Any) -> None:
    """Bilinear; whole pictures of bytes, for which half is 1/2 to round, or of floats."""
    H, W = picture.shape[0], picture.shape[1]
    right, down, along, across = numbers[0] * W, numbers[1] * W, numbers[2], numbers[3]
    cx, cy = 0.5 * (W - 1), 0.5 * (H - 1)
    for y in range(H):
        for x in range(W):
            u, v = x - cx, y - cy
            X, Y = (1 + along) * u - across * v + right + cx, across * u + (1 + along) * v + down + cy
            inside = 0 <= X <= W - 1 and 0 <= Y <= H - 1
            seen[y, x] = inside
            if not inside:
                for c in range(3):
                    out[y, x, c] = filling[y, x, c]
                continue
            i, k = min(int(Y), H - 2), min(int(X), W - 2)
            below, beside = np.float32(Y - i), np.float32(X - k)
            for c in range(3):
                a = picture[i, k, c] * (1 - beside) + picture[i, k + 1, c] * beside
                b = picture[i + 1, k, c] * (1 - beside) + picture[i + 1, k + 1, c] * beside
                out[y, x, c] = a + (b - a) * below + half
