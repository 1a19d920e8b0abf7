"""ResNets against independent implementations: the ONNX file itself, and the transformers library."""

from __future__ import annotations

import numpy as np
import pytest

from orcalign.encoders import WeightsUnavailable, make_encoder
from orcalign.encoders.backbones import IMAGENET
from orcalign.encoders.packages import PACKAGES

torch = pytest.importorskip("torch")


def normalised(images):
    mean, std = (np.array(values, np.float32) for values in IMAGENET)
    return ((images - mean) / std).transpose(0, 3, 1, 2).astype(np.float32)


def test_resnet18_is_what_its_onnx_file_computes():
    openvino = pytest.importorskip("openvino")
    try:
        path = PACKAGES["resnet18"].files()["resnet18.onnx"]
    except WeightsUnavailable as reason:
        pytest.skip(str(reason))
    images = np.random.default_rng(1).integers(0, 256, (2, 224, 224, 3), np.uint8)
    onnx = openvino.Core().compile_model(path, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    expected = onnx(normalised(images))[0]

    np.testing.assert_allclose(make_encoder("resnet18", pooled=True)(images), expected, rtol=1e-3, atol=1e-3)


@pytest.fixture(scope="module")
def random_resnet50():
    """A ResNet-50 of the transformers library with random weights and lively norms."""
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    model = transformers.ResNetModel(transformers.ResNetConfig(depths=[3, 4, 6, 3])).eval()
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.weight.data.uniform_(0.5, 1.0)
            module.bias.data.normal_(std=0.2)
            module.running_mean.normal_(std=0.2)
            module.running_var.uniform_(0.5, 2.0)
    return model


def torchvision_names(model):
    """The same tensors under torchvision's names, with a classifier that must be ignored."""
    state = {"fc.weight": torch.zeros(1000, 2048), "fc.bias": torch.zeros(1000)}
    for key, value in model.state_dict().items():
        parts = key.split(".")
        if parts[0] == "embedder":
            place, number = "", 1
        else:
            place = f"layer{int(parts[2]) + 1}.{parts[4]}."
            number = 0 if parts[5] == "shortcut" else int(parts[6]) + 1
        kind = "conv" if parts[-2] == "convolution" else "bn"
        layer = f"downsample.{0 if kind == 'conv' else 1}" if number == 0 else f"{kind}{number}"
        state[f"{place}{layer}.{parts[-1]}"] = value.clone()
    return state


@pytest.mark.parametrize("suffix", [".safetensors", ".pth"])
def test_resnet50_from_a_torchvision_state_dict(random_resnet50, tmp_path, suffix):
    state = torchvision_names(random_resnet50)
    path = tmp_path / f"resnet50{suffix}"
    weights = str(path)
    if suffix == ".pth":
        torch.save(state, path)
        from orcalign.encoders.weights import sha256_of

        weights += f"#sha256={sha256_of(path)}"
    else:
        from safetensors.torch import save_file

        save_file(state, path)
    images = np.random.default_rng(2).integers(0, 256, (2, 96, 96, 3), np.uint8)
    with torch.inference_mode():
        expected = random_resnet50(torch.tensor(normalised(images))).last_hidden_state.flatten(1).numpy()

    encoder = make_encoder("resnet50", size=96, weights=weights, engine="torch")
    assert encoder.dim == 2048 * 3 * 3
    ours = encoder(images)
    np.testing.assert_allclose(ours, expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max())


def test_a_state_dict_of_something_else_is_refused(tmp_path):
    from safetensors.torch import save_file

    save_file({"conv1.weight": torch.zeros(64, 3, 7, 7)}, tmp_path / "other.safetensors")
    with pytest.raises(WeightsUnavailable, match=r"other.safetensors lacks bn1.weight: ResNet-50 needs"):
        make_encoder("resnet50", weights=tmp_path / "other.safetensors")
