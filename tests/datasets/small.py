"""Small LeRobot data sets of a disc that crosses a textured ground, by the writer that the examples bring."""

import numpy as np

from examples.recorded import write_dataset

FPS = 10
SIDE = 64
EVEN = np.linspace(0, 1, 24)
COURSES = (
    np.linspace(0, 1, 16),  # the demo
    EVEN,
    np.minimum(EVEN, 0.4),  # stalls
    np.concatenate([EVEN[:16], EVEN[15::-1]]),  # turns back
    np.linspace(0, 1, 31),
    np.zeros(20),  # never begins
)
"""Places of the disc in each episode, from 0 to 1."""
TRUTH = ((1, 1), (1, 1), (0, 3), (0, 2), (1, 1), (0, 4))
"""Success and rank of each."""


def draw(places):
    """Frames [T, H, W, 3] of the disc at these places."""
    rng = np.random.default_rng(0)
    ground = rng.integers(90, 140, (SIDE // 8, SIDE // 8, 3)).repeat(8, 0).repeat(8, 1)
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    inside = [(x - 8 - 48 * one) ** 2 + (y - 32 - 13 * np.sin(6 * one)) ** 2 < 50 for one in places]
    return np.stack([np.where(one[..., None], [230, 60, 40], ground).astype(np.uint8) for one in inside])


def write_small(root, courses=COURSES, **settings):
    """A data set of these courses."""
    write_dataset(root, [draw(places) for places in courses], FPS, **settings)
    return root
