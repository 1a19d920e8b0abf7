"""Adam, with a state that can be saved tensor by tensor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from orcalign.agents.weights import named_parameters


class Adam:
    """Adam on the parameters of some networks, with the usual decays 0.9 and 0.999.

    It calls torch's fused kernel itself: `torch.optim.Adam` spends more time in Python than the kernel in
    arithmetic on networks as small as these, and has no state before its first step.

    >>> from orcalign.agents.networks import Dense
    >>> layer = Dense(1, 1)
    >>> _ = layer.weight.data.fill_(1), layer.bias.data.fill_(0)
    >>> Adam({"layer": layer}, 0.1).step(layer(torch.ones(1, 1)).sum())
    >>> round(layer.weight.item(), 4), round(layer.bias.item(), 4)
    (0.9, -0.1)
    """

    def __init__(self, networks: Mapping[str, nn.Module], learning_rate: float) -> None:
        named = dict(named_parameters(networks))
        self._names = list(named)
        self._parameters: list[Any] = list(named.values())
        self._means = [torch.zeros_like(parameter) for parameter in self._parameters]
        self._squares = [torch.zeros_like(parameter) for parameter in self._parameters]
        self._steps = torch.zeros((), device=self._parameters[0].device)
        self._learning_rate = learning_rate

    def step(self, loss: Tensor) -> None:
        """Change the parameters so that ``loss`` falls. No other parameter's gradient is computed or kept."""
        self._apply(torch.autograd.grad(loss, self._parameters))

    def apply(self, gradients: Mapping[nn.Parameter, Tensor]) -> None:
        """Change the parameters by gradients that somebody else computed."""
        self._apply([gradients[parameter] for parameter in self._parameters])

    @torch.no_grad()
    def _apply(self, gradients: tuple[Tensor, ...] | list[Tensor]) -> None:
        self._steps += 1
        torch._fused_adam_(
            self._parameters,
            gradients,
            self._means,
            self._squares,
            [],
            [self._steps] * len(gradients),
            lr=self._learning_rate,
            beta1=0.9,
            beta2=0.999,
            weight_decay=0,
            eps=1e-8,
            amsgrad=False,
            maximize=False,
        )

    def tensors(self) -> dict[str, Tensor]:
        """Steps and moments themselves, not copies; moments by the names of their parameters."""
        means = {f"{name}.mean": mean for name, mean in zip(self._names, self._means, strict=True)}
        squares = {f"{name}.square": square for name, square in zip(self._names, self._squares, strict=True)}
        return {"steps": self._steps, **means, **squares}
