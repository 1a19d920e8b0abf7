"""ResNet-50 in Keras' layout, against its layers written out one by one, and against what the weights are for."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

from orcalign.encoders import WeightsUnavailable, make_encoder, num_places
from orcalign.encoders.packages import PACKAGES

torch = pytest.importorskip("torch")
from torch.nn import functional  # noqa: E402

BLOCKS = {2: "abc", 3: "abcd", 4: "abcdef", 5: "abc"}


def tensors_of(folder):
    """What model.json says lies in the shards, and the epsilon of the norms."""
    model = json.loads((folder / "model.json").read_text())
    [group] = model["weightsManifest"]
    numbers = np.frombuffer(b"".join((folder / name).read_bytes() for name in group["paths"]), "<f4")
    found, start = {}, 0
    for entry in group["weights"]:
        stop = start + math.prod(entry["shape"])
        found[entry["name"]] = torch.tensor(numbers[start:stop].reshape(entry["shape"]))
        start = stop
    layers = model["modelTopology"]["model_config"]["config"]["layers"]
    [epsilon] = {layer["config"]["epsilon"] for layer in layers if layer["class_name"] == "BatchNormalization"}
    return found, epsilon


def plain_forward(images, tensors, epsilon):
    """uint8 [B,S,S,3] to [B,2048,h,w], as Keras' own definition goes: blue first, Caffe's means, norms apart."""

    def layer(x, conv, norm, stride=1, padding=0):
        kernel = tensors[f"{conv}/kernel"].permute(3, 2, 0, 1)
        x = functional.conv2d(x, kernel, tensors[f"{conv}/bias"], stride, padding)
        moments = tensors[f"{norm}/moving_mean"], tensors[f"{norm}/moving_variance"]
        return functional.batch_norm(x, *moments, tensors[f"{norm}/gamma"], tensors[f"{norm}/beta"], eps=epsilon)

    blue_first = torch.tensor(images[..., ::-1].copy()).float() - torch.tensor([103.939, 116.779, 123.68])
    x = layer(blue_first.permute(0, 3, 1, 2), "conv1", "bn_conv1", 2, 3)
    x = functional.max_pool2d(functional.pad(functional.relu(x), (1, 1, 1, 1)), 3, 2)
    for stage, letters in BLOCKS.items():
        for letter in letters:
            name, stride = f"{stage}{letter}_branch", 2 if letter == "a" and stage > 2 else 1
            y = functional.relu(layer(x, f"res{name}2a", f"bn{name}2a", stride))
            y = functional.relu(layer(y, f"res{name}2b", f"bn{name}2b", 1, 1))
            y = layer(y, f"res{name}2c", f"bn{name}2c")
            x = functional.relu(y + (layer(x, f"res{name}1", f"bn{name}1", stride) if letter == "a" else x))
    return x


@pytest.fixture(scope="module")
def random_folder(tmp_path_factory):
    """A model.json and three shards with random numbers, lively norms and an epsilon of its own."""
    rng, shapes, norms = np.random.default_rng(0), {}, {}

    def add(conv, norm, kernel, inputs, outputs):
        shapes[f"{conv}/kernel"], shapes[f"{conv}/bias"] = [kernel, kernel, inputs, outputs], [outputs]
        norms[norm] = outputs

    add("conv1", "bn_conv1", 7, 3, 64)
    inputs = 64
    for stage, letters in BLOCKS.items():
        width = 64 * 2 ** (stage - 2)
        for letter in letters:
            name = f"{stage}{letter}_branch"
            add(f"res{name}2a", f"bn{name}2a", 1, inputs, width)
            add(f"res{name}2b", f"bn{name}2b", 3, width, width)
            add(f"res{name}2c", f"bn{name}2c", 1, width, 4 * width)
            if letter == "a":
                add(f"res{name}1", f"bn{name}1", 1, inputs, 4 * width)
            inputs = 4 * width
    for norm, width in norms.items():
        shapes |= {f"{norm}/{part}": [width] for part in ("gamma", "beta", "moving_mean", "moving_variance")}

    def draw(name, shape):
        if name.endswith("kernel"):
            return rng.normal(0, math.prod(shape[:3]) ** -0.5, shape)
        return rng.uniform(0.5, 1.5, shape) if name.endswith(("gamma", "variance")) else rng.normal(0, 0.2, shape)

    content = b"".join(draw(name, shape).astype("<f4").tobytes() for name, shape in shapes.items())
    folder = tmp_path_factory.mktemp("keras")
    third = len(content) // 3 + 1  # ends within a number
    paths = [f"group1-shard{k + 1}of3.bin" for k in range(3)]
    for k, path in enumerate(paths):
        (folder / path).write_bytes(content[k * third : (k + 1) * third])
    layers = [{"class_name": "BatchNormalization", "config": {"name": norm, "epsilon": 0.01}} for norm in norms]
    weights = [{"name": name, "shape": shape, "dtype": "float32"} for name, shape in shapes.items()]
    topology = {"model_config": {"config": {"layers": layers}}}
    manifest = [{"paths": paths, "weights": weights}]
    (folder / "model.json").write_text(json.dumps({"modelTopology": topology, "weightsManifest": manifest}))
    return folder


@pytest.fixture(scope="module")
def fetched_folder():
    """The real weights."""
    try:
        return next(iter(PACKAGES["resnet50-keras"].files().values())).parent
    except WeightsUnavailable as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize("size", [64, 100])
def test_same_as_the_layers_written_out(random_folder, size):
    images = np.random.default_rng(1).integers(0, 256, (2, size, size, 3), np.uint8)
    with torch.inference_mode():
        expected = plain_forward(images, *tensors_of(random_folder)).flatten(1).numpy()
    for engine in ("torch", "openvino"):
        encoder = make_encoder("resnet50-keras", size=size, weights=random_folder, engine=engine)
        assert encoder.dim == expected.shape[1] == 2048 * num_places(encoder)
        np.testing.assert_allclose(encoder(images), expected, atol=1e-3 * np.abs(expected).max())


@pytest.mark.parametrize("size", [128, 224])
def test_the_real_weights_compute_what_keras_defines(fetched_folder, size):
    images = np.random.default_rng(1).integers(0, 256, (2, size, size, 3), np.uint8)
    with torch.inference_mode():
        expected = plain_forward(images, *tensors_of(fetched_folder)).flatten(1).numpy()
    encoder = make_encoder("resnet50-keras", size=size)
    assert encoder.dim == 2048 * (size // 32) ** 2
    np.testing.assert_allclose(encoder(images), expected, atol=1e-3 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("picture", "label", "at_least"),
    [("grace_hopper.jpg", 652, 0.9), ("china.jpg", 698, 0.3), ("flower.jpg", 985, 0.08)],
)
def test_photographs_are_recognised(fetched_folder, picture, label, at_least):
    """ImageNet's 652 is a military uniform (lost with red and blue exchanged), 698 a palace, 985 a daisy."""
    image = pytest.importorskip("PIL.Image")
    if picture == "grace_hopper.jpg":
        path = Path(pytest.importorskip("matplotlib").get_data_path()) / "sample_data" / picture
    else:
        path = Path(pytest.importorskip("sklearn").__path__[0]) / "datasets" / "images" / picture
    photo = np.array(image.open(path).convert("RGB"))
    side = min(photo.shape[:2])
    top, left = (photo.shape[0] - side) // 2, (photo.shape[1] - side) // 2
    tensors, _ = tensors_of(fetched_folder)
    features = torch.tensor(
        make_encoder("resnet50-keras", pooled=True)(photo[None, top : top + side, left : left + side])
    )
    shares = torch.softmax(features @ tensors["fc1000/kernel"] + tensors["fc1000/bias"], dim=1)[0]
    assert label in shares.topk(2).indices
    assert shares[label] > at_least


def test_without_the_weights_one_sentence_says_how_to_get_them(monkeypatch, tmp_path):
    monkeypatch.setenv("ORCALIGN_CACHE", str(tmp_path))
    with pytest.raises(
        WeightsUnavailable, match=r"95 MB\) are not on this machine: run `orcalign weights get resnet50-"
    ):
        make_encoder("resnet50-keras")


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"dtype": "float16"}, "conv1/kernel is not float32"),
        ({"shape": [7, 7, 3, 65]}, "the shards end before"),
        ({"shape": [7, 7, 3, 1]}, "bytes are left over"),
        ({"name": "other/kernel"}, r"lacks conv1/kernel: resnet50-keras needs Keras' ResNet50\."),
    ],
)
def test_another_model_is_refused(random_folder, tmp_path, change, text):
    model = json.loads((random_folder / "model.json").read_text())
    model["weightsManifest"][0]["weights"][0] |= change
    for shard in random_folder.glob("*.bin"):
        (tmp_path / shard.name).symlink_to(shard)
    (tmp_path / "model.json").write_text(json.dumps(model))
    with pytest.raises(WeightsUnavailable, match=text):
        make_encoder("resnet50-keras", size=64, weights=tmp_path, engine="torch")


@pytest.mark.parametrize("path", ["../model.json", "/etc/hostname", "no.bin"])
def test_shards_lie_beside_the_model(random_folder, tmp_path, path):
    model = json.loads((random_folder / "model.json").read_text())
    model["weightsManifest"][0]["paths"] = [path]
    (tmp_path / "model.json").write_text(json.dumps(model))
    with pytest.raises(WeightsUnavailable, match=r"is not a TensorFlow\.js model of Keras"):
        make_encoder("resnet50-keras", size=64, weights=tmp_path, engine="torch")
