"""Image towers of the transformers library, wrapped to give one tensor and built for one input size."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from orcalign.encoders.weights import WeightsUnavailable

# The class that reads a family's files, and the model's own summary [B,D] in what it returns.
FAMILIES: dict[str, tuple[str, Callable[[Any], Tensor]]] = {
    "dinov2": ("Dinov2Model", lambda out: out.last_hidden_state[:, 0]),
    "dinov2_with_registers": ("Dinov2WithRegistersModel", lambda out: out.last_hidden_state[:, 0]),
    "siglip": ("SiglipVisionModel", lambda out: out.pooler_output),
    "clip": ("CLIPVisionModelWithProjection", lambda out: out.image_embeds),
}
# What a file may hold besides its image tower: SigLIP and CLIP come with the one for texts.
TEXT = re.compile(r"text_model\.|text_projection\.|logit_(scale|bias)$|.*\.position_ids$")


class VisionTower(nn.Module):
    """Pooled: the model's own summary [B,D]. Otherwise the patches, [B,C,h,w]."""

    def __init__(self, model: Any, family: str, size: int, pooled: bool) -> None:
        super().__init__()
        self.model, self.family, self.pooled = model, family, pooled
        self.grid = size // model.config.patch_size
        if family.startswith("dinov2"):
            # It fits its table to every picture, which a converted copy does with another cubic. Here it is done once.
            table, inside = model.embeddings.position_embeddings, torch.zeros(1, 1 + self.grid**2, 1)
            with torch.no_grad():
                fitted = model.embeddings.interpolate_pos_encoding(inside.expand(-1, -1, table.shape[2]), size, size)
            model.embeddings.position_embeddings = nn.Parameter(fitted.clone())
        self.interpolate = not family.startswith("dinov2") and size != model.config.image_size

    def forward(self, x: Tensor) -> Tensor:
        """Map normalised images [B,3,S,S] to the summary or to the patches."""
        # SigLIP and CLIP fit their table of positions to the picture only when told to.
        more = {"interpolate_pos_encoding": True} if self.interpolate else {}
        out = self.model(pixel_values=x, **more)
        if self.pooled:
            return FAMILIES[self.family][1](out)
        # They come last, after the summary and, where there are any, the register tokens.
        patches = out.last_hidden_state[:, -self.grid * self.grid :]
        features: Tensor = patches.transpose(1, 2).unflatten(2, (self.grid, self.grid))
        return features


def load_tower(folder: Path, family: str, size: int, pooled: bool) -> VisionTower:
    """The image tower in a folder, for one input size."""
    hint = "check that the files belong to this encoder (DINOv2 with register tokens is an encoder of its own, -reg)"
    model = load_part(folder, family, FAMILIES[family][0], TEXT, hint)
    patch = model.config.patch_size
    if size % patch:
        near = max(patch, round(size / patch) * patch)
        raise ValueError(f"The size is {size} pixels, but this {family} model cuts {patch}-pixel patches: use {near}.")
    return VisionTower(model, family, size, pooled)


def load_part(folder: Path, family: str, kind: str, beside: re.Pattern[str], hint: str) -> Any:
    """A part of a model, of the library's class `kind`, from a folder with ``config.json`` and safetensors.

    A missing or unknown tensor is an error, but for those that match `beside`, which belong to other parts. The library
    itself would only warn, fill a missing tensor with random numbers, and leave one out that it does not know, such as
    the register tokens of a DINOv2 that has some.
    """
    import transformers
    from transformers.utils import logging as untyped_logging

    logging: Any = untyped_logging
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        model, report = getattr(transformers, kind).from_pretrained(
            folder, local_files_only=True, use_safetensors=True, output_loading_info=True
        )
    except Exception as error:  # many kinds, from a broken JSON to a shape that does not fit
        raise WeightsUnavailable(
            f"{folder} does not hold a {family} model with safetensors ({type(error).__name__}): "
            "give the folder that save_pretrained wrote."
        ) from error
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
    if missing := sorted(report["missing_keys"]):
        raise WeightsUnavailable(
            f"{folder} lacks {len(missing)} tensor(s) of a {family} model, {missing[0]} among them: "
            "check that the files belong to this encoder."
        )
    if unknown := sorted(name for name in report["unexpected_keys"] if not beside.match(name)):
        raise WeightsUnavailable(
            f"{folder} has {len(unknown)} tensor(s) that a {family} model has not, {unknown[0]} among them: {hint}."
        )
    return model.float()
