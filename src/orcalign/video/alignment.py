"""How one camera stands to another: the similarity transform between two pictures of one static scene.

Both pictures are taken as logarithms of brightness without their slow part, so that neither exposure nor a lamp at the
side counts as motion. A robust Gauss-Newton method goes from coarse to fine. What it finds is believed only if most of
what has texture agrees with it, in several parts of the picture, better than before, and there and back.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt
from scipy.ndimage import gaussian_filter

from orcalign.matching.kernel import kernel

Picture = npt.NDArray[np.float32]

STEPS = 15
LEVELS = 3
FURTHEST = 0.12
"""Share of the picture, and angle in radians, beyond which a camera is another one."""
TEXTURE = 0.02
"""Change of the logarithm from pixel to pixel from which there is something to hold on to."""
BLOCKS = 5
"""Parts of the picture along each side that are asked for their agreement."""
AGREES = 0.5
"""Share of the texture that must agree."""


@final
@dataclass(frozen=True)
class Similarity:
    """Where a point of the reference lies in the other picture: x' = (1 + zoom) R(turn) x + shift, about the centre.

    Shifts are in shares of the width, so that it holds for pictures of any size.

    >>> Similarity(0.05, 0.0, 0.0, 0.0).furthest(200, 100)
    10.0
    """

    right: float = 0.0
    down: float = 0.0
    along: float = 0.0
    """(1 + zoom) cos(turn) - 1"""
    across: float = 0.0
    """(1 + zoom) sin(turn)"""

    @property
    def zoom(self) -> float:
        """How much larger things are in the other picture."""
        return math.hypot(1 + self.along, self.across) - 1

    @property
    def turn(self) -> float:
        """Degrees."""
        return math.degrees(math.atan2(self.across, 1 + self.along))

    def shift(self, width: int) -> float:
        """Pixels that the centre moves, in a picture of this width."""
        return math.hypot(self.right, self.down) * width

    def furthest(self, width: int, height: int) -> float:
        """Pixels that the corner that moves most moves."""
        x, y = np.array([-0.5, 0.5, -0.5, 0.5]) * width, np.array([-0.5, -0.5, 0.5, 0.5]) * height
        moved = np.hypot(
            self.right * width + self.along * x - self.across * y,
            self.down * width + self.across * x + self.along * y,
        )
        return float(moved.max())

    def after(self, first: Similarity) -> Similarity:
        """`first`, and then this one.

        >>> there = Similarity(0.1, 0.0, 0.02, 0.01)
        >>> back = there.inverse()
        >>> there.after(back).furthest(100, 100) < 1e-9
        True
        """
        a, b = complex(1 + self.along, self.across), complex(1 + first.along, first.across)
        shift = a * complex(first.right, first.down) + complex(self.right, self.down)
        whole = a * b
        return Similarity(shift.real, shift.imag, whole.real - 1, whole.imag)

    def inverse(self) -> Similarity:
        """The way back."""
        a = 1 / complex(1 + self.along, self.across)
        shift = -a * complex(self.right, self.down)
        return Similarity(shift.real, shift.imag, a.real - 1, a.imag)


@final
@dataclass(frozen=True)
class Alignment:
    """What `align` found."""

    similarity: Similarity
    """The identity where nothing was found that can be believed."""
    agreement: float
    """Share of the texture that agrees under it."""
    trusted: bool
    """Whether the two pictures show one scene: agreement of at least a half, moved or not."""


def align(picture: Picture, reference: Picture) -> Alignment:
    """Find the similarity under which `picture` shows what `reference` does; both brightness [h,w] from 0 to 255.

    About 160 pixels along the longer side are enough; then it takes some 10 ms.

    >>> y, x = np.mgrid[:90, :120].astype(np.float32)
    >>> scene = lambda x, y: 90 + 40 * np.sin(x / 5) * np.cos(y / 7) + 20 * np.sin((x + y * y / 40) / 9)
    >>> found = align(scene(x - 4, y + 2), scene(x, y))
    >>> found.trusted, round(found.similarity.right * 120, 1), round(found.similarity.down * 120, 1)
    (True, 4.0, -2.0)
    """
    there, here = _pyramid(_texture(picture)), _pyramid(_texture(reference))
    still = _judge(there[-1], here[-1], np.zeros(4))
    alone = Alignment(Similarity(), still.share, still.share >= AGREES)
    found = _descend(there, here)
    if found is None:
        return alone
    moved = _judge(there[-1], here[-1], found)
    width, height = reference.shape[1], reference.shape[0]
    similarity = _similarity(found, width)
    if not moved.better_than(still) or similarity.furthest(width, height) < 0.15:
        return alone
    back = _descend(here, there)
    if back is None or similarity.after(_similarity(back, width)).furthest(width, height) > 0.01 * max(width, height):
        return alone
    return Alignment(similarity, moved.share, True)


@final
@dataclass(frozen=True)
class _Agreement:
    """How much of the texture agrees, in all and in each of the parts of a picture that have any."""

    share: float
    parts: npt.NDArray[np.float64]
    """[BLOCKS, BLOCKS] NaN where there is no texture."""

    def better_than(self, other: _Agreement) -> bool:
        """Whether enough agrees, and more than under the other, in parts that lie in different rows and columns."""
        gain = self.parts - other.parts
        won, lost = gain > 0.1, gain < -0.1
        spread = won.any(axis=0).sum() >= 3 and won.any(axis=1).sum() >= 3
        return bool(self.share >= max(AGREES, other.share + 0.02) and spread and won.sum() >= 3 * lost.sum())


def _similarity(p: npt.NDArray[np.float64], width: int) -> Similarity:
    return Similarity(float(p[0] / width), float(p[1] / width), float(p[2]), float(p[3]))


def _texture(picture: Picture) -> Picture:
    """The logarithm without its slow part; 12 keeps the noise of dark places small."""
    logs = np.log(picture.astype(np.float32) + 12)
    return np.asarray(logs - gaussian_filter(logs, max(picture.shape) / 12, truncate=2.5), np.float32)


def _pyramid(picture: Picture) -> list[Picture]:
    """Coarse to fine."""
    levels = [gaussian_filter(picture, 0.7, truncate=3.0)]
    while len(levels) < LEVELS and min(levels[-1].shape) >= 24:
        blurred = gaussian_filter(levels[-1], 0.7, truncate=3.0)
        h, w = (side // 2 * 2 for side in blurred.shape)
        levels.append(blurred[:h, :w].reshape(h // 2, 2, w // 2, 2).mean(axis=(1, 3)))
    return levels[::-1]


def _descend(there: list[Picture], here: list[Picture]) -> npt.NDArray[np.float64] | None:
    """Gauss-Newton from the coarsest level on: right, down (pixels of the finest), along, across; None if it fails."""
    p, light = np.zeros(4), np.array([1.0, 0.0])
    p[:2] = _best_shift(there[0], here[0], math.ceil(FURTHEST * max(here[0].shape)))
    p[:2] *= 2.0 ** (len(here) - 1)
    for level, (picture, reference) in enumerate(zip(there, here, strict=True)):
        finer = 2.0 ** (len(here) - 1 - level)
        p[:2] /= finer
        slopes = np.gradient(picture)
        images = np.stack([picture, slopes[1], slopes[0]])
        residuals = np.empty(reference.size, np.float32)
        for _ in range(STEPS):
            seen = _residuals(images, reference, p, light, residuals)
            if seen < 64:
                return None
            # A twentieth of the pixels, spread evenly, has the same median.
            spread = float(np.median(np.abs(residuals[: seen : 1 + seen // 2000])))
            H, g = np.zeros((6, 6)), np.zeros(6)
            _normal_equations(images, reference, p, light, 2 * (1.4826 * spread + 0.004), H, g)
            # Slopes of nothing are no direction: a little more on the diagonal keeps those parameters where they are.
            ridge = np.diag(H) * 1e-4 + np.array([1.0, 1.0, seen, seen, 1.0, 1.0]) * 1e-4
            try:
                step = np.linalg.solve(H + np.diag(ridge), g)
            except np.linalg.LinAlgError:
                return None
            p, light = p + step[:4], light + step[4:]
            if not np.isfinite(p).all() or np.abs(p[:2]).max() > FURTHEST * reference.shape[1] + 1:
                return None
            if np.abs(step[:2]).max() < 0.02 and np.abs(step[2:4]).max() * reference.shape[1] < 0.04:
                break
        p[:2] *= finer
    far = np.abs(p[:2]).max() > FURTHEST * here[-1].shape[1] or np.abs(p[2:]).max() > FURTHEST
    return None if far or not 0.4 < light[0] < 2.5 else p


def _judge(picture: Picture, reference: Picture, p: npt.NDArray[np.float64]) -> _Agreement:
    slopes, own = np.gradient(picture), np.gradient(reference)
    images = np.stack([picture, slopes[1], slopes[0]])
    counts = np.zeros((2, BLOCKS, BLOCKS))
    _agreement(images, reference, np.hypot(*own).astype(np.float32), p, counts)
    agreeing, textured = counts
    enough = textured >= 12
    parts = np.where(enough, agreeing / np.maximum(textured, 1), np.nan)
    total = textured.sum()
    return _Agreement(float(agreeing.sum() / total) if total >= 60 else 0.0, parts)


@kernel
def _place(x: Any, y: Any, p: Any, h: int, w: int) -> Any:
    """Where pixel (x, y) of the reference lies in the other picture."""
    cx, cy = 0.5 * (w - 1), 0.5 * (h - 1)
    u, v = x - cx, y - cy
    return (1 + p[2]) * u - p[3] * v + p[0] + cx, p[3] * u + (1 + p[2]) * v + p[1] + cy


@kernel
def _between(image: Any, X: Any, Y: Any) -> Any:
    """Bilinear value of an image [h,w] at a place inside it."""
    x, y = int(X), int(Y)
    fx, fy = X - x, Y - y
    above = image[y, x] * (1 - fx) + image[y, x + 1] * fx
    below = image[y + 1, x] * (1 - fx) + image[y + 1, x + 1] * fx
    return above * (1 - fy) + below * fy


@kernel
def _best_shift(picture: Any, reference: Any, reach: int) -> Any:
    """Whole pixels right and down at which most agrees: where Gauss-Newton begins, so that waves do not mislead it."""
    h, w = reference.shape
    spread = np.abs(reference).mean() + 0.004
    best, right, down = np.inf, 0, 0
    for dy in range(-reach, reach + 1):
        for dx in range(-reach, reach + 1):
            total, count = 0.0, 0
            for y in range(max(0, -dy), min(h, h - dy)):
                for x in range(max(0, -dx), min(w, w - dx)):
                    total += min(abs(reference[y, x] - picture[y + dy, x + dx]), 2 * spread)
                    count += 1
            # A little more for a longer way: where nothing tells them apart, the camera did not move.
            mean = total / max(count, 1) + 1e-4 * spread * (dx * dx + dy * dy)
            if mean < best:
                best, right, down = mean, dx, dy
    return right, down


@kernel
def _residuals(images: Any, reference: Any, p: Any, light: Any, out: Any) -> int:
    """What the pixels that both pictures see differ by; returns how many those are."""
    h, w = reference.shape
    count = 0
    for y in range(h):
        for x in range(w):
            X, Y = _place(x, y, p, h, w)
            if 1 <= X < w - 2 and 1 <= Y < h - 2:
                out[count] = reference[y, x] - light[0] * _between(images[0], X, Y) - light[1]
                count += 1
    return count


@kernel
def _normal_equations(images: Any, reference: Any, p: Any, light: Any, limit: Any, H: Any, g: Any) -> None:
    """H [6,6] and g [6] of the weighted least squares; what is far beyond the limit hardly counts."""
    h, w = reference.shape
    J = np.empty(6)
    for y in range(h):
        for x in range(w):
            X, Y = _place(x, y, p, h, w)
            if not (1 <= X < w - 2 and 1 <= Y < h - 2):
                continue
            value = _between(images[0], X, Y)
            J[0], J[1] = light[0] * _between(images[1], X, Y), light[0] * _between(images[2], X, Y)
            u, v = x - 0.5 * (w - 1), y - 0.5 * (h - 1)
            J[2], J[3] = J[0] * u + J[1] * v, J[1] * u - J[0] * v
            J[4], J[5] = value, 1.0
            r = reference[y, x] - light[0] * value - light[1]
            weight = 1 / (1 + (r / limit) ** 2) ** 2
            for i in range(6):
                weighted = weight * J[i]
                g[i] += weighted * r
                for j in range(i + 1):
                    H[i, j] += weighted * J[j]
    for i in range(6):
        for j in range(i):
            H[j, i] = H[i, j]


@kernel
def _agreement(images: Any, reference: Any, slope: Any, p: Any, counts: Any) -> None:
    """Count, part by part, pixels with texture in either picture, and those whose difference half a pixel explains."""
    h, w = reference.shape
    size = counts.shape[1]
    for y in range(h):
        for x in range(w):
            X, Y = _place(x, y, p, h, w)
            if not (1 <= X < w - 2 and 1 <= Y < h - 2):
                continue
            steep = max(slope[y, x], np.hypot(_between(images[1], X, Y), _between(images[2], X, Y)))
            if steep < TEXTURE:
                continue
            row, column = y * size // h, x * size // w
            counts[1, row, column] += 1
            counts[0, row, column] += abs(reference[y, x] - _between(images[0], X, Y)) <= 0.5 * steep + 0.02
