"""CLIP's text tower (Radford et al., 2021): a transformer that reads from left to right, whose last token answers."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional

HEAD_WIDTH = 64
LAST_OF = "token_embedding.weight"
"""A name that only a text tower has: what stands before it is the wrapping of all its names."""


class Block(nn.Module):
    """Attention to the tokens before and to itself, then a small network; names of the layers as in CLIP's files."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.heads = max(1, width // HEAD_WIDTH)
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = nn.MultiheadAttention(width, self.heads, batch_first=True)
        self.mlp = nn.Sequential()
        self.mlp.add_module("c_fc", nn.Linear(width, 4 * width))
        self.mlp.add_module("c_proj", nn.Linear(4 * width, width))

    def forward(self, x: Tensor) -> Tensor:
        """Map tokens [B,L,W] to tokens [B,L,W]."""
        y = functional.linear(self.ln_1(x), self.attn.in_proj_weight, self.attn.in_proj_bias)
        query, key, value = (one.reshape(*one.shape[:2], self.heads, -1).transpose(1, 2) for one in y.chunk(3, dim=2))
        seen = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.attn.out_proj(seen.transpose(1, 2).flatten(2))
        y = self.mlp.get_submodule("c_fc")(self.ln_2(x))
        # CLIP's quick stand-in for the Gaussian error linear unit.
        out: Tensor = x + self.mlp.get_submodule("c_proj")(y * torch.sigmoid(1.702 * y))
        return out


class TextTransformer(nn.Module):
    """The tower; sentences come as tokens without padding, the last one being the end of the text.

    >>> net = TextTransformer(words=9, longest=6, width=64, depth=1, outputs=8).eval()
    >>> tuple(net(torch.tensor([[0, 3, 4, 8]])).shape)
    (1, 8)
    """

    def __init__(self, *, words: int, longest: int, width: int, depth: int, outputs: int) -> None:
        super().__init__()
        self.token_embedding = nn.Embedding(words, width)
        self.positional_embedding = nn.Parameter(torch.randn(longest, width) * 0.01)
        self.transformer = nn.Sequential()
        self.transformer.add_module("resblocks", nn.Sequential(*(Block(width) for _ in range(depth))))
        self.ln_final = nn.LayerNorm(width)
        self.text_projection = nn.Parameter(torch.randn(width, outputs) * width**-0.5)

    @property
    def longest(self) -> int:
        """Tokens that it can read at most."""
        return len(self.positional_embedding)

    def forward(self, tokens: Tensor) -> Tensor:
        """Map whole numbers [B,L] to embeddings [B,D]."""
        x = self.token_embedding(tokens) + self.positional_embedding[: tokens.shape[1]]
        x = self.ln_final(self.transformer(x))
        out: Tensor = x[:, -1] @ self.text_projection
        return out


def text_part(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The text tower's tensors in float32, whatever wrappers put before their names; KeyError if there is none.

    >>> one = torch.ones(1)
    >>> list(text_part({"module.model.token_embedding.weight": one, "module.model.visual.conv1.weight": one}))
    ['token_embedding.weight']
    """
    found = next((key for key in state if key.endswith(LAST_OF)), None)
    if found is None:
        raise KeyError(LAST_OF)
    before = found.removesuffix(LAST_OF)
    own = ("token_embedding.", "positional_embedding", "transformer.", "ln_final.", "text_projection")
    inside = {key.removeprefix(before): value for key, value in state.items() if key.startswith(before)}
    return {key: value.float() for key, value in inside.items() if key.startswith(own)}


def text_network_for(state: Mapping[str, Tensor]) -> TextTransformer:
    """A tower of the size that the tensors ask for."""
    (words, width), longest = state[LAST_OF].shape, state["positional_embedding"].shape[0]
    blocks = {key.split(".")[2] for key in state if key.startswith("transformer.resblocks.")}
    outputs = state["text_projection"].shape[1]
    return TextTransformer(words=words, longest=longest, width=width, depth=len(blocks), outputs=outputs)
