"""Our EfficientNet-Lite0 against the published port, and against what the weights are for: naming things."""

from __future__ import annotations

import numpy as np
import pytest

from orcalign.encoders import make_encoder, num_places
from orcalign.encoders.backbones import LITE0_FILE, LITE0_PACKAGE, LITE0_SHA256
from orcalign.encoders.weights import package_file, read_state


def published_state():
    return read_state(package_file(LITE0_PACKAGE, LITE0_FILE, LITE0_SHA256), LITE0_SHA256)


@pytest.mark.parametrize("size", [128, 144])  # 144 makes sides of 9 and 5, where the padding changes
def test_same_features_as_the_published_port(size):
    torch = pytest.importorskip("torch")
    port = pytest.importorskip("efficientnet_lite_pytorch")
    reference = port.EfficientNet.from_name("efficientnet-lite0", image_size=size).eval()
    reference.load_state_dict(published_state())
    images = np.random.default_rng(0).integers(0, 256, (3, size, size, 3), np.uint8)

    with torch.inference_mode():
        batch = (torch.tensor(images).permute(0, 3, 1, 2).float() - 127) / 128
        expected = reference.extract_features(batch).flatten(1).numpy()

    ours = make_encoder("efficientnet-lite0", size=size, engine="torch")(images)
    assert ours.shape == expected.shape
    np.testing.assert_allclose(ours, expected, atol=1e-4)


@pytest.mark.parametrize("size", [128, 144])
def test_up_to_the_middle_it_is_the_published_ports_middle(size):
    torch = pytest.importorskip("torch")
    port = pytest.importorskip("efficientnet_lite_pytorch")
    reference = port.EfficientNet.from_name("efficientnet-lite0", image_size=size).eval()
    reference.load_state_dict(published_state())
    images = np.random.default_rng(0).integers(0, 256, (3, size, size, 3), np.uint8)
    seen = []
    reference._blocks[10].register_forward_hook(lambda block, given, out: seen.append(out))

    with torch.inference_mode():
        reference.extract_features((torch.tensor(images).permute(0, 3, 1, 2).float() - 127) / 128)

    encoder = make_encoder("efficientnet-lite0-mid", size=size, engine="torch")
    assert num_places(encoder) == (size // 16) ** 2
    np.testing.assert_allclose(encoder(images), seen[0].flatten(1).numpy(), atol=1e-4)


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
