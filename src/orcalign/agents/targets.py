"""What critics learn towards: their loss, and the slow copies that keep them from chasing themselves."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def critic_loss(values: Tensor, target: Tensor) -> Tensor:
    """Squared error of each critic's values [critics, B] from the target [B]: the mean over all.

    >>> critic_loss(torch.tensor([[1.0, 2.0], [3.0, 3.0]]), torch.tensor([1.0, 3.0]))
    tensor(1.2500)
    """
    return (values - target).square().mean()


@torch.no_grad()
def smooth(target: nn.Module, network: nn.Module, share: float) -> None:
    """Move the target's weights by ``share`` of the way towards the network's.

    >>> from orcalign.agents.networks import Dense, initialise
    >>> target, network = Dense(2, 2), Dense(2, 2)
    >>> for net in (target, network):
    ...     initialise(net, torch.Generator().manual_seed(0))
    >>> _ = network.bias.data.fill_(1)
    >>> smooth(target, network, 0.25)
    >>> target.bias.tolist()
    [0.25, 0.25]
    """
    torch._foreach_lerp_(list(target.parameters()), list(network.parameters()), share)
