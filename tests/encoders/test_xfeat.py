"""XFeat against its layers written out, and against what its descriptors are for."""

from __future__ import annotations

import numpy as np
import pytest

from orcalign.encoders import WeightsUnavailable, make_encoder, num_places
from orcalign.encoders.packages import PACKAGES
from orcalign.encoders.weights import read_state

torch = pytest.importorskip("torch")
from torch.nn import functional  # noqa: E402

# Strides of the layers of each block, as the paper's figure and the authors' file have them.
STRIDES = {"block1": (1, 2, 1, 2), "block2": (1, 1), "block3": (2, 1, 1), "block4": (2, 1, 1), "block5": (2, 1, 1, 1)}


@pytest.fixture(scope="module")
def fetched():
    """The real weights."""
    try:
        return next(iter(PACKAGES["xfeat"].files().values()))
    except WeightsUnavailable as reason:
        pytest.skip(str(reason))


def random_state():
    """Tensors with the authors' names, lively norms, and a head that must be ignored."""
    generator, state, inputs = torch.Generator().manual_seed(0), {"heatmap_head.2.bias": torch.zeros(1)}, 1
    widths = {
        "block1": (4, 8, 8, 24), "block2": (24, 24), "block3": (64, 64, 64), "block4": (64, 64, 64),
        "block5": (128, 128, 128, 64), "block_fusion": (64, 64),
    }  # fmt: skip
    for block, outputs in widths.items():
        for k, width in enumerate(outputs):
            last = (block, k) in (("block3", 2), ("block5", 3))
            layer, side = f"{block}.{k}.layer", 1 if last else 3
            kernel = torch.randn(width, inputs, side, side, generator=generator)
            state[f"{layer}.0.weight"] = kernel * (2 / inputs / side**2) ** 0.5
            state[f"{layer}.1.running_mean"] = torch.randn(width, generator=generator) * 0.2
            state[f"{layer}.1.running_var"] = torch.rand(width, generator=generator) + 0.5
            inputs = width
    for name, (out, into) in (("skip1.1", (24, 1)), ("block_fusion.2", (64, 64))):
        state[f"{name}.weight"] = torch.randn(out, into, 1, 1, generator=generator) * 0.2
        state[f"{name}.bias"] = torch.randn(out, generator=generator) * 0.2
    return state


def plain_forward(images, state):
    """uint8 [B,S,S,3] to descriptors [B,64,S/8,S/8], layer by layer with norms apart."""

    def layer(x, name, stride=1):
        kernel = state[f"{name}.0.weight"]
        x = functional.conv2d(x, kernel, stride=stride, padding=kernel.shape[2] // 2)
        return functional.relu(
            functional.batch_norm(x, state[f"{name}.1.running_mean"], state[f"{name}.1.running_var"])
        )

    def block(x, name):
        for k, stride in enumerate(STRIDES[name]):
            x = layer(x, f"{name}.{k}.layer", stride)
        return x

    grey = torch.tensor(images / 255.0, dtype=torch.float32).mean(3)[:, None]
    spread = grey.var((2, 3), unbiased=False, keepdim=True)
    grey = (grey - grey.mean((2, 3), keepdim=True)) / torch.sqrt(spread + 1e-5)
    skipped = functional.avg_pool2d(grey, 4) * state["skip1.1.weight"][:, 0, 0, 0][:, None, None]
    x3 = block(block(block(grey, "block1") + skipped + state["skip1.1.bias"][:, None, None], "block2"), "block3")
    x4 = block(x3, "block4")
    x5 = block(x4, "block5")
    up = torch.nn.Upsample(x3.shape[2:], mode="bilinear")
    fused = layer(layer(x3 + up(x4) + up(x5), "block_fusion.0.layer"), "block_fusion.1.layer")
    out = functional.conv2d(fused, state["block_fusion.2.weight"], state["block_fusion.2.bias"])
    return out / out.norm(dim=1, keepdim=True)


@pytest.fixture(params=["random", "real"])
def weights(request, tmp_path):
    if request.param == "real":
        return request.getfixturevalue("fetched")
    from safetensors.torch import save_file

    save_file(random_state(), tmp_path / "xfeat.safetensors")
    return tmp_path / "xfeat.safetensors"


@pytest.mark.parametrize("size", [96, 128])
def test_same_as_the_layers_written_out(weights, size):
    images = np.random.default_rng(1).integers(0, 256, (2, size, size, 3), np.uint8)
    with torch.inference_mode():
        state = read_state(weights, "", known=(PACKAGES["xfeat"].digest,))
        expected = plain_forward(images, state).flatten(1).numpy()
    for engine in ("torch", "openvino"):
        encoder = make_encoder("xfeat", size=size, weights=weights, engine=engine)
        assert encoder.dim == expected.shape[1] == 64 * num_places(encoder)
        np.testing.assert_allclose(encoder(images), expected, atol=2e-3)


def test_it_finds_the_same_point_again(fetched):
    """A picture of blobs, moved by three places to the right and one down, brightened by a third."""
    blobs = np.random.default_rng(0).random((1, 1, 36, 36))
    picture = functional.interpolate(torch.tensor(blobs), size=288, mode="bicubic")[0, 0].clamp(0, 1).numpy()
    one, other = picture[8:232, 24:248], picture[:224, :224]
    frames = np.stack([190 * one, 250 * other])[..., None].repeat(3, axis=3).astype(np.uint8)
    maps = make_encoder("xfeat")(frames).reshape(2, 64, 28, 28)
    alike = np.einsum("cij,ckl->ijkl", maps[0, :, 6:22, 6:22], maps[1])
    found = np.stack(np.unravel_index(alike.reshape(16, 16, -1).argmax(-1), (28, 28)))
    wanted = np.stack(np.mgrid[7:23, 9:25])
    assert (found == wanted).all(0).mean() > 0.9


def test_sizes_that_it_cannot_halve(tmp_path):
    with pytest.raises(ValueError, match=r"size is 100 pixels, but xfeat halves it five times: use 96\."):
        make_encoder("xfeat", size=100)


def test_another_file_is_refused(tmp_path):
    from safetensors.torch import save_file

    state = random_state()
    del state["block4.1.layer.0.weight"]
    save_file(state, tmp_path / "other.safetensors")
    with pytest.raises(WeightsUnavailable, match=r"lacks block4\.1\.layer\.0\.weight: xfeat needs"):
        make_encoder("xfeat", size=64, weights=tmp_path / "other.safetensors", engine="torch")
