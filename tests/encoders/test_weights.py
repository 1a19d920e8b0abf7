from __future__ import annotations

import os

import numpy as np
import pytest

from orcalign.encoders import WeightsUnavailable, make_encoder
from orcalign.encoders.packages import PACKAGES
from orcalign.encoders.weights import read_state, sha256_of
from orcalign.files import write_file

torch = pytest.importorskip("torch")


def test_a_copy_of_the_known_file_needs_no_hash(tmp_path, frames):
    copy = tmp_path / "copy.pth"
    [packaged] = PACKAGES["efficientnet-lite0"].files().values()
    copy.write_bytes(packaged.read_bytes())
    a = make_encoder(size=64, weights=copy, engine="torch")
    b = make_encoder(size=64, engine="torch")
    assert a.fingerprint == b.fingerprint
    np.testing.assert_array_equal(a(frames), b(frames))


def test_a_pickle_runs_nothing_even_when_vouched_for(tmp_path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "sprung"),)

    torch.save({"conv1.weight": Trap()}, tmp_path / "trap.pth")
    with pytest.raises(WeightsUnavailable, match="name its hash with --weights"):
        read_state(tmp_path / "trap.pth", "")
    with pytest.raises(WeightsUnavailable, match="holds more than tensors or is damaged"):
        read_state(tmp_path / "trap.pth", sha256_of(tmp_path / "trap.pth"))
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("name", ["efficientnet-lite0", "resnet50", "liv", "dinov2-small"])
def test_a_missing_file_is_one_sentence(name, tmp_path):
    with pytest.raises(WeightsUnavailable, match=r"There is no .*nowhere.* or use --encoder efficientnet-lite0"):
        make_encoder(name, weights=tmp_path / "nowhere")


def test_not_a_safetensors_file(tmp_path):
    (tmp_path / "a.safetensors").write_bytes(b"not tensors at all")
    with pytest.raises(WeightsUnavailable, match="is not a safetensors file"):
        make_encoder("resnet50", weights=tmp_path / "a.safetensors")


def test_weights_of_another_network(tmp_path):
    from safetensors.torch import save_file

    save_file({"_conv_stem.weight": torch.zeros(3)}, tmp_path / "a.safetensors")
    with pytest.raises(WeightsUnavailable, match="does not fit EfficientNetLite0"):
        make_encoder(size=64, weights=tmp_path / "a.safetensors", engine="torch")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a"
    write_file(path, b"old")
    with pytest.raises(TypeError):
        write_file(path, b"new", "not bytes")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_in_the_place_of_a_file_is_refused(tmp_path):
    with pytest.raises(WeightsUnavailable, match="is a folder, and one file of weights is needed"):
        sha256_of(tmp_path)
