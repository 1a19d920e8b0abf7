"""Text towers of the transformers library, which answer with one embedding in the space of their image towers."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from orcalign.encoders.networks.vision_transformer import load_part

# The class that reads a family's files, its embedding [B,D], and whether it was trained on texts of one length.
TEXT_FAMILIES: dict[str, tuple[str, Callable[[Any], Tensor], bool]] = {
    "clip": ("CLIPTextModelWithProjection", lambda out: out.text_embeds, False),
    "siglip": ("SiglipTextModel", lambda out: out.pooler_output, True),
}
VISION = re.compile(r"vision_model\.|visual_projection\.|logit_(scale|bias)$|.*\.position_ids$")


class TextTower(nn.Module):
    """Tokens [B,L] to embeddings [B,D]."""

    def __init__(self, model: Any, family: str) -> None:
        super().__init__()
        self.model, self.family = model, family
        self.longest: int = model.config.max_position_embeddings

    def forward(self, tokens: Tensor) -> Tensor:
        """Fill up what was trained filled up, and read."""
        _, answer, filled = TEXT_FAMILIES[self.family]
        if filled:
            more = self.longest - tokens.shape[1]
            tokens = nn.functional.pad(tokens, (0, more), value=self.model.config.pad_token_id)
        return answer(self.model(input_ids=tokens))


def load_text_tower(folder: Path, family: str) -> TextTower:
    """The text tower in a folder with ``config.json`` and safetensors."""
    hint = "check that the files belong to this encoder"
    return TextTower(load_part(folder, family, TEXT_FAMILIES[family][0], VISION, hint), family)


def embed(network: nn.Module, tokens: list[int]) -> Any:
    """The embedding float32 [D] of one sentence."""
    with torch.inference_mode():
        return network(torch.tensor([tokens]))[0].numpy()
