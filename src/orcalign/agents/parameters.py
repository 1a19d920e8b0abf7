"""Parameters of networks: by name, saved and loaded, and moved, by Adam or slowly after those of another network."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn


def named_parameters(networks: Mapping[str, nn.Module]) -> Iterator[tuple[str, nn.Parameter]]:
    """Every parameter with its name in the state: network, dot, place in it."""
    for name, network in networks.items():
        yield from network.named_parameters(prefix=name)


def named_tensors(networks: Mapping[str, nn.Module]) -> dict[str, Tensor]:
    """Parameters, and what else is in networks by which they answer, such as statistics of batches."""
    found: dict[str, Tensor] = dict(named_parameters(networks))
    for name, network in networks.items():
        found |= network.named_buffers(prefix=name)
    return found


def load_weights(networks: Mapping[str, nn.Module], weights: Mapping[str, Any]) -> None:
    """Copy weights (tensors or arrays) into the networks, all or none; weights of other networks are passed over."""
    load_tensors(
        named_tensors(networks),
        {name: weight for name, weight in weights.items() if name.split(".")[0] in networks},
    )


@torch.no_grad()
def load_tensors(into: Mapping[str, Tensor], given: Mapping[str, Any]) -> None:
    """Copy tensors (or arrays) of the same names and shapes, all or none.

    >>> load_tensors({"actor.bias": torch.zeros(2)}, {"actor.bias": torch.zeros(3)})
    Traceback (most recent call last):
    ...
    ValueError: The saved 'actor.bias' has the shape (3,), but this agent needs (2,); make the agent with ...
    """
    way_out = "make the agent with the settings and the environment of the run that saved it."
    for name in (*into, *given):
        if name not in given:
            raise ValueError(f"The saved agent lacks {name!r}, which this agent needs; {way_out}")
        if name not in into:
            raise ValueError(f"The saved agent has {name!r}, which this agent does not know; {way_out}")
        shapes = tuple(given[name].shape), tuple(into[name].shape)
        if shapes[0] != shapes[1]:
            raise ValueError(
                f"The saved {name!r} has the shape {shapes[0]}, but this agent needs {shapes[1]}; {way_out}"
            )
    for name, tensor in into.items():
        tensor.copy_(given[name] if isinstance(given[name], Tensor) else torch.tensor(given[name]))


@torch.no_grad()
def smooth(target: nn.Module, network: nn.Module, share: float) -> None:
    """Move the target's weights (and statistics) by ``share`` of the way towards the network's.

    >>> target, network = nn.Linear(1, 1), nn.Linear(1, 1)
    >>> _ = target.bias.data.fill_(0), network.bias.data.fill_(1)
    >>> smooth(target, network, 0.25)
    >>> target.bias.item()
    0.25
    """
    slow, quick = ([*one.parameters(), *one.buffers()] for one in (target, network))
    torch._foreach_lerp_(slow, quick, share)


class Adam:
    """Adam on the parameters of some networks, with the usual decays 0.9 and 0.999.

    It calls torch's fused kernel itself: `torch.optim.Adam` spends more time in Python than the kernel in
    arithmetic on networks as small as these, and has no state before its first step.

    >>> layer = nn.Linear(1, 1)
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
        self.apply(torch.autograd.grad(loss, self._parameters))

    @property
    def steps(self) -> int:
        """Taken so far."""
        return int(self._steps.item())

    def moments(self) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Parameters, first and second moments themselves, for whoever takes the steps."""
        return zip(self._parameters, self._means, self._squares, strict=True)

    def next_step(self) -> tuple[float, float]:
        """Count a step that somebody else takes: rate over the first moments' correction, root of the second's."""
        self._steps += 1
        steps = self._steps.item()
        return self._learning_rate / (1 - 0.9**steps), math.sqrt(1 - 0.999**steps)

    @torch.no_grad()
    def apply(self, gradients: tuple[Tensor, ...] | list[Tensor]) -> None:
        """Change the parameters against these gradients."""
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
