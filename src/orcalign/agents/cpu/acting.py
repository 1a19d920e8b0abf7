"""An action for one state without torch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from torch import nn

from orcalign.agents.cpu.kernels import Array, dense_of_one, layer_of_one
from orcalign.agents.networks import Norm, Trunk


def arrays(*modules: Any) -> Any:
    """The parameters; memory is shared with them: whoever loads weights copies them into place."""
    return [parameter.detach().numpy() for module in modules for parameter in module.parameters()]


def act_by_hand(actor: Any, observation_shape: tuple[int, ...], device: str) -> ActByHand | None:
    """`ActByHand` for states on a CPU; to be made again when an actor that is `folded` has new weights."""
    return ActByHand(actor) if device == "cpu" and len(observation_shape) == 1 else None


class ActByHand:
    """An actor's `act` for one state [D], with noise [A]: an action [A] in -1 to 1.

    A collector asks for one action between two pictures. Torch's own work around the fifteen small operations of a
    network takes ten times as long as they do then, with caches full of the picture.
    """

    def __init__(self, actor: Any) -> None:
        self._finish = actor.finish
        *self._hidden, (self._last, _) = layers_of(actor)
        self._between = [np.empty(len(layer[1]), np.float32) for layer, _ in self._hidden]

    def __call__(self, state: Array, noise: np.ndarray | None) -> Array:
        """[D], [A] or None → [A]."""
        for (layer, relu), y in zip(self._hidden, self._between, strict=True):
            weight, bias, *norm = layer
            if norm:
                layer_of_one(state, weight, bias, norm[0], norm[1], relu, y)
                if not relu:
                    np.tanh(y, out=y)
            else:
                dense_of_one(state, weight, bias, y)
                np.maximum(y, 0, out=y)
            state = y
        weight, bias = self._last
        raw = np.empty(len(bias), np.float32)
        dense_of_one(state, weight, bias, raw)
        action: Array = self._finish(raw, noise)
        return action


def layers_of(actor: Any) -> Iterator[tuple[Any, bool]]:
    """Weight and bias of each layer, and gain and shift if it has LayerNorm; and whether a ReLU follows, not a tanh."""
    if hasattr(actor, "folded"):
        yield from ((layer, True) for layer in actor.folded())
        return
    if isinstance(actor.trunk, Trunk):
        yield tuple(arrays(actor.trunk)), False
    layers: list[nn.Module] = list(actor.layers)
    for layer, after in zip(layers, [*layers[1:], None], strict=True):
        if isinstance(layer, nn.Linear):
            yield tuple(arrays(layer, *([after] if isinstance(after, Norm) else []))), True
