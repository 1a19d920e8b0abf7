from __future__ import annotations

import numpy as np
import pytest

from orcalign.encoders.resize import resize


@pytest.mark.parametrize(
    ("height", "width", "size"), [(224, 224, 128), (48, 64, 16), (10, 7, 32), (1, 1, 4), (37, 300, 64)]
)
def test_as_pillow_does_it(height, width, size):
    image = pytest.importorskip("PIL.Image")
    frames = np.random.default_rng(0).integers(0, 256, (3, height, width, 3), np.uint8)
    bilinear = image.Resampling.BILINEAR
    expected = np.stack([np.asarray(image.fromarray(frame).resize((size, size), bilinear)) for frame in frames])
    # Pillow rounds between its two passes; ours does not, so they may differ by one.
    assert np.abs(resize(frames, size).astype(int) - expected).max() <= 1


@pytest.mark.parametrize("value", [0, 1, 254, 255])
def test_an_even_colour_stays(value):
    assert (resize(np.full((1, 33, 77, 3), value, np.uint8), 20) == value).all()


def test_no_pixel_is_skipped_when_shrinking():
    frames = np.zeros((1, 64, 64, 3), np.uint8)
    frames[0, 33, 33] = 255
    assert resize(frames, 16).sum() > 0


def test_channels_and_sides_keep_their_places():
    frames = np.zeros((1, 40, 60, 3), np.uint8)
    frames[0, :20, :, 0] = 255
    frames[0, :, :30, 2] = 255
    small = resize(frames, 10)[0]
    assert (small[:4, :, 0] == 255).all()
    assert (small[6:, :, 0] == 0).all()
    assert (small[:, :4, 2] == 255).all()
    assert (small[:, 6:, 2] == 0).all()
    assert (small[:, :, 1] == 0).all()
