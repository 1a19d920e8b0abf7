"""Networks of the agents. Their weights are left unset: `initialise` draws them, or they are loaded."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

if TYPE_CHECKING:
    from orcalign.agents.registry import TrunkSettings

CHANNELS = 32
SMALLEST = 15
"""Pixels that the four convolutions need."""


def dense(inputs: int, outputs: int, bias: bool = True) -> nn.Linear:
    """[B, inputs] → [B, outputs]; unlike one that torch fills it draws nothing from the global generator."""
    return nn.Linear(inputs, outputs, bias, device="meta").to_empty(device="cpu")


class Norm(nn.Module):
    """LayerNorm over the last axis."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.empty(size))
        self.shift = nn.Parameter(torch.empty(size))

    def forward(self, x: Tensor) -> Tensor:
        """[..., size] → [..., size]."""
        return functional.layer_norm(x, x.shape[-1:], self.gain, self.shift)


class Trunk(nn.Module):
    """[B, inputs] → [B, size] in -1 to 1."""

    def __init__(self, inputs: int, size: int) -> None:
        super().__init__()
        self.dense = dense(inputs, size)
        self.norm = Norm(size)

    def forward(self, x: Tensor) -> Tensor:
        """[B, inputs] → [B, size]."""
        return torch.tanh(self.norm(self.dense(x)))


def make_trunk(inputs: int, size: int) -> tuple[nn.Module, int]:
    """A trunk, or nothing for size 0; and how many features [B, ...] come out of it."""
    return (Trunk(inputs, size), size) if size else (nn.Identity(), inputs)


def make_head(inputs: int, outputs: int, settings: TrunkSettings) -> nn.Sequential:
    """[B, inputs] → [B, outputs], by two hidden layers and one that only adds up."""
    layers: list[nn.Module] = []
    for size in (inputs, settings.hidden):
        layers.append(dense(size, settings.hidden))
        if settings.layer_norm:
            layers.append(Norm(settings.hidden))
        layers.append(nn.ReLU(inplace=True))
    return nn.Sequential(*layers, dense(settings.hidden, outputs))


class Actor(nn.Module):
    """Deterministic policy: features [B, D] → actions [B, A] in -1 to 1."""

    def __init__(self, features: int, action_dim: int, settings: TrunkSettings) -> None:
        super().__init__()
        self.trunk, inputs = make_trunk(features, settings.trunk)
        self.layers = make_head(inputs, action_dim, settings)

    def forward(self, features: Tensor) -> Tensor:
        """[B, D] → [B, A]."""
        return torch.tanh(self.raw(features))

    def raw(self, features: Tensor) -> Tensor:
        """[B, D] → [B, A], before the tanh."""
        raw: Tensor = self.layers(self.trunk(features))
        return raw

    def act(self, features: Tensor, noise: Tensor | None) -> Tensor:
        """The policy's action plus ``noise`` [B, A], kept within -1 to 1."""
        actions: Tensor = self(features)
        return actions if noise is None else (actions + noise).clamp(-1, 1)

    @staticmethod
    def finish(raw: np.ndarray, noise: np.ndarray | None) -> np.ndarray:
        """The same from what `raw` says of one state, [A]."""
        action: np.ndarray = np.tanh(raw)
        return action if noise is None else np.clip(action + np.asarray(noise, np.float32), -1, 1)


class Critic(nn.Module):
    """Values of actions, by each of two critics: features [B, D], actions [B, A] → [2, B].

    The smaller one counts: it does not run away upwards as one alone does.
    """

    def __init__(self, features: int, action_dim: int, settings: TrunkSettings) -> None:
        super().__init__()
        self.trunk, inputs = make_trunk(features, settings.trunk)
        # One after the other: with one stacked tensor for all, LayerNorm has no fused kernel, and takes longer.
        self.heads = nn.ModuleList(make_head(inputs + action_dim, 1, settings) for _ in range(2))

    def forward(self, features: Tensor, actions: Tensor) -> Tensor:
        """[B, D], [B, A] → [2, B]."""
        both = torch.cat([self.trunk(features), actions], dim=-1)
        return torch.cat([head(both) for head in self.heads], dim=-1).T


class ImageEncoder(nn.Module):
    """Four convolutions: uint8 [B, C, H, W] → features [B, size].

    >>> ImageEncoder(9, 84, 84).size
    39200
    >>> ImageEncoder(9, 84, 8)
    Traceback (most recent call last):
    ...
    ValueError: The image observation is 84x8 pixels; it must be at least 15x15, and 84x84 is usual.
    """

    def __init__(self, channels: int, height: int, width: int) -> None:
        super().__init__()
        if min(height, width) < SMALLEST:
            raise ValueError(
                f"The image observation is {height}x{width} pixels; it must be at least {SMALLEST}x{SMALLEST}, "
                f"and 84x84 is usual."
            )
        self.layers = nn.Sequential()
        for inputs, stride in ((channels, 2), *[(CHANNELS, 1)] * 3):
            convolution = nn.Conv2d(inputs, CHANNELS, 3, stride, device="meta").to_empty(device="cpu")
            self.layers.extend([convolution, nn.ReLU(inplace=True)])
        self.size = CHANNELS * math.prod((side - 3) // 2 + 1 - 6 for side in (height, width))

    def forward(self, observations: Tensor) -> Tensor:
        """Uint8 [B, C, H, W] → float32 [B, size]."""
        pixels = observations.float().div_(255).sub_(0.5)
        # Channels last takes two thirds of the time on a CPU, and flattened in that order nothing is copied.
        maps: Tensor = self.layers(pixels.contiguous(memory_format=torch.channels_last))
        return maps.permute(0, 2, 3, 1).flatten(1)


def make_encoder(observation_shape: tuple[int, ...]) -> tuple[nn.Module, int]:
    """The encoder for states (D,), which are features already, or images (C, H, W); and how many features it has.

    >>> make_encoder((40,))
    (Identity(), 40)
    """
    if len(observation_shape) == 1:
        return nn.Identity(), observation_shape[0]
    encoder = ImageEncoder(*observation_shape)
    return encoder, encoder.size


@torch.no_grad()
def initialise(network: nn.Module, generator: torch.Generator) -> None:
    """Draw weights: orthogonal, biases zero, norms neutral.

    >>> layer = dense(3, 3)
    >>> initialise(layer, torch.Generator().manual_seed(0))
    >>> torch.allclose(layer.weight @ layer.weight.T, torch.eye(3), atol=1e-6)
    True
    """
    for module in network.modules():
        if isinstance(module, Norm):
            module.gain.fill_(1)
            module.shift.fill_(0)
        elif isinstance(module, nn.Linear | nn.Conv2d):
            # A convolution feeds a ReLU, which halves what passes.
            gain = math.sqrt(2) if isinstance(module, nn.Conv2d) else 1
            nn.init.orthogonal_(module.weight, gain, generator=generator)
            if module.bias is not None:
                module.bias.fill_(0)
