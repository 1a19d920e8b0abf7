"""Checkpoints with random weights, small copies of what is on a hub."""

from __future__ import annotations

import pytest

from orcalign.encoders.backbones import CLIP, HALF, IMAGENET

torch = pytest.importorskip("torch")
DEPTHS = (2, 1, 1, 1)
WIDTH = 16
SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}


def tiny_transformer(family):
    """A tower of the transformers library with random weights, and its colour statistics."""
    import transformers

    torch.manual_seed(5)
    if family == "dinov2":
        config = transformers.Dinov2Config(**SMALL, image_size=56, patch_size=14, layerscale_value=0.5)
        return transformers.Dinov2Model(config).eval(), IMAGENET
    if family == "dinov2_with_registers":
        config = transformers.Dinov2WithRegistersConfig(
            **SMALL, image_size=56, patch_size=14, layerscale_value=0.5, num_register_tokens=3
        )
        model = transformers.Dinov2WithRegistersModel(config).eval()
        # Zero at first, when they would change hardly anything.
        model.embeddings.register_tokens.data.normal_()
        return model, IMAGENET
    if family == "siglip":
        config = transformers.SiglipVisionConfig(**SMALL, image_size=56, patch_size=14)
        return transformers.SiglipVisionModel(config).eval(), HALF
    config = transformers.CLIPVisionConfig(**SMALL, image_size=56, patch_size=14, projection_dim=24)
    return transformers.CLIPVisionModelWithProjection(config).eval(), CLIP


def clip_tower():
    """A small tower with CLIP's names, in half precision as LIV's file, inside LIV's wrapping."""
    generator = torch.Generator().manual_seed(0)
    tensors = {}

    def conv(name, outputs, inputs, kernel):
        scale = (inputs * kernel * kernel) ** -0.5
        tensors[f"{name}.weight"] = torch.randn(outputs, inputs, kernel, kernel, generator=generator) * scale * 1.4

    def norm(name, width):
        tensors[f"{name}.weight"] = torch.rand(width, generator=generator) + 0.5
        tensors[f"{name}.bias"] = torch.randn(width, generator=generator) * 0.2
        tensors[f"{name}.running_mean"] = torch.randn(width, generator=generator) * 0.2
        tensors[f"{name}.running_var"] = torch.rand(width, generator=generator) + 0.5
        tensors[f"{name}.num_batches_tracked"] = torch.tensor(3)

    for number, (inputs, outputs) in enumerate([(3, 8), (8, 8), (8, WIDTH)], start=1):
        conv(f"conv{number}", outputs, inputs, 3)
        norm(f"bn{number}", outputs)
    inputs = WIDTH
    for stage, depth in enumerate(DEPTHS):
        width = WIDTH * 2**stage
        for block in range(depth):
            place = f"layer{stage + 1}.{block}"
            for number, (a, b, kernel) in enumerate(
                [(inputs, width, 1), (width, width, 3), (width, 4 * width, 1)], start=1
            ):
                conv(f"{place}.conv{number}", b, a, kernel)
                norm(f"{place}.bn{number}", b)
            if block == 0:
                conv(f"{place}.downsample.0", 4 * width, inputs, 1)
                norm(f"{place}.downsample.1", 4 * width)
            inputs = 4 * width
    for name, outputs in [("q_proj", inputs), ("k_proj", inputs), ("v_proj", inputs), ("c_proj", 24)]:
        tensors[f"attnpool.{name}.weight"] = torch.randn(outputs, inputs, generator=generator) * inputs**-0.5
        tensors[f"attnpool.{name}.bias"] = torch.randn(outputs, generator=generator) * 0.1
    tensors["attnpool.positional_embedding"] = torch.randn(5, inputs, generator=generator)
    wrapped = {
        f"module.model.visual.{name}": value.half() if value.is_floating_point() else value
        for name, value in tensors.items()
    }
    return wrapped | {"module.model.logit_scale": torch.tensor(4.6)}


WORDS = ("close", "open", "the", "door", "drawer", "and", "then", "a", "red", "square", "reach", "handle")


def clip_tokenizer(folder):
    """CLIP's kind: pairs of letters merged, ends of words and of the text marked; saved as tokenizer.json."""
    import transformers

    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    vocab = {token: number for number, token in enumerate([*letters, *(f"{one}</w>" for one in letters)])}
    merges = [("o", "r</w>"), ("t", "h"), ("th", "e</w>"), ("o", "or</w>"), ("d", "oor</w>")]
    for pair in merges:
        vocab["".join(pair)] = len(vocab)
    for special in ("<|startoftext|>", "<|endoftext|>"):
        vocab[special] = len(vocab)
    made = transformers.CLIPTokenizer(vocab=vocab, merges=merges)
    made.save_pretrained(folder)
    return made


def siglip_tokenizer(folder):
    """SigLIP's kind: pieces by their likelihood, the end of the text marked; saved as tokenizer.json."""
    import tokenizers
    import transformers

    pieces = [("</s>", 0.0), ("<unk>", -20.0), ("▁", -3.0)]
    pieces += [(f"▁{word}", -2.0) for word in WORDS] + [(chr(code), -6.0) for code in range(ord("a"), ord("z") + 1)]
    made = tokenizers.Tokenizer(tokenizers.models.Unigram(pieces, unk_id=1))
    made.normalizer = tokenizers.normalizers.Lowercase()
    made.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    made.post_processor = tokenizers.processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 0)])
    whole = transformers.PreTrainedTokenizerFast(tokenizer_object=made, eos_token="</s>", pad_token="</s>")
    whole.save_pretrained(folder)
    return whole


def pair(family, folder):
    """A whole model of transformers with both towers and its tokenizer, saved in the folder."""
    import transformers

    torch.manual_seed(6)
    tokenizer = {"clip": clip_tokenizer, "siglip": siglip_tokenizer}[family](folder)
    kind = {"siglip": "Siglip", "clip": "CLIP"}[family]
    ends = {"eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id, "bos_token_id": 1}
    text = {
        **SMALL,
        "vocab_size": len(tokenizer),
        "max_position_embeddings": 40,
        "projection_size": 32,
        "projection_dim": 24,
        **ends,
    }
    config = getattr(transformers, f"{kind}Config")(
        text_config=text, vision_config=tiny_transformer(family)[0].config.to_dict(), projection_dim=24
    )
    model = getattr(transformers, f"{kind}Model")(config).eval()
    for name, value in model.named_parameters():
        if value.ndim > 1 and "logit" not in name:
            value.data.normal_(0, 0.3)  # as made, everything is nearly the same sentence
    model.save_pretrained(folder)
    return model, tokenizer


def liv_pair(folder, width=128, depth=2):
    """A file with LIV's names and wrapping, both towers in it, and the text tower as transformers has it."""
    import transformers
    from safetensors.torch import save_file

    torch.manual_seed(7)
    tokenizer = clip_tokenizer(folder)
    config = transformers.CLIPTextConfig(
        hidden_size=width, num_hidden_layers=depth, num_attention_heads=width // 64, intermediate_size=4 * width,
        projection_dim=24, vocab_size=len(tokenizer), max_position_embeddings=40, hidden_act="quick_gelu",
        eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id, bos_token_id=1,
    )  # fmt: skip
    text = transformers.CLIPTextModelWithProjection(config).eval()
    for value in text.parameters():
        value.data = (value + torch.randn_like(value) * 0.1).half().float()
    state = {name.removeprefix("text_model."): value for name, value in text.state_dict().items()}
    own = {
        "token_embedding.weight": state["embeddings.token_embedding.weight"],
        "positional_embedding": state["embeddings.position_embedding.weight"],
        "ln_final.weight": state["final_layer_norm.weight"],
        "ln_final.bias": state["final_layer_norm.bias"],
        "text_projection": state["text_projection.weight"].T.contiguous(),
    }
    for k in range(depth):
        theirs, ours = f"encoder.layers.{k}.", f"transformer.resblocks.{k}."
        for part in ("weight", "bias"):
            three = [state[f"{theirs}self_attn.{one}_proj.{part}"] for one in "qkv"]
            own[f"{ours}attn.in_proj_{part}"] = torch.cat(three)
            own[f"{ours}attn.out_proj.{part}"] = state[f"{theirs}self_attn.out_proj.{part}"]
            own[f"{ours}ln_1.{part}"] = state[f"{theirs}layer_norm1.{part}"]
            own[f"{ours}ln_2.{part}"] = state[f"{theirs}layer_norm2.{part}"]
            own[f"{ours}mlp.c_fc.{part}"] = state[f"{theirs}mlp.fc1.{part}"]
            own[f"{ours}mlp.c_proj.{part}"] = state[f"{theirs}mlp.fc2.{part}"]
    file = folder / "model.safetensors"
    save_file(clip_tower() | {f"module.model.{name}": value.half() for name, value in own.items()}, file)
    return file, text, tokenizer
