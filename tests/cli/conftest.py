"""Small real videos of one task for the commands."""

import numpy as np
import pytest

from orcalign.video import write_mp4

SIDE = 96


def draw(places):
    """A disc that moves over a textured ground; places are x in [0, 1]."""
    rng = np.random.default_rng(0)
    ground = rng.integers(90, 140, (SIDE // 8, SIDE // 8, 3)).repeat(8, 0).repeat(8, 1)
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    frames = []
    for place in places:
        inside = (x - 12 - 72 * place) ** 2 + (y - 48 - 20 * np.sin(6 * place)) ** 2 < 120
        frames.append(np.where(inside[..., None], [230, 60, 40], ground).astype(np.uint8))
    return np.stack(frames)


@pytest.fixture(scope="session")
def videos(tmp_path_factory):
    """A folder with demo.mp4 (16 frames), good.mp4 (32), stalls.mp4 (32) and back.mp4 (32)."""
    folder = tmp_path_factory.mktemp("videos")
    even = np.linspace(0, 1, 32)
    write_mp4(folder / "demo.mp4", draw(np.linspace(0, 1, 16)), 10)
    write_mp4(folder / "good.mp4", draw(even), 10)
    write_mp4(folder / "stalls.mp4", draw(np.minimum(even * 1.5, 0.45)), 10)
    write_mp4(folder / "back.mp4", draw(even[::-1]), 10)
    return folder
