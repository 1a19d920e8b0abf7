"""Our EfficientNet-Lite0 against the published port, and against what the weights are for: naming things."""

from __future__ import annotations

import numpy as np
import pytest

from orcalign.encoders import make_encoder, num_places
from orcalign.encoders.packages import PACKAGES
from orcalign.encoders.weights import read_state


def published_state():
    package = PACKAGES["efficientnet-lite0"]
    [path] = package.files().values()
    return read_state(path, package.digest)


@pytest.fixture(params=[128, 144])  # 144 makes sides of 9 and 5, where the padding changes
def published(request):
    """Size, three pictures, and what the published port makes of them: in its middle, and in the end."""
    torch = pytest.importorskip("torch")
    port = pytest.importorskip("efficientnet_lite_pytorch")
    size = request.param
    reference = port.EfficientNet.from_name("efficientnet-lite0", image_size=size).eval()
    reference.load_state_dict(published_state())
    images = np.random.default_rng(0).integers(0, 256, (3, size, size, 3), np.uint8)
    hidden = {}
    for block in (2, 4, 10):
        reference._blocks[block].register_forward_hook(lambda module, given, out, k=block: hidden.update({k: out}))

    with torch.inference_mode():
        end = reference.extract_features((torch.tensor(images).permute(0, 3, 1, 2).float() - 127) / 128)
    return (
        size,
        images,
        {"": end.numpy(), **{name: hidden[k].numpy() for k, name in ((2, "4"), (4, "8"), (10, "-mid"))}},
    )


def test_same_features_as_the_published_port(published):
    size, images, expected = published
    for name in ("", "-mid"):
        ours = make_encoder(f"efficientnet-lite0{name}", size=size, engine="torch")(images)
        assert ours.shape == (3, expected[name][0].size)
        np.testing.assert_allclose(ours, expected[name].reshape(3, -1), atol=1e-4)


def test_the_fine_map_is_two_stages_of_the_published_port_over_each_other(published):
    size, images, expected = published
    side = size // 8
    ours = make_encoder("efficientnet-lite0-fine", size=size, engine="torch")(images).reshape(3, 136, side, side)
    np.testing.assert_allclose(ours[:, 96:], expected["8"], atol=1e-4)
    for dy in (0, 1):
        for dx in (0, 1):
            np.testing.assert_allclose(ours[:, 2 * dy + dx : 96 : 4], expected["4"][:, :, dy::2, dx::2], atol=1e-4)


def test_places_are_counted():
    sizes = {
        "efficientnet-lite0": (16, 25),
        "efficientnet-lite0-mid": (64, 81),
        "efficientnet-lite0-fine": (256, 324),
    }
    for name, places in sizes.items():
        for size, count in zip((128, 144), places, strict=True):
            assert num_places(make_encoder(name, size=size, engine="torch")) == count


def test_four_by_four_places_at_the_default_size():
    encoder = make_encoder()
    assert (encoder.name, encoder.size, encoder.spatial) == ("efficientnet-lite0", 128, True)
    assert encoder.dim == 1280 * 4 * 4


def test_pooled_is_the_mean_over_places(frames):
    spatial = make_encoder(size=64)(frames)
    pooled = make_encoder(size=64, pooled=True)(frames)
    np.testing.assert_allclose(pooled, spatial.reshape(7, 1280, 4).mean(axis=2), atol=1e-5)


@pytest.mark.parametrize(("picture", "label"), [("china.jpg", 698), ("flower.jpg", 985)])
def test_photographs_are_recognised(picture, label):
    """ImageNet's 698 is a palace, 985 a daisy; wrong colours, channel order or turned pictures lose them."""
    datasets = pytest.importorskip("sklearn.datasets")
    photo = datasets.load_sample_image(picture)
    height, width, _ = photo.shape
    left = (width - height) // 2
    square = np.ascontiguousarray(photo[:, left : left + height])

    state = published_state()
    features = make_encoder(size=224, pooled=True)(square[None])
    scores = features @ state["_fc.weight"].numpy().T + state["_fc.bias"].numpy()
    assert scores[0].argmax() == label
