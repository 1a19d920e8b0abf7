"""Text towers against transformers' own output, on small checkpoints and tokenizers made here."""

from __future__ import annotations

import numpy as np
import pytest
from encoders.small_checkpoints import clip_tower, liv_pair, pair, tiny_transformer
from encoders.test_registry import no_network  # noqa: F401 (a fixture)

from orcalign.encoders import ENCODERS, WeightsUnavailable, make_encoder, make_text_encoder

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
SENTENCES = ("close the door", "Open a red drawer", "door", "reach the handle and then open the drawer")
NAMES = {"clip": "clip-vit-base", "siglip": "siglip-base"}
READERS = [name for name, entry in ENCODERS.items() if entry.text is not None]


@pytest.mark.parametrize("family", NAMES)
def test_same_as_the_library(family, tmp_path):
    model, tokenizer = pair(family, tmp_path)
    pictures = np.random.default_rng(1).integers(0, 256, (2, 56, 56, 3), np.uint8)
    encoder = make_encoder(NAMES[family], size=56, pooled=True, weights=tmp_path, engine="torch")
    reader = make_text_encoder(NAMES[family], weights=tmp_path)
    # As the library's own processors call them: SigLIP's texts are filled up to their whole length.
    fill = {"padding": "max_length", "max_length": 40} if family == "siglip" else {"padding": True}
    given = tokenizer(list(SENTENCES), return_tensors="pt", **fill)
    with torch.inference_mode():
        text = model.get_text_features(input_ids=given["input_ids"]).pooler_output
    said = reader(SENTENCES)
    np.testing.assert_allclose(said, text, atol=2e-4)
    assert said.shape[1] == encoder.dim, "both towers answer in one space"
    # And so does the whole: the cosines are the library's logits without its scale.
    mean, std = (np.array(values) for values in tiny_transformer(family)[1])
    batch = torch.tensor(((pictures - mean) / std).transpose(0, 3, 1, 2), dtype=torch.float32)
    with torch.inference_mode():
        logits = model(input_ids=given["input_ids"], pixel_values=batch).logits_per_image
        theirs = (logits - getattr(model, "logit_bias", 0)) / model.logit_scale.exp()
    seen, said = (one / np.linalg.norm(one, axis=1, keepdims=True) for one in (encoder(pictures), said))
    np.testing.assert_allclose(seen @ said.T, theirs, atol=1e-4)


def test_livs_layout_gives_what_the_library_gives(tmp_path):
    file, text, tokenizer = liv_pair(tmp_path)
    given = tokenizer(list(SENTENCES), return_tensors="pt", padding=True)
    with torch.inference_mode():
        expected = text(**given).text_embeds
    for name in ("liv", "clip-resnet"):
        reader = make_text_encoder(name, weights=file)
        np.testing.assert_allclose(reader(SENTENCES), expected, atol=2e-4)
        assert reader(SENTENCES).shape[1] == make_encoder(name, size=64, weights=file, engine="torch").dim


def test_a_model_of_ones_own_says_its_size(tmp_path):
    file, *_ = liv_pair(tmp_path)
    assert make_encoder("clip-resnet", weights=file, engine="torch").size == 64


def test_other_sentences_change_nothing(tmp_path):
    file, *_ = liv_pair(tmp_path)
    reader = make_text_encoder("liv", weights=file)
    np.testing.assert_array_equal(reader(SENTENCES)[2:3], reader(SENTENCES[2:3]))


def test_case_and_spaces_are_the_tokenizers(tmp_path):
    reader = make_text_encoder("liv", weights=liv_pair(tmp_path)[0])
    np.testing.assert_array_equal(reader(["Close  the DOOR"]), reader(["close the door"]))


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("  ", "A sentence is empty"),
        ("close the door " * 20, r"has \d+ tokens and liv reads at most 40; say it shorter"),
    ],
)
def test_bad_sentences_are_refused(sentence, text, tmp_path):
    with pytest.raises(ValueError, match=text):
        make_text_encoder("liv", weights=liv_pair(tmp_path)[0])([sentence])


def test_words_that_the_model_does_not_know(tmp_path):
    import tokenizers

    file, *_ = liv_pair(tmp_path)
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel({"<unk>": 0, "go": 1, "red": 2}, unk_token="<unk>"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    made.save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(ValueError, match=r"does not know the word 'purple' in 'go purple'.*It knows: go, red"):
        make_text_encoder("clip-resnet", weights=file)(["go purple"])


@pytest.mark.parametrize("name", READERS)
def test_without_weights_one_sentence_says_what_to_fetch(name, no_network):  # noqa: F811
    with pytest.raises(WeightsUnavailable) as caught:
        make_text_encoder(name)
    text = str(caught.value)
    assert "\n" not in text
    if name == "clip-resnet":
        assert "--weights MODEL.safetensors" in text
    else:
        assert ENCODERS[name].weights.repo in text
        assert "tokenizer.json" in text
        assert "--weights FOLDER" in text


def test_an_encoder_without_a_text_tower_names_those_that_have_one():
    with pytest.raises(ValueError, match=r"'resnet18' reads no sentences\. Those that do: siglip-base, clip-vit-base"):
        make_text_encoder("resnet18")
    with pytest.raises(ValueError, match="did you mean 'clip-resnet'"):
        make_text_encoder("clip-resnett")


def test_a_file_of_another_layout_says_which_key_is_missing(tmp_path):
    from safetensors.torch import load_file, save_file

    file, *_ = liv_pair(tmp_path)
    state = load_file(file)
    save_file(clip_tower(), tmp_path / "pictures-only.safetensors")
    with pytest.raises(WeightsUnavailable, match=r"lacks token_embedding\.weight: liv needs .* CLIP's text tower"):
        make_text_encoder("liv", weights=tmp_path / "pictures-only.safetensors")
    del state["module.model.transformer.resblocks.1.ln_1.weight"]
    save_file(state, file)
    with pytest.raises(WeightsUnavailable, match=r"Missing key\(s\).*transformer.resblocks.1.ln_1.weight"):
        make_text_encoder("liv", weights=file)


def test_a_folder_without_the_text_tower_or_its_tokenizer(tmp_path):
    pair("clip", tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(WeightsUnavailable, match=r"There is no tokenizer\.json beside"):
        make_text_encoder("clip-vit-base", weights=tmp_path)
    tiny_transformer("clip")[0].save_pretrained(tmp_path)
    with pytest.raises(WeightsUnavailable, match=r"lacks \d+ tensor\(s\) of a clip model, text_model|text_projection"):
        make_text_encoder("clip-vit-base", weights=tmp_path)


def test_a_broken_tokenizer(tmp_path):
    file, *_ = liv_pair(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(WeightsUnavailable, match=r"is not a tokenizer .*: get it again"):
        make_text_encoder("liv", weights=file)
