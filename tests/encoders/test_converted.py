"""The first start converts and keeps the network; later ones only read it."""

from __future__ import annotations

import pytest

from orcalign.encoders.converted import cache_dir, convert, load_or_convert

torch = pytest.importorskip("torch")
pytest.importorskip("openvino")


def model():
    return convert(graph(), 8)


def graph():
    from orcalign.encoders.networks import WholeGraph

    torch.manual_seed(0)
    network = torch.nn.Conv2d(3, 4, 3)
    return WholeGraph(network, mean=(1.0, 2.0, 3.0), std=(1.0, 2.0, 4.0), pooled=False).eval()


def never():
    raise AssertionError("converted a second time")


def run(model):
    import numpy as np
    import openvino

    images = np.random.default_rng(0).integers(0, 256, (3, 8, 8, 3), np.uint8)
    compiled = openvino.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    with torch.inference_mode():
        expected = graph()(torch.tensor(images)).numpy()
    np.testing.assert_allclose(compiled(images)[0], expected, rtol=1e-4, atol=1e-3)


def test_kept_and_read_again(tmp_path):
    run(load_or_convert("ab" * 32, model, tmp_path))
    run(load_or_convert("ab" * 32, never, tmp_path))
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("name", ["model.bin", "model.xml", "sha256.json"])
def test_a_damaged_copy_is_made_again(tmp_path, name):
    load_or_convert("ab" * 32, model, tmp_path)
    (path,) = tmp_path.glob(f"*/{name}")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(AssertionError, match="second time"):
        load_or_convert("ab" * 32, never, tmp_path)
    run(load_or_convert("ab" * 32, model, tmp_path))
    run(load_or_convert("ab" * 32, never, tmp_path))


def test_where_nothing_can_be_written_it_still_runs(tmp_path):
    (tmp_path / "file").write_text("in the way")
    run(load_or_convert("ab" * 32, model, tmp_path / "file"))


def test_where_it_lives(monkeypatch, tmp_path):
    monkeypatch.setenv("ORCALIGN_CACHE", str(tmp_path / "mine"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_dir() == tmp_path / "mine"
    monkeypatch.delenv("ORCALIGN_CACHE")
    assert cache_dir() == tmp_path / "xdg" / "orcalign"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_dir() == tmp_path / ".cache" / "orcalign"
