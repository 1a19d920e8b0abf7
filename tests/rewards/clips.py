"""Small synthetic videos: a bright block that moves over a textured ground."""

from __future__ import annotations

import numpy as np


def ground(height=48, width=64):
    y, x = np.mgrid[0:height, 0:width]
    return np.stack([40 + x // 2, 60 + y // 2, 50 + 20 * ((x // 8 + y // 8) % 2)], axis=-1).astype(np.uint8)


def clip(where, height=48, width=64, block=12, colour=(240, 200, 30)):
    """Frames [T,H,W,3] with the block at the share `where` [T] (0 to 1) of its way from left to right."""
    where = np.asarray(where, float)
    frames = np.repeat(ground(height, width)[None], len(where), axis=0)
    left = np.round(where * (width - block)).astype(int)
    top = np.round((0.2 + 0.5 * np.sin(np.pi * where)) * (height - block)).astype(int)
    for t in range(len(where)):
        frames[t, top[t] : top[t] + block, left[t] : left[t] + block] = colour
    return frames
