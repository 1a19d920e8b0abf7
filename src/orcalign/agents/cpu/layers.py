"""Networks for states without autograd: what `agents/networks.py` does, forwards and backwards.

Matrix products are torch's, and all between them is one kernel a layer: on networks as small as those of states,
autograd and the many small operations around the products take longer than the products themselves. Whatever a
network needs is made once, with its input: values and gradients stay where they are until the next `forward` or
`backward`. Two heads share nothing that one of them writes, so that two threads may have one each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from orcalign.agents.cpu.acting import arrays
from orcalign.agents.cpu.kernels import normalise, normalise_back
from orcalign.agents.networks import Actor, Critic

ALL = slice(None)


class Layer:
    """Dense, Norm, and ReLU or tanh: ``x`` [R, inputs] → `y` [R, outputs], and ``room`` more columns beside it."""

    def __init__(self, x: Tensor, dense: Any, norm: Any, relu: bool, learned: slice = ALL, room: int = 0) -> None:
        """Of the rows those that are ``learned`` from go back."""
        weight: Tensor = dense.weight.detach()
        _, self._bias, self._gain, self._shift = arrays(dense, norm)
        rows, outputs = len(x), len(weight)
        self.weight, self._relu = weight, relu
        self.y = torch.zeros(rows, outputs + room)
        self.d = torch.zeros_like(self.y[learned])
        """Gradient of `y`, to be filled before `backward`, which makes it that of the product."""
        self._z, scale = torch.empty(rows, outputs), np.empty(rows, np.float32)
        self._forward = self._z.numpy(), scale, self.y.numpy()
        self._backward = self.d.numpy(), self.y.numpy()[learned], self._z.numpy()[learned], scale[learned]
        self.gradients = gradients_of(dense.weight, norm.gain, norm.shift, dense.bias)
        self._d_weight, *others = self.gradients.values()
        self._others = [gradient.numpy() for gradient in others]
        self._products = (x, weight.t()), (self.d[:, :outputs].t(), x[learned])

    def forward(self) -> None:
        """`y` of what is in ``x``."""
        z, scale, y = self._forward
        torch.mm(*self._products[0], out=self._z)
        normalise(z, self._bias, self._gain, self._shift, self._relu, scale, y)
        if not self._relu:
            self.y.tanh_()

    def backward(self, learn: bool) -> None:
        """Turn `d` into the gradient of the product; with ``learn`` the small parameters' gradients as well."""
        d, y, z, scale = self._backward
        normalise_back(d, y, z, self._gain, self._relu, scale, learn, *self._others)

    def learn(self) -> None:
        """The gradient of the weights, after `backward`."""
        torch.mm(*self._products[1], out=self._d_weight)


class Head:
    """Two hidden layers and one that only adds up: ``x`` [R, inputs] → ``y`` [R, outputs]."""

    def __init__(self, x: Tensor, layers: nn.Sequential, y: Tensor, d: Tensor, learned: slice = ALL) -> None:
        """``d`` is where the gradient of the learned rows of ``y`` will be."""
        last: Any
        one, one_norm, _, two, two_norm, _, last = layers
        self.first = Layer(x, one, one_norm, relu=True, learned=learned)
        self.second = Layer(self.first.y, two, two_norm, relu=True, learned=learned)
        self._y, self._d, self.d_x = y, d, torch.empty(d.shape[0], x.shape[1])
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
        torch.mm(self.first.d, self.first.weight, out=self.d_x)


class ActorByHand:
    """`networks.Actor`: ``states`` [R, D] → `raw` [R, A], actions before their tanh."""

    def __init__(self, actor: Actor, states: Tensor, learned: slice) -> None:
        last: Any = actor.layers[-1]
        self.trunk = Layer(states, actor.trunk.dense, actor.trunk.norm, relu=False, learned=learned)
        self.raw = torch.empty(len(states), len(last.weight))
        self.d_raw = torch.empty_like(self.raw[learned])
        self.head = Head(self.trunk.y, actor.layers, self.raw, self.d_raw, learned)
        self.head.d_x = self.trunk.d
        self.gradients = {**self.trunk.gradients, **self.head.gradients}

    def forward(self) -> None:
        """`raw` of what is in ``states``."""
        self.trunk.forward()
        self.head.forward()


class CriticByHand:
    """`networks.Critic`: ``states`` [B, D] and actions [B, A] → `values` [2, B], by one head each."""

    def __init__(self, critic: Critic, states: Tensor) -> None:
        modules: list[Any] = list(critic.heads)
        trunk: Any = critic.trunk
        inputs, batch, size = modules[0][0].weight.shape[1], len(states), len(trunk.dense.weight)
        self.trunk = Layer(states, trunk.dense, trunk.norm, relu=False, room=inputs - size)
        self.actions = self.trunk.y[:, size:]
        """To be filled after the trunk's `forward`."""
        self.values, self.d_values = torch.empty(2, batch), torch.empty(2, batch)
        self.heads = [
            Head(self.trunk.y, one, y[:, None], d[:, None])
            for one, y, d in zip(modules, self.values, self.d_values, strict=True)
        ]
        self._d_x = [head.d_x for head in self.heads]
        self._d_actions = [one[:, size:] for one in self._d_x]

    def forward(self, head: int) -> None:
        """The values of one head, after the trunk's `forward` and with `actions`."""
        self.heads[head].forward()

    def trunk_backward(self) -> None:
        """The trunk's gradients, given those of both heads."""
        torch.add(*self._d_x, out=self.trunk.d)
        self.trunk.backward(learn=True)
        self.trunk.learn()

    def d_actions(self) -> Tensor:
        """[B, A], given the gradients of both heads."""
        return torch.add(*self._d_actions)


def gradients_of(*parameters: Tensor) -> dict[Tensor, Tensor]:
    """Room for the gradient of each parameter."""
    return {parameter: torch.empty_like(parameter, requires_grad=False) for parameter in parameters}
