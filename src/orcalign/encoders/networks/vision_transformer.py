"""Image towers of the transformers library, wrapped to give one tensor and built for one input size."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from orcalign.encoders.weights import WeightsUnavailable

# The class that reads a family's files, and the model's own summary [B,D] in what it returns.
FAMILIES: dict[str, tuple[str, Callable[[Any], Tensor]]] = {
    "dinov2": ("Dinov2Model", lambda out: out.last_hidden_state[:, 0]),
    "siglip": ("SiglipVisionModel", lambda out: out.pooler_output),
    "clip": ("CLIPVisionModelWithProjection", lambda out: out.image_embeds),
}


class VisionTower(nn.Module):
    """Pooled: the model's own summary [B,D]. Otherwise the patches, [B,C,h,w]."""

    def __init__(self, model: Any, family: str, size: int, pooled: bool) -> None:
        super().__init__()
        self.model, self.family, self.pooled = model, family, pooled
        self.grid = size // model.config.patch_size
        self.interpolate = family != "dinov2" and size != model.config.image_size

    def forward(self, x: Tensor) -> Tensor:
        """Map normalised images [B,3,S,S] to the summary or to the patches."""
        # DINOv2 fits its position table to the picture by itself, the others only when told to.
        more = {"interpolate_pos_encoding": True} if self.interpolate else {}
        out = self.model(pixel_values=x, **more)
        if self.pooled:
            return FAMILIES[self.family][1](out)
        patches = out.last_hidden_state[:, -self.grid * self.grid :]
        features: Tensor = patches.transpose(1, 2).unflatten(2, (self.grid, self.grid))
        return features


def load_tower(folder: Path, family: str, size: int, pooled: bool) -> VisionTower:
    """A tower from a folder with ``config.json`` and safetensors; a tensor that is missing is an error.

    The library itself would fill a missing tensor with random numbers and only warn.
    """
    import transformers
    from transformers.utils import logging as untyped_logging

    logging: Any = untyped_logging
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        model, report = getattr(transformers, FAMILIES[family][0]).from_pretrained(
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
    patch = model.config.patch_size
    if size % patch:
        near = max(patch, round(size / patch) * patch)
        raise ValueError(f"The size is {size} pixels, but this {family} model cuts {patch}-pixel patches: use {near}.")
    return VisionTower(model.float(), family, size, pooled)
