"""Networks of the agents. Their weights are left unset: `initialise` draws them, or they are loaded."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

from orcalign.agents.images import Convolution, ImageEncoder

if TYPE_CHECKING:
    from orcalign.agents.settings import AgentSettings

LOG_STD = (-20.0, 2.0)
"""Bounds of a Gaussian policy's log standard deviation: beyond them probabilities overflow."""


class Dense(nn.Module):
    """Linear layer [B, inputs] → [B, outputs]; unlike torch's it draws nothing from the global generator."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs))
        self.bias = nn.Parameter(torch.empty(outputs))

    def forward(self, x: Tensor) -> Tensor:
        """[B, inputs] → [B, outputs]."""
        return functional.linear(x, self.weight, self.bias)


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
        self.dense = Dense(inputs, size)
        self.norm = Norm(size)

    def forward(self, x: Tensor) -> Tensor:
        """[B, inputs] → [B, size]."""
        return torch.tanh(self.norm(self.dense(x)))


def _trunk(inputs: int, size: int) -> tuple[nn.Module, int]:
    return (Trunk(inputs, size), size) if size else (nn.Identity(), inputs)


def _head(inputs: int, outputs: int, settings: AgentSettings) -> nn.Sequential:
    layers: list[nn.Module] = []
    for size in (inputs, settings.hidden):
        layers.append(Dense(size, settings.hidden))
        if settings.layer_norm:
            layers.append(Norm(settings.hidden))
        layers.append(nn.ReLU(inplace=True))
    return nn.Sequential(*layers, Dense(settings.hidden, outputs))


class Actor(nn.Module):
    """Deterministic policy: features [B, D] → actions [B, A] in -1 to 1."""

    def __init__(self, features: int, action_dim: int, settings: AgentSettings) -> None:
        super().__init__()
        self.trunk, inputs = _trunk(features, settings.trunk)
        self.layers = _head(inputs, action_dim, settings)

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


class GaussianActor(nn.Module):
    """Stochastic policy: features [B, D] → mean and standard deviation [B, A] before a tanh."""

    def __init__(self, features: int, action_dim: int, settings: AgentSettings) -> None:
        super().__init__()
        self.trunk, inputs = _trunk(features, settings.trunk)
        self.layers = _head(inputs, 2 * action_dim, settings)

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """[B, D] → mean [B, A], log standard deviation [B, A]."""
        mean, log_std = self.layers(self.trunk(features)).chunk(2, dim=-1)
        return mean, log_std.clamp(*LOG_STD)

    def act(self, features: Tensor, noise: Tensor | None) -> Tensor:
        """The mean's action; ``noise`` [B, A] of variance 1 makes it a draw from the policy."""
        mean, log_std = self(features)
        return torch.tanh(mean if noise is None else mean + log_std.exp() * noise)

    def sample(self, features: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Actions [B, A] drawn from the policy, and their log probability [B]."""
        mean, log_std = self(features)
        noise = torch.empty_like(mean).normal_(generator=generator)
        raw = mean + log_std.exp() * noise
        # log(1 - tanh(raw)^2), in a form that does not lose everything where tanh is nearly 1.
        log_slope = 2 * (math.log(2) - raw - functional.softplus(-2 * raw))
        log_prob = -0.5 * noise**2 - log_std - 0.5 * math.log(2 * math.pi) - log_slope
        return torch.tanh(raw), log_prob.sum(-1)


class Critic(nn.Module):
    """Values of actions, by each critic: features [B, D], actions [B, A] → [critics, B]."""

    def __init__(self, features: int, action_dim: int, settings: AgentSettings) -> None:
        super().__init__()
        self.trunk, inputs = _trunk(features, settings.trunk)
        # One after the other: with one stacked tensor for all, LayerNorm has no fused kernel, and takes longer.
        self.heads = nn.ModuleList(_head(inputs + action_dim, 1, settings) for _ in range(settings.critics))

    def forward(self, features: Tensor, actions: Tensor) -> Tensor:
        """[B, D], [B, A] → [critics, B]."""
        both = torch.cat([self.trunk(features), actions], dim=-1)
        return torch.cat([head(both) for head in self.heads], dim=-1).T


class StateEncoder(nn.Module):
    """States are features already."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def forward(self, observations: Tensor) -> Tensor:
        """[B, D] → [B, D]."""
        return observations


def make_encoder(observation_shape: tuple[int, ...]) -> StateEncoder | ImageEncoder:
    """The encoder for states (D,) or images (C, H, W); its ``size`` is that of the features.

    >>> make_encoder((40,)).size
    40
    """
    return (
        StateEncoder(*observation_shape) if len(observation_shape) == 1 else ImageEncoder(*observation_shape)
    )


@torch.no_grad()
def initialise(network: nn.Module, generator: torch.Generator) -> None:
    """Draw weights: orthogonal, biases zero, norms neutral.

    >>> layer = Dense(3, 3)
    >>> initialise(layer, torch.Generator().manual_seed(0))
    >>> torch.allclose(layer.weight @ layer.weight.T, torch.eye(3), atol=1e-6)
    True
    """
    for module in network.modules():
        if isinstance(module, Norm):
            module.gain.fill_(1)
            module.shift.fill_(0)
        elif isinstance(module, Dense | Convolution):
            # A convolution feeds a ReLU, which halves what passes.
            gain = math.sqrt(2) if isinstance(module, Convolution) else 1
            nn.init.orthogonal_(module.weight, gain, generator=generator)
            module.bias.fill_(0)
