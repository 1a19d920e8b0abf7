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
