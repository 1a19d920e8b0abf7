"""The update of DrQ-v2 for states on a CPU without autograd, and an action without torch.

What `drqv2/agent.py` and `agents/networks.py` do, which are to be read first, is what these must do: the tests compare
them. Matrix products are torch's, and all between them is one kernel a layer: on networks as small as those of states,
autograd and the many small operations around the products take longer than the products themselves. Sums have another
order, and where two critics give the same value to the bit, autograd shares the gradient between them, and here the
first has it. Buffers are made once; a network's values of its last `forward` are there until its next one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from orcalign.agents.batch import Batch
from orcalign.agents.drqv2.cpu.kernels import Array, dense_of_one, layer_of_one, normalise, normalise_back
from orcalign.agents.networks import Actor, Critic, Norm, Trunk

if TYPE_CHECKING:
    from orcalign.agents.drqv2.agent import DrQv2


def _arrays(*modules: Any) -> Any:
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
        layers = _arrays(actor.trunk), _arrays(first, first_norm), _arrays(second, second_norm)
        self._hidden: list[tuple[Array, Array, Array, Array]] = list(layers)
        self._last: tuple[Array, Array] = _arrays(last)
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


class Layer:
    """Dense, Norm, and ReLU or tanh: [B, inputs] → [B, outputs]."""

    def __init__(self, dense: Any, norm: Any, batch: int, relu: bool) -> None:
        self.weight: Tensor = dense.weight.detach()
        self._relu = relu
        _, self._bias, self._gain, self._shift = _arrays(dense, norm)
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
        last: Any
        first, first_norm, _, second, second_norm, _, last = layers
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
        self._trunk = Layer(actor.trunk.dense, actor.trunk.norm, batch, relu=False)
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
        self._trunk = Layer(critic.trunk.dense, critic.trunk.norm, batch, relu=False)
        self._heads = [Head(head, batch) for head in heads]
        size, inputs = self._trunk.y.shape[1], heads[0][0].weight.shape[1]
        self._states, self._actions = slice(0, size), slice(size, inputs)
        self._both = torch.empty(batch, inputs)
        first, second = self._heads
        self.gradients = {**self._trunk.gradients, **first.gradients, **second.gradients}

    def forward(self, states: Tensor, actions: Tensor) -> Tensor:
        """[B, D], [B, A] → [2, B]."""
        self._both[:, self._states] = self._trunk.forward(states)
        self._both[:, self._actions] = actions
        return torch.stack([head.forward(self._both)[:, 0] for head in self._heads])

    def backward(self, d: Tensor, learn: bool) -> Tensor:
        """Given the gradients of the values [2, B]: write all others, or only return that of the actions [B, A]."""
        inputs = self._states if learn else self._actions
        first, second = (head.backward(one[:, None], inputs, learn) for head, one in zip(self._heads, d, strict=True))
        first += second
        if learn:
            self._trunk.d.copy_(first)
            self._trunk.backward(learn)
        return first


def gradients_of(*parameters: Tensor) -> dict[Tensor, Tensor]:
    """Room for the gradient of each parameter."""
    return {parameter: torch.empty_like(parameter, requires_grad=False) for parameter in parameters}


class UpdateByHand:
    """Works on the networks, the optimisers and the generator of an agent; has no state of its own."""

    def __init__(self, agent: DrQv2) -> None:
        self._agent = agent
        self._batch = 0

    def can(self, batch: Batch[Tensor]) -> bool:
        """Whether it can do what this agent and this batch need."""
        settings, observations = self._agent.settings, batch.observations
        states = observations.dim() == 2 and observations.dtype == torch.float32
        return states and self._agent.device == "cpu" and settings.layer_norm and settings.trunk > 0

    @torch.no_grad()
    def __call__(self, batch: Batch[Tensor], update_actor: bool) -> dict[str, Tensor]:
        """Critics towards the target, the actor up the critics."""
        agent, penalty = self._agent, self._agent.settings.action_penalty
        observations, actions, returns, discounts, next_observations = batch
        size = len(actions)
        if size != self._batch:
            self._batch, self._actor = size, ActorByHand(agent.actor, size)
            self._critic, self._target = CriticByHand(agent.critic, size), CriticByHand(agent.target, size)
        actor, critic = self._actor, self._critic

        next_actions = agent.noisy(actor.forward(next_observations).tanh_())
        next_values = self._target.forward(next_observations, next_actions)
        target = returns + discounts * next_values.amin(0)
        values = critic.forward(observations, actions)
        errors = values - target
        # The loss is the mean of all squared errors.
        critic.backward(errors * (2 / errors.numel()), learn=True)
        agent.critic_optimiser.apply(critic.gradients)
        metrics = {"critic_loss": errors.square().mean(), "q_mean": values.mean()}

        if update_actor:
            raw = actor.forward(observations)
            wanted = raw.tanh()
            # Noise is added and the sum kept within bounds; gradients pass as if neither was.
            values = critic.forward(observations, agent.noisy(wanted))
            # The gradient of the smaller value, by each critic's.
            from_first = (values[0] <= values[1]).float()
            d_actions = critic.backward(torch.stack([from_first, 1 - from_first]) / -size, learn=False)
            d_raw = d_actions * (1 - wanted.square())
            loss = -values.amin(0).mean()
            if penalty:
                loss += penalty * raw.square().mean()
                d_raw += raw * (2 * penalty / raw.numel())
            actor.backward(d_raw)
            agent.actor_optimiser.apply(actor.gradients)
            metrics["actor_loss"] = loss
        return metrics
