"""DrQ-v2 for states on a CPU by hand: the update (`update.py`) without autograd, and here an action without torch.

What the readable version does (`drqv2/agent.py`, `agents/networks.py`) is what these must do: the tests compare them. A
collector asks for one action between two pictures. Torch's own work around the fifteen small operations of a network
takes ten times as long as they do then, with caches full of the picture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from orcalign.agents.drqv2.cpu.kernels import dense_of_one, layer_of_one

if TYPE_CHECKING:
    from torch import nn

    from orcalign.agents.networks import Actor, Norm

Array = npt.NDArray[np.float32]


def act_by_hand(actor: nn.Module, observation_shape: tuple[int, ...], device: str) -> ActByHand | None:
    """`ActByHand` where it can do what this actor does: states, on a CPU, trunk and LayerNorm."""
    # Not above: the kernels can be compiled ahead where there is no torch.
    from orcalign.agents.networks import Actor, Norm, Trunk

    if device != "cpu" or len(observation_shape) != 1 or not isinstance(actor, Actor):
        return None
    can = isinstance(actor.trunk, Trunk) and any(isinstance(layer, Norm) for layer in actor.layers)
    return ActByHand(actor) if can else None


class ActByHand:
    """`networks.Actor.act` for one state [D], with noise [A]: an action [A] in -1 to 1."""

    def __init__(self, actor: Actor) -> None:
        trunk: Any = actor.trunk
        parts: list[Any] = list(actor.layers)
        first, first_norm, _, second, second_norm, _, last = parts
        # Memory is shared with the parameters: whoever loads weights copies them into place.
        self._trunk, self._first, self._second = (
            _arrays(*pair) for pair in ((trunk.dense, trunk.norm), (first, first_norm), (second, second_norm))
        )
        self._weight, self._bias = last.weight.detach().numpy(), last.bias.detach().numpy()
        self._between = [
            np.empty(len(one[1]), np.float32) for one in (self._trunk, self._first, self._second)
        ]

    def __call__(self, state: Array, noise: npt.NDArray[np.floating[Any]] | None) -> Array:
        """[D], [A] or None → [A]."""
        seen, one, two = self._between
        layer_of_one(state, *self._trunk, False, seen)
        np.tanh(seen, out=seen)
        layer_of_one(seen, *self._first, True, one)
        layer_of_one(one, *self._second, True, two)
        action = np.empty(len(self._bias), np.float32)
        dense_of_one(two, self._weight, self._bias, action)
        np.tanh(action, out=action)
        return action if noise is None else np.clip(action + np.asarray(noise, np.float32), -1, 1)


def _arrays(dense: nn.Linear, norm: Norm) -> tuple[Array, Array, Array, Array]:
    weight, bias, gain, shift = (
        p.detach().numpy() for p in (dense.weight, dense.bias, norm.gain, norm.shift)
    )
    return weight, bias, gain, shift
