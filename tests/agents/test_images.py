"""The image encoder and the random shift."""

import pytest
import torch
from torch.nn import functional

from orcalign.agents.drqv2.agent import random_shift
from orcalign.agents.networks import ImageEncoder, initialise


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("pixels", [0, 1, 4])
def test_a_shift_cuts_a_window_out_of_the_padded_image(pixels):
    images = torch.randint(0, 256, (200, 2, 9, 11), dtype=torch.uint8, generator=generator())
    moved = random_shift(images, pixels, generator(1))
    assert moved.shape == images.shape
    assert moved.dtype == torch.uint8
    padded = functional.pad(images.float(), [pixels] * 4, mode="replicate").byte()
    used = set()
    for before, after in zip(padded, moved, strict=True):
        windows = before.unfold(1, 9, 1).unfold(2, 11, 1)
        hits = (windows == after[:, None, None]).all(dim=(0, 3, 4)).nonzero().tolist()
        assert len(hits) == 1
        used.add(tuple(hits[0]))
    # 200 draws of 81 windows leave about seven unseen; rows and columns must all occur.
    for axis in (0, 1):
        assert {window[axis] for window in used} == set(range(2 * pixels + 1))


def test_the_encoder_is_four_plain_convolutions():
    encoder = ImageEncoder(6, 17, 20)
    initialise(encoder, generator())
    images = torch.randint(0, 256, (3, 6, 17, 20), dtype=torch.uint8, generator=generator())
    x = images.float() / 255 - 0.5
    for name, stride in zip((0, 2, 4, 6), (2, 1, 1, 1), strict=True):
        layer = encoder.layers[name]
        x = functional.relu(functional.conv2d(x, layer.weight, layer.bias, stride))
    features = encoder(images)
    assert features.shape == (3, encoder.size)
    torch.testing.assert_close(features.sort().values, x.flatten(1).sort().values)


@pytest.mark.parametrize("side", [15, 16, 24, 84])
def test_the_size_is_what_comes_out(side):
    encoder = ImageEncoder(3, side, side)
    initialise(encoder, generator())
    assert encoder(torch.zeros(1, 3, side, side, dtype=torch.uint8)).shape == (1, encoder.size)


def test_an_encoded_image_is_not_changed():
    images = torch.full((1, 3, 15, 15), 7, dtype=torch.uint8)
    encoder = ImageEncoder(3, 15, 15)
    initialise(encoder, generator())
    encoder(images)
    assert (images == 7).all()
