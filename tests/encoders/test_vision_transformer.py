"""Loaders of hub models, on tiny checkpoints with random weights."""

from __future__ import annotations

import numpy as np
import pytest
from encoders.small_checkpoints import tiny_transformer

from orcalign.encoders import WeightsUnavailable, make_encoder

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

NAMES = {
    "dinov2": "dinov2-small",
    "dinov2_with_registers": "dinov2-small-reg",
    "siglip": "siglip-base",
    "clip": "clip-vit-base",
}


@pytest.mark.parametrize(("pooled", "size"), [(True, 56), (False, 56), (False, 84)])
@pytest.mark.parametrize("family", NAMES)
def test_same_as_the_library(family, pooled, size, tmp_path, cosine):
    model, colours = tiny_transformer(family)
    model.save_pretrained(tmp_path)
    images = np.random.default_rng(4).integers(0, 256, (3, size, size, 3), np.uint8)
    mean, std = (np.array(values, np.float32) for values in colours)
    batch = torch.tensor(((images - mean) / std).transpose(0, 3, 1, 2))
    more = {} if "dinov2" in family else {"interpolate_pos_encoding": size != 56}
    with torch.inference_mode():
        out = model(pixel_values=batch, **more)
    if pooled:
        summary = {"siglip": "pooler_output", "clip": "image_embeds"}
        expected = out[summary[family]] if family in summary else out.last_hidden_state[:, 0]
    else:
        before = {"siglip": 0, "dinov2_with_registers": 1 + 3}.get(family, 1)
        patches = out.last_hidden_state[:, before:]
        expected = patches.transpose(1, 2).flatten(1)

    for engine in ("openvino", "torch"):
        encoder = make_encoder(NAMES[family], size=size, weights=tmp_path, pooled=pooled, engine=engine)
        features = encoder(images)
        assert features.shape == expected.shape == (3, encoder.dim)
        assert cosine(features, expected) > 1 - 1e-4
        np.testing.assert_allclose(features, expected, atol=1e-3)


def test_a_size_that_patches_do_not_fill_names_one_that_they_do(tmp_path):
    tiny_transformer("dinov2")[0].save_pretrained(tmp_path)
    with pytest.raises(ValueError, match=r"The size is 60 pixels.*14-pixel patches: use 56\."):
        make_encoder("dinov2-small", size=60, weights=tmp_path)


def test_missing_tensors_are_not_filled_with_noise(tmp_path):
    from safetensors.torch import load_file, save_file

    tiny_transformer("dinov2")[0].save_pretrained(tmp_path)
    state = load_file(tmp_path / "model.safetensors")
    del state["layernorm.weight"]
    save_file(state, tmp_path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(WeightsUnavailable, match=r"lacks 1 tensor\(s\) of a dinov2 model, layernorm.weight"):
        make_encoder("dinov2-small", size=56, weights=tmp_path)


def test_register_tokens_are_not_left_out_in_silence(tmp_path):
    tiny_transformer("dinov2_with_registers")[0].save_pretrained(tmp_path)
    with pytest.raises(
        WeightsUnavailable, match=r"has 1 tensor\(s\) that a dinov2 model has not, .*register_tokens.*-reg"
    ):
        make_encoder("dinov2-small", size=56, weights=tmp_path)


def test_nor_invented(tmp_path):
    tiny_transformer("dinov2")[0].save_pretrained(tmp_path)
    with pytest.raises(
        WeightsUnavailable, match=r"lacks 1 tensor\(s\) of a dinov2_with_registers model, .*register_tok"
    ):
        make_encoder("dinov2-small-reg", size=56, weights=tmp_path)


@pytest.mark.parametrize("family", ["siglip", "clip"])
def test_the_tower_for_texts_may_come_along(family, tmp_path):
    import transformers
    from safetensors.torch import load_file

    kind = {"siglip": "Siglip", "clip": "CLIP"}[family]
    vision_config = tiny_transformer(family)[0].config.to_dict()
    text = {"vocab_size": 99, "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 4}
    config = getattr(transformers, f"{kind}Config")(
        text_config=text | {"intermediate_size": 64, "projection_size": 32, "projection_dim": 24},
        vision_config=vision_config,
        projection_dim=24,
    )
    whole = getattr(transformers, f"{kind}Model")(config).eval()
    whole.save_pretrained(tmp_path / "whole")
    state = load_file(tmp_path / "whole" / "model.safetensors")
    own = {"siglip": transformers.SiglipVisionModel, "clip": transformers.CLIPVisionModelWithProjection}[family]
    vision = own.from_pretrained(tmp_path / "whole")
    vision.save_pretrained(tmp_path / "vision")
    assert any(name.startswith("text_model.") for name in state)
    images = np.random.default_rng(4).integers(0, 256, (2, 56, 56, 3), np.uint8)
    alone, along = (
        make_encoder(NAMES[family], size=56, weights=tmp_path / one, pooled=True, engine="torch")(images)
        for one in ("vision", "whole")
    )
    np.testing.assert_array_equal(alone, along)


@pytest.mark.parametrize(
    ("config", "text"), [("", "does not hold a dinov2 model"), (None, "has no config.json with model")]
)
def test_a_broken_folder_is_one_sentence(tmp_path, config, text):
    tiny_transformer("dinov2")[0].save_pretrained(tmp_path)
    if config is None:
        (tmp_path / "config.json").unlink()
    else:
        (tmp_path / "config.json").write_text(config)
    with pytest.raises(WeightsUnavailable, match=text):
        make_encoder("dinov2-small", size=56, weights=tmp_path)
