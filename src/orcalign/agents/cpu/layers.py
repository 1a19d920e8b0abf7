"""Networks for states without autograd: what `agents/networks.py` does, forwards and backwards.

Matrix products are torch's, and all between them is one kernel a layer: on networks as small as those of states,
autograd and the many small operations around the products take longer than the products themselves. Whatever a
network needs is made once, with its input: values and gradients stay where they are until the next `forward` or
`backward`. Two heads share nothing that one of them writes, so that two threads may have one each.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from orcalign.agents.cpu.acting import arrays
from orcalign.agents.cpu.kernels import normalise, normalise_back, rectified_back
from orcalign.agents.networks import Trunk

ALL = slice(None)


class Layer:
    """Dense, Norm if there is one, and ReLU or tanh: ``x`` [R, inputs] → `y` [R, outputs], and ``room`` more columns
    beside it."""

    def __init__(self, x: Tensor, dense: Any, norm: Any, relu: bool, learned: slice = ALL, room: int = 0) -> None:
        """Of the rows those that are ``learned`` from go back."""
        weight: Tensor = dense.weight.detach()
        self._bias = dense.bias.detach()
        self._norm: Any = arrays(norm) if norm else None
        rows, outputs = len(x), len(weight)
        self.weight, self._relu = weight, relu
        self.y = torch.zeros(rows, outputs + room)
        self.d = torch.zeros_like(self.y[learned])
        """Gradient of `y`, to be filled before `backward`, which makes it that of the product."""
        self._z, scale = torch.empty(rows, outputs) if norm else self.y, np.empty(rows, np.float32)
        self._forward = self._z.numpy(), scale, self.y.numpy()
        self._backward = self.d.numpy(), self.y.numpy()[learned], self._z.numpy()[learned], scale[learned]
        self.gradients = gradients_of(dense.weight, *((norm.gain, norm.shift) if norm else ()), dense.bias)
        self._d_weight, *others = self.gradients.values()
        self._others = [gradient.numpy() for gradient in others]
        self._products = (x, weight.t()), (self.d[:, :outputs].t(), x[learned])

    def forward(self) -> None:
        """`y` of what is in ``x``."""
        if self._norm is None:
            torch.addmm(self._bias, *self._products[0], out=self._z).relu_()
            return
        z, scale, y = self._forward
        torch.mm(*self._products[0], out=self._z)
        gain, shift = self._norm
        normalise(z, self._bias.numpy(), gain, shift, self._relu, scale, y)
        if not self._relu:
            self.y.tanh_()

    def backward(self, learn: bool) -> None:
        """Turn `d` into the gradient of the product; with ``learn`` the small parameters' gradients as well."""
        d, y, z, scale = self._backward
        if self._norm is None:
            rectified_back(d, y, learn, *self._others)
        else:
            normalise_back(d, y, z, self._norm[0], self._relu, scale, learn, *self._others)

    def learn(self) -> None:
        """The gradient of the weights, after `backward`."""
        torch.mm(*self._products[1], out=self._d_weight)


class Passed:
    """In the place of a trunk that is left out: ``x`` [R, inputs] → `y`, the same with ``room`` beside it."""

    gradients: Mapping[Tensor, Tensor] = MappingProxyType({})

    def __init__(self, x: Tensor, room: int = 0) -> None:
        size = x.shape[1]
        self.y = torch.zeros(len(x), size + room) if room else x
        self.forward = partial(self.y[:, :size].copy_, x) if room else lambda: None


class Head:
    """Two hidden layers and one that only adds up: ``x`` [R, inputs] → ``y`` [R, outputs]."""

    def __init__(self, x: Tensor, layers: nn.Sequential, y: Tensor, d: Tensor, learned: slice = ALL) -> None:
        """``d`` is where the gradient of the learned rows of ``y`` will be."""
        last: Any
        *hidden, last = layers
        step = len(hidden) // 2
        (one, *one_norm), (two, *two_norm) = hidden[: step - 1], hidden[step:-1]
        self.first = Layer(x, one, one_norm[0] if one_norm else None, relu=True, learned=learned)
        self.second = Layer(self.first.y, two, two_norm[0] if two_norm else None, relu=True, learned=learned)
        self._y, self._d = y, d
        self.d_x: Tensor | None = torch.empty(d.shape[0], x.shape[1])
        """None where nobody in front learns by it."""
        self._weight, self._bias = last.weight.detach(), last.bias.detach()
        self._products = (self.second.y, self._weight.t()), (d.t(), self.second.y[learned])
        own = gradients_of(last.weight, last.bias)
        self._d_weight, self._d_bias = own.values()
        self.gradients = {**self.first.gradients, **self.second.gradients, **own}

    def forward(self) -> None:
        """``y`` of what is in ``x``."""
        self.first.forward()
        self.second.forward()
        torch.addmm(self._bias, *self._products[0], out=self._y)

    def backward(self, learn: bool) -> None:
        """From ``d`` to `d_x`; with ``learn`` the parameters' gradients as well."""
        self.begin_backward(learn)
        if learn:
            self.learn_last()
        self.end_backward(learn)
        if learn:
            self.first.learn()

    def begin_backward(self, learn: bool) -> None:
        """As far as the second layer's product."""
        torch.mm(self._d, self._weight, out=self.second.d)
        self.second.backward(learn)

    def learn_last(self) -> None:
        """The gradients of the last two layers' weights, after `begin_backward`."""
        torch.mm(*self._products[1], out=self._d_weight)
        torch.sum(self._d, 0, out=self._d_bias)
        self.second.learn()

    def end_backward(self, learn: bool) -> None:
        """From there to `d_x`; without the first layer's weights."""
        torch.mm(self.second.d, self.second.weight, out=self.first.d)
        self.first.backward(learn)
        if self.d_x is not None:
            torch.mm(self.first.d, self.first.weight, out=self.d_x)


class ActorByHand:
    """`networks.Actor`: ``states`` [R, D] → `raw` [R, A], actions before their tanh; or another actor with the same
    parts, whatever it makes of what comes out."""

    def __init__(self, actor: Any, states: Tensor, learned: slice) -> None:
        last: Any = actor.layers[-1]
        self.trunk = trunk_by_hand(actor.trunk, states, learned=learned)
        self.raw = torch.empty(len(states), len(last.weight))
        self.d_raw = torch.empty_like(self.raw[learned])
        self.head = Head(self.trunk.y, actor.layers, self.raw, self.d_raw, learned)
        self.head.d_x = self.trunk.d if isinstance(self.trunk, Layer) else None
        self.gradients = {**self.trunk.gradients, **self.head.gradients}

    def forward(self) -> None:
        """`raw` of what is in ``states``."""
        self.trunk.forward()
        self.head.forward()

    def learn_in_front(self) -> None:
        """The gradients of the trunk and of the layer after it, after the head's `begin_backward`."""
        self.head.end_backward(learn=True)
        self.head.first.learn()
        if isinstance(self.trunk, Layer):
            self.trunk.backward(learn=True)
            self.trunk.learn()


class CriticByHand:
    """`networks.Critic`: ``states`` [B, D] and actions [B, A] → `values` [2, B], by one head each."""

    def __init__(self, critic: Any, states: Tensor) -> None:
        modules: list[Any] = list(critic.heads)
        trunk: Any = critic.trunk
        inputs, batch = modules[0][0].weight.shape[1], len(states)
        size = len(trunk.dense.weight) if isinstance(trunk, Trunk) else states.shape[1]
        self.trunk = trunk_by_hand(trunk, states, room=inputs - size)
        self.actions = self.trunk.y[:, size:]
        """To be filled after the trunk's `forward`."""
        self.values, self.d_values = torch.empty(2, batch), torch.empty(2, batch)
        self.heads = [
            Head(self.trunk.y, one, y[:, None], d[:, None])
            for one, y, d in zip(modules, self.values, self.d_values, strict=True)
        ]
        self._d_x = [torch.empty(batch, inputs) for _ in self.heads]
        self._d_actions = [one[:, size:] for one in self._d_x]
        self._to_actions = [head.first.weight[:, size:] for head in self.heads]
        for head, d_x in zip(self.heads, self._d_x, strict=True):
            head.d_x = d_x if isinstance(self.trunk, Layer) else None

    def forward(self, head: int) -> None:
        """The values of one head, after the trunk's `forward` and with `actions`."""
        self.heads[head].forward()

    def trunk_backward(self) -> None:
        """The trunk's gradients, given those of both heads."""
        if isinstance(self.trunk, Layer):
            torch.add(*self._d_x, out=self.trunk.d)
            self.trunk.backward(learn=True)
            self.trunk.learn()

    def d_actions(self) -> Tensor:
        """[B, A], given the gradients of both heads."""
        if isinstance(self.trunk, Passed):
            # There may be many more states in front, whose gradients nobody asks for.
            for head, weight, d in zip(self.heads, self._to_actions, self._d_actions, strict=True):
                d.copy_(head.first.d @ weight)
        return torch.add(*self._d_actions)


def trunk_by_hand(trunk: nn.Module, states: Tensor, learned: slice = ALL, room: int = 0) -> Layer | Passed:
    """A trunk, or what is in its place."""
    if not isinstance(trunk, Trunk):
        return Passed(states, room)
    return Layer(states, trunk.dense, trunk.norm, relu=False, learned=learned, room=room)


def gradients_of(*parameters: Tensor) -> dict[Tensor, Tensor]:
    """Room for the gradient of each parameter."""
    return {parameter: torch.empty_like(parameter, requires_grad=False) for parameter in parameters}
