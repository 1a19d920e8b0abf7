"""The update of DrQ-v2 for states on a CPU, without autograd.

The steps are those of `DrQv2._by_autograd`, which is the one to read first, on networks with their gradients written
out: matrix products by torch, all between them in one kernel a layer. On networks as small as those of states, autograd
and the many small operations around the products take longer than the products themselves. What stands here has the
arithmetic of `agents/networks.py`, in another order of summation. Buffers are made once; a network's values of its last
`forward` are there until its next one. Where two critics give the same value to the bit, autograd shares the gradient
between them, and here the first has it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from orcalign.agents.drqv2.cpu.kernels import normalise, normalise_back
from orcalign.agents.protocol import Batch

if TYPE_CHECKING:
    from orcalign.agents.drqv2.agent import DrQv2
    from orcalign.agents.networks import Actor, Critic, Norm


class Layer:
    """Dense, Norm, and ReLU or tanh: [B, inputs] → [B, outputs]."""

    def __init__(self, dense: nn.Linear, norm: Norm, batch: int, relu: bool) -> None:
        # Memory is shared with the parameters: whoever loads weights copies them into place.
        self.weight, self._relu = dense.weight.detach(), relu
        self._bias, self._gain, self._shift = (
            p.detach().numpy() for p in (dense.bias, norm.gain, norm.shift)
        )
        outputs = len(self.weight)
        self.y, self.d = torch.empty(batch, outputs), torch.empty(batch, outputs)
        """What came out, and its gradient: to be filled by what follows the layer, before `backward`."""
        self._z, self._scale = torch.empty(batch, outputs), np.empty(batch, np.float32)
        self._views = self._z.numpy(), self.y.numpy(), self.d.numpy()
        self.gradients = gradients_of(dense.weight, norm.gain, norm.shift, dense.bias)
        self._d_weight, *others = self.gradients.values()
        self._others = [gradient.numpy() for gradient in others]

    def forward(self, x: Tensor) -> Tensor:
        """[B, inputs] → [B, outputs]."""
        self._x = x
        z, y, _ = self._views
        torch.mm(x, self.weight.t(), out=self._z)
        normalise(z, self._bias, self._gain, self._shift, self._relu, self._scale, y)
        return self.y if self._relu else self.y.tanh_()

    def backward(self, learn: bool) -> Tensor:
        """From the gradient in `d` to that of the product [B, outputs]; with ``learn`` the parameters' as well."""
        z, y, d = self._views
        normalise_back(d, y, z, self._gain, self._relu, self._scale, learn, *self._others)
        if learn:
            torch.mm(self.d.t(), self._x, out=self._d_weight)
        return self.d


class Head:
    """Two hidden layers and one that only adds up: [B, inputs] → [B, outputs]."""

    def __init__(self, layers: nn.Sequential, batch: int) -> None:
        parts: list[Any] = list(layers)
        first, first_norm, _, second, second_norm, _, last = parts
        self._first = Layer(first, first_norm, batch, relu=True)
        self._second = Layer(second, second_norm, batch, relu=True)
        self._weight, self._bias = last.weight.detach(), last.bias.detach()
        own = gradients_of(last.weight, last.bias)
        self._d_weight, self._d_bias = own.values()
        self.gradients = {**self._first.gradients, **self._second.gradients, **own}

    def forward(self, x: Tensor) -> Tensor:
        """[B, inputs] → [B, outputs]."""
        return torch.addmm(self._bias, self._second.forward(self._first.forward(x)), self._weight.t())

    def backward(self, d: Tensor, inputs: slice, learn: bool) -> Tensor:
        """From the gradient [B, outputs] of what came out to that of some of the inputs."""
        first, second = self._first, self._second
        if learn:
            torch.mm(d.t(), second.y, out=self._d_weight)
            torch.sum(d, 0, out=self._d_bias)
        torch.mm(d, self._weight, out=second.d)
        torch.mm(second.backward(learn), second.weight, out=first.d)
        return first.backward(learn) @ first.weight[:, inputs]


class ActorByHand:
    """`networks.Actor`: states [B, D] → actions before their tanh [B, A]."""

    def __init__(self, actor: Actor, batch: int) -> None:
        self._trunk = _trunk(actor.trunk, batch)
        self._head = Head(actor.layers, batch)
        self.gradients = {**self._trunk.gradients, **self._head.gradients}

    def forward(self, states: Tensor) -> Tensor:
        """[B, D] → [B, A]."""
        return self._head.forward(self._trunk.forward(states))

    def backward(self, d: Tensor) -> None:
        """Write all gradients, given that of what came out [B, A]."""
        self._trunk.d.copy_(self._head.backward(d, slice(None), learn=True))
        self._trunk.backward(learn=True)


class CriticByHand:
    """`networks.Critic`: states [B, D], actions [B, A] → [2, B]."""

    def __init__(self, critic: Critic, batch: int) -> None:
        heads: list[Any] = list(critic.heads)
        self._trunk = _trunk(critic.trunk, batch)
        self._heads = [Head(head, batch) for head in heads]
        size, inputs = self._trunk.y.shape[1], heads[0][0].weight.shape[1]
        self._states, self._actions = slice(0, size), slice(size, inputs)
        self._both = torch.empty(batch, inputs)
        self.gradients = dict(self._trunk.gradients)
        for head in self._heads:
            self.gradients |= head.gradients

    def forward(self, states: Tensor, actions: Tensor) -> Tensor:
        """[B, D], [B, A] → [2, B]."""
        self._both[:, self._states] = self._trunk.forward(states)
        self._both[:, self._actions] = actions
        return torch.stack([head.forward(self._both)[:, 0] for head in self._heads])

    def backward(self, d: Tensor) -> None:
        """Write all gradients, given those of the values [2, B]."""
        self._trunk.d.copy_(self._back(d, self._states, learn=True))
        self._trunk.backward(learn=True)

    def action_gradient(self, d: Tensor) -> Tensor:
        """The gradient of the actions [B, A], given those of the values [2, B]; the critics learn nothing."""
        return self._back(d, self._actions, learn=False)

    def _back(self, d: Tensor, inputs: slice, learn: bool) -> Tensor:
        first, *others = (
            head.backward(one[:, None], inputs, learn) for head, one in zip(self._heads, d, strict=True)
        )
        for other in others:
            first += other
        return first


def _trunk(trunk: Any, batch: int) -> Layer:
    return Layer(trunk.dense, trunk.norm, batch, relu=False)


def gradients_of(*parameters: Tensor) -> dict[Tensor, Tensor]:
    """Room for the gradient of each parameter."""
    return {parameter: torch.empty_like(parameter, requires_grad=False) for parameter in parameters}


class _Networks(NamedTuple):
    """With buffers for batches of one size."""

    batch: int
    actor: ActorByHand
    critic: CriticByHand
    target: CriticByHand


class UpdateByHand:
    """Works on the networks, the optimisers and the generator of an agent; has no state of its own."""

    def __init__(self, agent: DrQv2) -> None:
        self._agent = agent
        self._networks: _Networks | None = None

    def can(self, batch: Batch[Tensor]) -> bool:
        """Whether it can do what this agent and this batch need."""
        settings, observations = self._agent.settings, batch.observations
        states = observations.dim() == 2 and observations.dtype == torch.float32
        return states and self._agent.device == "cpu" and settings.layer_norm and settings.trunk > 0

    @torch.no_grad()
    def __call__(self, batch: Batch[Tensor], update_actor: bool) -> dict[str, Tensor]:
        """Critics towards the target, the actor up the critics."""
        agent, penalty = self._agent, self._agent.settings.action_penalty
        size, actor, critic, target_critic = self._sized(len(batch.actions))
        observations, actions, returns, discounts, next_observations = batch

        next_actions = agent.noisy(actor.forward(next_observations).tanh_())
        next_values = target_critic.forward(next_observations, next_actions)
        target = returns + discounts * next_values.amin(0)
        values = critic.forward(observations, actions)
        errors = values - target
        # The loss is the mean of all squared errors.
        critic.backward(errors * (2 / errors.numel()))
        agent.critic_optimiser.apply(critic.gradients)
        metrics = {"critic_loss": errors.square().mean(), "q_mean": values.mean()}

        if update_actor:
            raw = actor.forward(observations)
            wanted = raw.tanh()
            # Noise is added and the sum kept within bounds; gradients pass as if neither was.
            values = critic.forward(observations, agent.noisy(wanted))
            d_actions = critic.action_gradient(_share(values) / -size)
            d_raw = d_actions * (1 - wanted.square())
            loss = -values.amin(0).mean()
            if penalty:
                loss += penalty * raw.square().mean()
                d_raw += raw * (2 * penalty / raw.numel())
            actor.backward(d_raw)
            agent.actor_optimiser.apply(actor.gradients)
            metrics["actor_loss"] = loss
        return metrics

    def _sized(self, batch: int) -> _Networks:
        if self._networks is None or self._networks.batch != batch:
            agent = self._agent
            self._networks = _Networks(
                batch,
                ActorByHand(agent.actor, batch),
                CriticByHand(agent.critic, batch),
                CriticByHand(agent.target, batch),
            )
        return self._networks


def _share(values: Tensor) -> Tensor:
    """The gradient of the smaller value [B] by each critic's values [2, B]."""
    from_first = (values[0] <= values[1]).float()
    return torch.stack([from_first, 1 - from_first])
