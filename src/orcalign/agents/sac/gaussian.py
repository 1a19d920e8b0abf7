"""Gaussian policies that are squashed by a tanh."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional

LOG_STD = (-20.0, 2.0)
"""Bounds of a Gaussian policy's log standard deviation: beyond them probabilities overflow."""


def split(raw: Tensor) -> tuple[Tensor, Tensor]:
    """[B, 2A] → mean [B, A], log standard deviation [B, A]."""
    mean, log_std = raw.chunk(2, dim=-1)
    return mean, log_std.clamp(*LOG_STD)


def sampled(mean: Tensor, log_std: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Actions [B, A] of a Gaussian policy with these [B, A], and their log probability [B]."""
    noise = torch.empty_like(mean).normal_(generator=generator)
    drawn = mean + log_std.exp() * noise
    return torch.tanh(drawn), log_probability(drawn, noise, log_std)


def log_probability(drawn: Tensor, noise: Tensor, log_std: Tensor) -> Tensor:
    """[B] of the tanh of what was ``drawn`` [B, A] by this ``noise`` [B, A]."""
    # log(1 - tanh(drawn)^2), in a form that does not lose everything where tanh is nearly 1.
    log_slope = 2 * (math.log(2) - drawn - functional.softplus(-2 * drawn))
    return (-0.5 * noise**2 - log_std - 0.5 * math.log(2 * math.pi) - log_slope).sum(-1)


def draw(raw: Tensor, noise: Tensor, generator: torch.Generator, actions: Tensor) -> tuple[Tensor, Tensor]:
    """`sampled` into ``actions``, with room for ``noise``: log probability, and how far from the mean it is [B, A]."""
    mean, log_std = split(raw)
    noise.normal_(generator=generator)
    stray = log_std.exp().mul_(noise)
    drawn = mean + stray
    torch.tanh(drawn, out=actions)
    return log_probability(drawn, noise, log_std), stray
