"""Networks of XQC: BatchNorm on what comes in and after each layer, and rows of weights of length 1.

What is normalised does not depend on how long weights are, so they would only grow, and learn ever less from a step
of the same length.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from orcalign.agents.networks import dense
from orcalign.agents.sac.agent import GaussianActor
from orcalign.agents.sac.gaussian import sampled, split
from orcalign.agents.xqc import XQCSettings
from orcalign.agents.xqc.values import ATOMS

EPSILON, SHARE = 1e-3, 0.01
"""What keeps BatchNorm from dividing by 0, and what its running statistics take of a new batch."""


class BatchNorm(nn.Module):
    """Each of N columns by its mean and deviation: the batch's own while learning, running ones otherwise."""

    mean: Tensor
    variance: Tensor
    batches: Tensor

    def __init__(self, size: int, affine: bool = True) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones(size)) if affine else None
        self.shift = nn.Parameter(torch.zeros(size)) if affine else None
        for name, start in (("mean", torch.zeros(size)), ("variance", torch.ones(size)), ("batches", torch.zeros(()))):
            self.register_buffer(name, start)

    def forward(self, x: Tensor, learn: bool) -> Tensor:
        """[B, N] → [B, N]; with ``learn`` by the statistics of this batch, which are remembered."""
        share = self.next_share() if learn else 0.0
        return functional.batch_norm(x, self.mean, self.variance, self.gain, self.shift, learn, share, EPSILON)

    @torch.no_grad()
    def line(self) -> tuple[Tensor, Tensor]:
        """What it does with running statistics: slope and offset, [N] each."""
        slope = (self.variance + EPSILON).rsqrt()
        slope = slope if self.gain is None else slope * self.gain
        offset = -self.mean * slope
        return slope, offset if self.shift is None else offset + self.shift

    def next_share(self) -> float:
        """Count a batch; of the first ones the running statistics are plain means, so that no start is left in them."""
        self.batches += 1
        return max(SHARE, 1 / self.batches.item())


class Hidden(nn.Module):
    """[B, inputs] → [B, outputs] by some layers with BatchNorm and ReLU, and one that only adds up."""

    def __init__(self, inputs: int, outputs: int, settings: XQCSettings) -> None:
        super().__init__()
        sizes = [inputs, *[settings.hidden] * settings.layers]
        self.dense = nn.ModuleList(dense(one, settings.hidden, bias=False) for one in sizes[:-1])
        self.norms = nn.ModuleList(BatchNorm(settings.hidden) for _ in sizes[:-1])
        self.last = dense(settings.hidden, outputs)

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        """Each hidden layer with its BatchNorm."""
        return zip(self.dense, self.norms, strict=True)

    @torch.no_grad()
    def folded(self, front: BatchNorm) -> list[tuple[Tensor, Tensor]]:
        """Weight and bias of layers that do the same with running statistics, ``front`` before the first of them."""
        found = []
        slope, offset = front.line()
        for layer, norm in self.pairs():
            weight, (after, more) = layer.weight, norm.line()
            found.append((after[:, None] * weight * slope, after * (weight @ offset) + more))
            slope, offset = torch.ones(len(after)), torch.zeros(len(after))
        return [*found, (self.last.weight.detach(), self.last.bias.detach())]

    def forward(self, x: Tensor, learn: bool, rows: slice = slice(None)) -> Tensor:
        """Of all rows statistics are learned; what comes out is asked for some."""
        for layer, norm in self.pairs():
            x = functional.relu(norm(layer(x), learn))
        out: Tensor = self.last(x[rows])
        return out


class NormalisedActor(GaussianActor):
    """Stochastic policy: features [B, D] → mean and standard deviation [B, A] before a tanh."""

    def __init__(self, features: int, action_dim: int, settings: XQCSettings) -> None:
        nn.Module.__init__(self)
        # What follows has a gain and a shift of its own.
        self.norm = BatchNorm(features, affine=False)
        self.layers: Any = Hidden(features, 2 * action_dim, settings)

    def forward(self, features: Tensor, learn: bool = False) -> tuple[Tensor, Tensor]:
        """[B, D] → mean [B, A], log standard deviation [B, A]."""
        return split(self.layers(self.norm(features, learn), learn))

    def folded(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Weight and bias of layers with ReLU between them that do the same with running statistics."""
        return [(weight.numpy(), bias.numpy()) for weight, bias in self.layers.folded(self.norm)]

    def sample(self, features: Tensor, generator: torch.Generator, learn: bool = False) -> tuple[Tensor, Tensor]:
        """Actions [B, A] drawn from the policy, and their log probability [B]."""
        mean, log_std = self(features, learn)
        return sampled(mean, log_std, generator)


class DistributionCritic(nn.Module):
    """How likely which value is, by each of two critics: states [B, D], actions [B, A] → logits [2, B, ATOMS]."""

    def __init__(self, features: int, action_dim: int, settings: XQCSettings) -> None:
        super().__init__()
        self.norm = BatchNorm(features + action_dim, affine=False)
        self.heads = nn.ModuleList(Hidden(features + action_dim, ATOMS, settings) for _ in range(2))

    def forward(self, features: Tensor, actions: Tensor, learn: bool = False, rows: slice = slice(None)) -> Tensor:
        """Logits of these rows; with ``learn`` all rows count for the statistics, which are remembered."""
        both = self.norm(torch.cat([features, actions], dim=-1), learn)
        return torch.stack([head(both, learn, rows) for head in self.heads])


@torch.no_grad()
def shorten(network: nn.Module) -> None:
    """Bring each row of the weights of every dense layer to length 1.

    >>> layer = dense(2, 1)
    >>> layer.weight.data = torch.tensor([[3.0, 4.0]])
    >>> shorten(layer)
    >>> layer.weight.tolist()
    [[0.6000000238418579, 0.800000011920929]]
    """
    for layer in network.modules():
        if isinstance(layer, nn.Linear):
            layer.weight /= layer.weight.norm(dim=1, keepdim=True).clamp(min=1e-8)
