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


def careful(values: Tensor, generator: torch.Generator) -> Tensor:
    """What critics learn towards, of the values [critics, B] of the next action: [B], the smaller of two.

    The smaller of two estimates does not run away upwards as one alone does; the smallest of many would sink. So of
    more than two critics two are drawn at random each time, as in REDQ (Chen et al., 2021).

    >>> careful(torch.tensor([[1.0, 4.0], [2.0, 3.0]]), torch.Generator())
    tensor([1., 3.])
    """
    if len(values) > 2:
        drawn = torch.randperm(len(values), generator=generator, device=generator.device)[:2]
        values = values[drawn]
    return values.amin(0)


def agreed(values: Tensor) -> Tensor:
    """What the actor climbs, of the values [critics, B]: [B], the smaller of two, the mean of more.

    >>> agreed(torch.tensor([[1.0, 4.0], [2.0, 3.0]])), agreed(torch.tensor([[1.0], [2.0], [6.0]]))
    (tensor([1., 3.]), tensor([3.]))
    """
    return values.mean(0) if len(values) > 2 else values.amin(0)


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
