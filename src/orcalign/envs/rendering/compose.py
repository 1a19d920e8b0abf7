"""What moves, drawn in front of what stands still, and several samples made one pixel."""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

Frame = npt.NDArray[np.uint8]
Depth = npt.NDArray[np.float32]


def compose(front: Frame, near: Depth, back: Frame, far: Depth, fine: int, flip: bool) -> Frame:
    """The nearer of two pictures [S*fine,S*fine,3] at each sample, then the mean of each pixel's: [S,S,3].

    The first row given is at the bottom, as OpenGL has it, and stays there if `flip`.

    >>> red, blue = np.zeros((2, 2, 3), np.uint8), np.zeros((2, 2, 3), np.uint8)
    >>> red[..., 0] = blue[..., 2] = 200
    >>> near, far = np.array([[0, 1], [0, 1]], np.float32), np.full((2, 2), 0.5, np.float32)
    >>> compose(red, near, blue, far, 2, False).tolist()
    [[[100, 0, 100]]]
    >>> compose(red, near, blue, far, 1, False)[0].tolist()
    [[200, 0, 0], [0, 0, 200]]
    """
    side = len(front) // fine
    out = np.empty((side, side, 3), np.uint8)
    _compose(front, near, back, far, fine, flip, out)
    return out


def shrink(picture: Frame, fine: int, flip: bool) -> Frame:
    """The mean of each pixel's samples, [S*fine,S*fine,3] to [S,S,3].

    >>> shrink(np.array([[[0] * 3, [9] * 3], [[0] * 3, [9] * 3]], np.uint8), 2, False).tolist()
    [[[5, 5, 5]]]
    """
    depth = np.zeros(picture.shape[:2], np.float32)
    return compose(picture, depth, picture, depth, fine, flip)


@numba.njit(cache=True, nogil=True)
def _compose(front, near, back, far, fine, flip, out):  # type: ignore[no-untyped-def]
    side = out.shape[0]
    count = fine * fine
    for y in range(side):
        row = y if flip else side - 1 - y
        for x in range(side):
            red = green = blue = count // 2
            for i in range(y * fine, (y + 1) * fine):
                for j in range(x * fine, (x + 1) * fine):
                    source = front if near[i, j] < far[i, j] else back
                    red += source[i, j, 0]
                    green += source[i, j, 1]
                    blue += source[i, j, 2]
            out[row, x, 0] = red // count
            out[row, x, 1] = green // count
            out[row, x, 2] = blue // count
