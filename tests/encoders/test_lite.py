"""The default network drawn for OpenVINO without torch: the bits of the network that torch has, converted."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from orcalign.encoders import WeightsUnavailable, make_encoder
from orcalign.encoders.backbones import Request
from orcalign.encoders.converted import convert, load_openvino
from orcalign.encoders.registry import ENCODERS

pytest.importorskip("openvino")


def run(model, images):
    openvino = load_openvino()
    settings = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
    return openvino.Core().compile_model(model, "CPU", settings)(images)[0]


# 144 makes sides of 9 and 5, where the padding changes; 40 and 72 make odd ones where the fine maps are joined.
@pytest.mark.parametrize(
    ("name", "size", "pooled"),
    [
        ("efficientnet-lite0", 128, False),
        ("efficientnet-lite0", 144, True),
        ("efficientnet-lite0-mid", 40, False),
        ("efficientnet-lite0-fine", 128, False),
        ("efficientnet-lite0-fine", 72, False),
        ("efficientnet-lite0-fine", 128, True),
    ],
)
def test_same_bits_as_the_network_converted(name, size, pooled, monkeypatch):
    pytest.importorskip("torch")
    backbone = ENCODERS[name].factory(Request(name, size, pooled))
    images = np.random.default_rng(0).integers(0, 256, (3, size, size, 3), np.uint8)
    drawn = run(backbone.model(), images)
    assert len(drawn) == 3
    np.testing.assert_array_equal(drawn, run(convert(backbone.graph(), size), images))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda state: state.pop("_bn1.bias"), r"it lacks _bn1\.bias"),
        (lambda state: state.update({"_conv_stem.weight": state["_conv_stem.weight"][:, :1]}), "_conv_stem.weight is"),
        (lambda state: state.update({"_bn0.bias": state["_bn0.bias"][:1]}), "_bn0.bias is"),
        (lambda state: state.update({"_bn0.bias": state["_bn0.bias"].astype(np.float16)}), "is float16"),
    ],
)
def test_weights_of_another_network(change, why, tmp_path):
    from safetensors.numpy import save_file

    from orcalign.encoders.packages import PACKAGES
    from orcalign.encoders.torch_files import read_tensors

    [path] = PACKAGES["efficientnet-lite0"].files().values()
    state = read_tensors(path)
    change(state)
    save_file({name: np.ascontiguousarray(array) for name, array in state.items()}, tmp_path / "a.safetensors")
    with pytest.raises(WeightsUnavailable, match=f"does not fit EfficientNetLite0 .*{why}.*: check that the file"):
        make_encoder(size=64, weights=tmp_path / "a.safetensors", engine="openvino")


WITHOUT_TORCH = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")

sys.meta_path.insert(0, Blocked())
{}
assert "torch" not in sys.modules
"""


def without_torch(code, *words, cache):
    """Run code where torch cannot be imported, with an empty cache of networks."""
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH.format(code), *map(str, words)],
        env={**os.environ, "ORCALIGN_CACHE": str(cache)},
        capture_output=True,
        text=True,
    )


def test_scores_without_torch(tmp_path):
    """From videos to a page, with the default network made on the way, and its maps, and live."""
    from orcalign.video.drawn import draw_clips

    draw_clips(tmp_path)
    videos = [tmp_path / f"{name}.mp4" for name in ("demo", "good", "skips")]
    done = without_torch(
        "from orcalign.cli import main\nmain(['score', *sys.argv[1:]])",
        *videos, "--report", tmp_path / "page.html",
        cache=tmp_path / "cache",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "page.html").stat().st_size > 10_000
    done = without_torch(
        "import orcalign, numpy as np\n"
        "frames = orcalign.read_video(sys.argv[1]).frames\n"
        "for encoder in ('efficientnet-lite0-fine', 'efficientnet-lite0-mid', 'efficientnet-lite0'):\n"
        "    live = orcalign.VideoReward(frames, encoder=encoder, direction='past').stream()\n"
        "    live.push(frames[0])\n"
        "assert not orcalign.read_video(sys.argv[2]).frames[0].max() == 0",
        *videos[:2],
        cache=tmp_path / "cache",
    )
    assert done.returncode == 0, done.stderr


def test_other_encoders_say_what_they_need(tmp_path):
    done = without_torch(
        "from orcalign.encoders import make_encoder\nmake_encoder('resnet18', size=64)", cache=tmp_path / "cache"
    )
    said = done.stderr.strip().splitlines()[-1]
    assert said.startswith("ValueError: The encoder 'resnet18' needs the package torch: run `pip install")
    assert "'orcalign[torch]'" in said
