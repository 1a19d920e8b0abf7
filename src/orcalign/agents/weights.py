"""Networks as flat dictionaries of tensors, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn


def named_parameters(networks: Mapping[str, nn.Module]) -> Iterator[tuple[str, nn.Parameter]]:
    """Every parameter with its name in the state: network, dot, place in it."""
    for name, network in networks.items():
        yield from network.named_parameters(prefix=name)


def load_weights(networks: Mapping[str, nn.Module], weights: Mapping[str, Any]) -> None:
    """Copy weights (tensors or arrays) into the networks, all or none; weights of other networks are passed over."""
    load_tensors(
        dict(named_parameters(networks)),
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


def copied(tensor: Tensor) -> Tensor:
    """A copy on the CPU that training does not change."""
    return tensor.detach().to("cpu", copy=True).contiguous()
