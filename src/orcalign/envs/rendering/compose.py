"""What moves, drawn in front of what stands still, and several samples made one pixel."""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

Frame = npt.NDArray[np.uint8]
Depth = npt.NDArray[np.float32]


def compose(
    front: Frame, near: Depth, back: Frame, far: Depth, behind: Frame, fine: int, flip: bool
) -> Frame:
    """The nearer of two pictures [S*fine,S*fine,3] at each sample, then the mean of each pixel's: [S,S,3].

    The first row given is at the bottom, as OpenGL has it, and stays there if `flip`. `behind` is `back`, shrunk with
    the same `fine` and `flip`: most of a picture is background, and is taken from there.

    >>> red, blue = np.zeros((2, 2, 3), np.uint8), np.zeros((2, 2, 3), np.uint8)
    >>> red[..., 0] = blue[..., 2] = 200
    >>> near, far = np.array([[0, 1], [0, 1]], np.float32), np.full((2, 2), 0.5, np.float32)
    >>> compose(red, near, blue, far, shrink(blue, 2, False), 2, False).tolist()
    [[[100, 0, 100]]]
    >>> compose(red, near, blue, far, shrink(blue, 1, False), 1, False)[0].tolist()
    [[200, 0, 0], [0, 0, 200]]
    """
    out = np.empty_like(behind)
    _compose(front, near, back, far, behind, fine, flip, out)
    return out


def shrink(picture: Frame, fine: int, flip: bool) -> Frame:
    """The mean of each pixel's samples, [S*fine,S*fine,3] to [S,S,3].

    >>> shrink(np.array([[[0] * 3, [9] * 3], [[0] * 3, [9] * 3]], np.uint8), 2, False).tolist()
    [[[5, 5, 5]]]
    """
    side = len(picture) // fine
    out = np.empty((side, side, 3), np.uint8)
    _shrink(picture, fine, flip, out)
    return out


@numba.njit(cache=True, nogil=True)
def _compose(front, near, back, far, behind, fine, flip, out):  # type: ignore[no-untyped-def]
    side = out.shape[0]
    count = np.uint32(fine * fine)
    for y in range(side):
        row = y if flip else side - 1 - y
        for x in range(side):
            covered = False
            for i in range(y * fine, (y + 1) * fine):
                for j in range(x * fine, (x + 1) * fine):
                    covered |= near[i, j] < far[i, j]
            if not covered:
                for channel in range(3):
                    out[row, x, channel] = behind[row, x, channel]
                continue
            red = green = blue = count // np.uint32(2)
            for i in range(y * fine, (y + 1) * fine):
                for j in range(x * fine, (x + 1) * fine):
                    # Branch by branch: choosing the array instead takes three times as long.
                    if near[i, j] < far[i, j]:
                        red += front[i, j, 0]
                        green += front[i, j, 1]
                        blue += front[i, j, 2]
                    else:
                        red += back[i, j, 0]
                        green += back[i, j, 1]
                        blue += back[i, j, 2]
            out[row, x, 0] = red // count
            out[row, x, 1] = green // count
            out[row, x, 2] = blue // count


@numba.njit(cache=True, nogil=True)
def _shrink(picture, fine, flip, out):  # type: ignore[no-untyped-def]
    side = out.shape[0]
    count = np.uint32(fine * fine)
    for y in range(side):
        row = y if flip else side - 1 - y
        for x in range(side):
            for channel in range(3):
                total = count // np.uint32(2)
                for i in range(y * fine, (y + 1) * fine):
                    for j in range(x * fine, (x + 1) * fine):
                        total += picture[i, j, channel]
                out[row, x, channel] = total // count
