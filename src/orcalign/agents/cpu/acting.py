"""An action for one state without torch."""

from __future__ import annotations

from typing import Any

import numpy as np
from torch import nn

from orcalign.agents.cpu.kernels import Array, dense_of_one, layer_of_one
from orcalign.agents.networks import Actor, Norm, Trunk


def arrays(*modules: Any) -> Any:
    """The parameters; memory is shared with them: whoever loads weights copies them into place."""
    return [parameter.detach().numpy() for module in modules for parameter in module.parameters()]


def act_by_hand(actor: nn.Module, observation_shape: tuple[int, ...], device: str) -> ActByHand | None:
    """`ActByHand` where it can do what this actor does: states, on a CPU, trunk and LayerNorm."""
    if device != "cpu" or len(observation_shape) != 1 or not isinstance(actor, Actor):
        return None
    can = isinstance(actor.trunk, Trunk) and any(isinstance(layer, Norm) for layer in actor.layers)
    return ActByHand(actor) if can else None


class ActByHand:
    """`networks.Actor.act` for one state [D], with noise [A]: an action [A] in -1 to 1.

    A collector asks for one action between two pictures. Torch's own work around the fifteen small operations of a
    network takes ten times as long as they do then, with caches full of the picture.
    """

    def __init__(self, actor: Actor) -> None:
        first, first_norm, _, second, second_norm, _, last = actor.layers
        layers = arrays(actor.trunk), arrays(first, first_norm), arrays(second, second_norm)
        self._hidden: list[tuple[Array, Array, Array, Array]] = list(layers)
        self._last: tuple[Array, Array] = arrays(last)
        self._between = [np.empty(len(one[1]), np.float32) for one in self._hidden]

    def __call__(self, state: Array, noise: np.ndarray | None) -> Array:
        """[D], [A] or None → [A]."""
        (trunk, first, second), (seen, one, two) = self._hidden, self._between
        layer_of_one(state, *trunk, False, seen)
        np.tanh(seen, out=seen)
        layer_of_one(seen, *first, True, one)
        layer_of_one(one, *second, True, two)
        action = np.empty(len(self._last[1]), np.float32)
        dense_of_one(two, *self._last, action)
        np.tanh(action, out=action)
        return action if noise is None else np.clip(action + np.asarray(noise, np.float32), -1, 1)
