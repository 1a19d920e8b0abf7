from __future__ import annotations

import pytest

from orcalign.encoders import ENCODERS, Encoder, WeightsUnavailable, make_encoder
from orcalign.encoders.backbone import Backbone
from orcalign.encoders.backbones import Request

NEEDS_NO_NETWORK = {"efficientnet-lite0", "efficientnet-lite0-mid", "efficientnet-lite0-fine", "pixels"}


@pytest.fixture
def no_network(monkeypatch, tmp_path):
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))


@pytest.mark.parametrize("name", ENCODERS)
def test_every_entry_resolves_or_says_in_one_sentence_why_not(name, no_network):
    entry = ENCODERS[name]
    assert entry.summary
    assert entry.weights
    assert entry.licence
    try:
        made = entry.factory(Request(name, entry.size, entry.pooled))
    except WeightsUnavailable as reason:
        text = str(reason)
        assert name not in NEEDS_NO_NETWORK
        assert "\n" not in text
        assert text.endswith(".")
        assert "--encoder efficientnet-lite0" in text or "`orcalign weights get " in text
    else:
        assert isinstance(made, Backbone | Encoder)


@pytest.mark.parametrize(("name", "near"), [("efficientnet", "efficientnet-lite0"), ("dino-v2-base", "dinov2-base")])
def test_an_unknown_name_lists_the_known_ones(name, near):
    with pytest.raises(ValueError, match=f"did you mean '{near}'\\? Known: .*pixels"):
        make_encoder(name)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"size": 0}, "size is 0; it must be a whole number of at least 1"),
        ({"size": 16}, "needs at least 32"),
        ({"batch": 0}, "batch is 0; it must be"),
        ({"threads": 0}, "threads is 0; it must be"),
        ({"engine": "tensorrt"}, "engine is 'tensorrt'; Known: auto, openvino"),
    ],
)
def test_bad_settings_are_refused(settings, text):
    with pytest.raises(ValueError, match=text):
        make_encoder(**({"size": 64} | settings))


def test_a_gpu_that_is_not_there():
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is one")
    with pytest.raises(ValueError, match="finds no such GPU here"):
        make_encoder(engine="torch-cuda")
