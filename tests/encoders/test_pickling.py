"""Every encoder can be pickled, deep-copied and sent to another process, and stays the encoder that it was."""

from __future__ import annotations

import copy
import multiprocessing
import operator
import pickle
import shutil

import numpy as np
import pytest
from encoders.small_checkpoints import clip_tower, tiny_transformer

from orcalign.encoders import ENCODERS, WeightsUnavailable, make_encoder

torch = pytest.importorskip("torch")

PACKAGED = ("efficientnet-lite0", "efficientnet-lite0-mid", "efficientnet-lite0-fine", "resnet18")
SMALL = 20_000
"""Bytes: no network is that small, so a pickle below carries none."""
# With the small checkpoint the three sizes of DINOv2 are one.
NETWORKS = [name for name in ENCODERS if name not in ("pixels", "dinov2-base", "dinov2-large")]


@pytest.fixture(scope="module")
def elsewhere():
    """A process that was started afresh and calls what it is sent; torch has one thread in both, as its sums round in
    another order with others."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with multiprocessing.get_context("spawn").Pool(1, torch.set_num_threads, (1,)) as pool:
        yield lambda function, *arguments: pool.apply(function, arguments)
    torch.set_num_threads(before)


def unpickled(data):
    return pickle.loads(data)  # noqa: S301  (made a line before)


def resnet50_file(folder):
    """A state dict of random tensors with torchvision's names."""
    from safetensors.torch import save_file

    from orcalign.encoders.networks.resnet import ResNet

    generator = torch.Generator().manual_seed(0)
    state = {}
    for name, value in ResNet(50).state_dict().items():
        if name.endswith(".weight"):
            state[name] = torch.randn(value.shape, generator=generator) * value[0].numel() ** -0.5
        else:
            place, _, layer = name.removesuffix(".bias").rpartition(".")
            norm = ".".join(filter(None, [place, layer.replace("conv", "bn") if "conv" in layer else "1"]))
            for part in ("weight", "bias", "running_mean", "running_var"):
                state[f"{norm}.{part}"] = torch.rand(value.shape, generator=generator) + 0.5
    save_file(state, folder / "resnet50.safetensors")
    return folder / "resnet50.safetensors"


def settings_of(name, folder):
    """The least that makes the encoder here, with a small checkpoint where the real one is on a hub."""
    if name in PACKAGED or name == "xfeat":
        return {"size": 64}
    pytest.importorskip("torch")
    if name == "resnet50":
        return {"size": 64, "weights": resnet50_file(folder)}
    if name in ("liv", "clip-resnet"):
        save_file = pytest.importorskip("safetensors.torch").save_file
        save_file(clip_tower(), folder / "tower.safetensors")
        return {"size": 64, "weights": folder / "tower.safetensors"}
    tiny_transformer(name.partition("-")[0])[0].save_pretrained(folder)
    return {"size": 56, "weights": folder}


@pytest.mark.parametrize("engine", ["openvino", "torch"])
@pytest.mark.parametrize("name", NETWORKS)
def test_copies_give_the_same_bits(name, engine, frames, tmp_path, elsewhere, monkeypatch):
    pytest.importorskip(engine)
    monkeypatch.setenv("ORCALIGN_CACHE", str(tmp_path / "here"))
    weights = tmp_path / "weights"
    weights.mkdir()
    try:
        encoder = make_encoder(name, engine=engine, threads=2, batch=4, **settings_of(name, weights))
    except WeightsUnavailable as reason:
        pytest.skip(str(reason))
    expected, kept = encoder(frames), pickle.dumps(encoder)
    assert (len(kept) < SMALL) == (name in PACKAGED), len(kept)

    def check(other):
        assert (other.name, other.size, other.spatial, other.dim) == (
            encoder.name,
            encoder.size,
            encoder.spatial,
            encoder.dim,
        )
        assert (other.fingerprint, other.engine) == (encoder.fingerprint, encoder.engine)
        np.testing.assert_array_equal(other(frames), expected)

    check(unpickled(kept))
    check(copy.deepcopy(encoder))
    assert elsewhere(operator.attrgetter("fingerprint"), encoder) == encoder.fingerprint
    np.testing.assert_array_equal(elsewhere(operator.call, encoder, frames), expected)
    # On another machine, passed on by one that never used it: an empty cache, and no file that the user has named.
    shutil.rmtree(weights)
    monkeypatch.setenv("ORCALIGN_CACHE", str(tmp_path / "there"))
    check(unpickled(pickle.dumps(unpickled(kept))))


def test_encoders_without_a_network(frames, elsewhere):
    encoder = make_encoder("pixels", size=8)
    expected = encoder(frames)
    for other in (unpickled(pickle.dumps(encoder)), copy.deepcopy(encoder)):
        assert other.fingerprint == encoder.fingerprint
        np.testing.assert_array_equal(other(frames), expected)
    np.testing.assert_array_equal(elsewhere(operator.call, encoder, frames), expected)


def test_a_copy_of_a_copy_where_nothing_can_be_kept(frames, tmp_path, monkeypatch):
    pytest.importorskip("openvino")
    settings = settings_of("dinov2-small", tmp_path)
    encoder = make_encoder("dinov2-small", engine="openvino", **settings)
    expected, kept = encoder(frames), pickle.dumps(encoder)
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("ORCALIGN_CACHE", str(tmp_path / "file"))
    (tmp_path / "config.json").unlink()
    first = unpickled(kept)
    np.testing.assert_array_equal(first(frames), expected)
    np.testing.assert_array_equal(unpickled(pickle.dumps(first))(frames), expected)


def test_a_copy_starts_its_network_only_when_it_is_used(frames, monkeypatch):
    pytest.importorskip("openvino")
    kept = pickle.dumps(make_encoder(size=64, engine="openvino"))

    def never(*arguments, **named):
        raise AssertionError("started")

    monkeypatch.setattr("orcalign.encoders.engine.load_or_convert", never)
    copied = unpickled(kept)
    assert copied.dim == 1280 * 4
    with pytest.raises(AssertionError, match="started"):
        copied(frames)


def test_copies_run_side_by_side(frames):
    from concurrent.futures import ThreadPoolExecutor

    encoder = make_encoder(size=64, threads=1)
    copied = unpickled(pickle.dumps(encoder))
    with ThreadPoolExecutor(4) as pool:
        for features in pool.map(copied, [frames] * 8):
            np.testing.assert_array_equal(features, encoder(frames))
