"""The update of DrQ-v2 for states on a CPU without autograd, both halves of it at once where a core is free.

What `agent.py` and `agents/networks.py` do, which are to be read first, is what this must do: the tests compare them.
Sums have another order, and where two critics give the same value to the bit, autograd shares the gradient between
them, and here the first has it. Which operations there are, and on which numbers, does not depend on threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from orcalign.agents.batch import Batch
from orcalign.agents.cpu.adam import AdamByHand
from orcalign.agents.cpu.beside import beside
from orcalign.agents.cpu.kernels import Array
from orcalign.agents.cpu.layers import ActorByHand, CriticByHand
from orcalign.agents.cpu.losses import towards, upwards
from orcalign.agents.drqv2.losses import nearby, through_tanh

if TYPE_CHECKING:
    from orcalign.agents.drqv2.agent import DrQv2


class UpdateByHand:
    """Works on the networks, the optimisers and the generator of an agent; has no state of its own."""

    def __init__(self, agent: DrQv2) -> None:
        self._agent = agent
        self._buffers: Buffers | None = None

    def can(self, batch: Batch[Tensor]) -> bool:
        """Whether it can do what this agent and this batch need."""
        states = batch.observations.dim() == 2 and batch.observations.dtype == torch.float32
        return states and self._agent.device == "cpu"

    def __call__(self, batch: Batch[Tensor], update_actor: bool) -> dict[str, Tensor]:
        """Critics towards the target, the actor up the critics, the target after the critics."""
        if self._buffers is None or self._buffers.size != len(batch.actions):
            self._buffers = Buffers(self._agent, *batch.observations.shape)
        with torch.no_grad():
            critic_loss, q_mean = self._buffers.learn_critics(batch)
            found = {"critic_loss": critic_loss, "q_mean": q_mean}
            if update_actor:
                found["actor_loss"] = self._buffers.learn_actor()
        return {name: torch.tensor(value) for name, value in found.items()}


class Buffers:
    """The networks with room for a batch of one size."""

    def __init__(self, agent: DrQv2, size: int, inputs: int) -> None:
        self.size, self._agent = size, agent
        # One product for both: the actor that answers for the target is the one that learns.
        after, now = slice(0, size), slice(size, 2 * size)
        states = torch.empty(2 * size, inputs)
        self._after, self._now = states[after], states[now]
        self._actor = ActorByHand(agent.actor, states, learned=now)
        self._critic, self._target = CriticByHand(agent.critic, self._now), CriticByHand(agent.target, self._after)
        self._wanted = torch.empty_like(self._actor.raw)
        self._actions_after, self._actions_now = self._wanted.numpy()[after], self._wanted.numpy()[now]
        self._raw_now = self._actor.raw.numpy()[now]
        self._noise = torch.empty_like(self._actor.d_raw)
        followers: dict[Tensor, Tensor] = dict(zip(agent.critic.parameters(), agent.target.parameters(), strict=True))
        self._critic_adam = AdamByHand(agent.critic_optimiser, followers, agent.settings.target_smoothing)
        self._actor_adam = AdamByHand(agent.actor_optimiser)
        self._trunk_rows = self._critic_adam.rows(self._critic.trunk.gradients)
        self._head_rows = [self._critic_adam.rows(head.gradients) for head in self._critic.heads]
        self._actor_rows = self._actor_adam.rows(self._actor.gradients)

    def learn_critics(self, batch: Batch[Tensor]) -> tuple[float, float]:
        """Loss and mean value."""
        critic, target = self._critic, self._target
        self._now.copy_(batch.observations)
        self._after.copy_(batch.next_observations)
        beside(self._act, lambda: self._look(batch.actions))
        self._add_noise(self._actions_after, target.actions)
        beside(lambda: target.forward(0), lambda: target.forward(1))
        loss, mean = towards(
            target.values.numpy(), batch.returns.numpy(), batch.discounts.numpy(),
            critic.values.numpy(), critic.d_values.numpy(),
        )  # fmt: skip
        self._critic_adam.begin()
        beside(lambda: self._learn_head(0), lambda: self._learn_head(1))
        critic.trunk_backward()
        self._critic_adam.step(self._trunk_rows)
        return loss, mean

    def learn_actor(self) -> float:
        """Loss. The critics are those that have just learned, the actor has not changed since it acted."""
        critic, actor, penalty = self._critic, self._actor, self._agent.settings.action_penalty
        critic.trunk.forward()
        self._add_noise(self._actions_now, critic.actions)
        beside(lambda: critic.forward(0), lambda: critic.forward(1))
        loss = upwards(critic.values.numpy(), critic.d_values.numpy())
        first, second = critic.heads
        beside(lambda: first.backward(learn=False), lambda: second.backward(learn=False))
        # Noise was added and the sum kept within bounds; gradients pass as if neither was.
        loss += through_tanh(
            critic.d_actions().numpy(), self._actions_now, self._raw_now, penalty, actor.d_raw.numpy()
        )  # fmt: skip
        self._actor_adam.begin()
        actor.head.begin_backward(learn=True)
        beside(actor.learn_in_front, actor.head.learn_last)
        self._actor_adam.step(self._actor_rows)
        return loss

    def _act(self) -> None:
        """What the actor would do after and now, without noise."""
        self._actor.forward()
        torch.tanh(self._actor.raw, out=self._wanted)

    def _look(self, actions: Tensor) -> None:
        """What the critics say of what was done, and as much of the target as does not ask for actions."""
        critic = self._critic
        critic.trunk.forward()
        critic.actions.copy_(actions)
        critic.forward(0)
        critic.forward(1)
        self._target.trunk.forward()

    def _add_noise(self, actions: Array, out: Tensor) -> None:
        agent = self._agent
        self._noise.normal_(0, agent.settings.target_noise, generator=agent.generator)
        nearby(actions, self._noise.numpy(), agent.settings.target_noise_clip, out.numpy())

    def _learn_head(self, number: int) -> None:
        self._critic.heads[number].backward(learn=True)
        self._critic_adam.step(self._head_rows[number])
