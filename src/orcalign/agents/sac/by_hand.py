"""The update of SAC on a CPU without autograd, both halves of it at once where a core is free.

As `drqv2/by_hand.py` is to `drqv2/agent.py`, this is to `agent.py`, which is to be read first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from orcalign.agents.batch import Batch
from orcalign.agents.cpu.adam import AdamByHand
from orcalign.agents.cpu.beside import beside
from orcalign.agents.cpu.layers import ActorByHand, CriticByHand
from orcalign.agents.cpu.losses import towards, upwards
from orcalign.agents.sac.gaussian import LOG_STD, draw
from orcalign.agents.sac.losses import through_draw

if TYPE_CHECKING:
    from orcalign.agents.sac.agent import SAC


class UpdateByHand:
    """Works on the networks, the optimisers and the generator of an agent; has no state of its own."""

    def __init__(self, agent: SAC) -> None:
        self._agent = agent
        self._buffers: Buffers | None = None

    def can(self, batch: Batch[Tensor]) -> bool:
        """Whether it can do what this agent and this batch need."""
        return self._agent.device == "cpu" and batch.observations.dtype == torch.float32

    @torch.no_grad()
    def __call__(self, batch: Batch[Tensor], update_actor: bool) -> dict[str, Tensor]:
        """Critics towards the target, the actor up the critics, the target after the critics."""
        if self._buffers is None or self._buffers.size != len(batch.actions):
            self._buffers = Buffers(self._agent, *batch.observations.shape)
        alpha = self._agent.alpha()
        loss, q_mean = self._buffers.learn_critics(batch, alpha)
        found = {"critic_loss": torch.tensor(loss), "q_mean": torch.tensor(q_mean), "alpha": alpha}
        if update_actor:
            found["actor_loss"], found["entropy"] = self._buffers.learn_actor(alpha)
            self._agent.learn_temperature(found["entropy"], batch.actions.shape[1])
        return found


class Buffers:
    """The networks with room for a batch of one size."""

    def __init__(self, agent: SAC, size: int, inputs: int) -> None:
        self.size, self._agent = size, agent
        # One product for both: the actor that answers for the target is the one that learns.
        after, now = slice(0, size), slice(size, 2 * size)
        states = torch.empty(2 * size, inputs)
        self._after, self._now = states[after], states[now]
        self._actor = ActorByHand(agent.actor, states, learned=now)
        self._critic, self._target = CriticByHand(agent.critic, self._now), CriticByHand(agent.target, self._after)
        self._noise, self._new = (torch.empty_like(self._critic.actions) for _ in range(2))
        self._raw_after, self._raw_now = self._actor.raw[after], self._actor.raw[now]
        followers: dict[Tensor, Tensor] = dict(zip(agent.critic.parameters(), agent.target.parameters(), strict=True))
        self._critic_adam = AdamByHand(agent.critic_optimiser, followers, agent.settings.target_smoothing)
        self._actor_adam = AdamByHand(agent.actor_optimiser)
        self._trunk_rows = self._critic_adam.rows(self._critic.trunk.gradients)
        self._head_rows = [self._critic_adam.rows(head.gradients) for head in self._critic.heads]
        self._actor_rows = self._actor_adam.rows(self._actor.gradients)

    def learn_critics(self, batch: Batch[Tensor], alpha: Tensor) -> tuple[float, float]:
        """Loss and mean value."""
        critic, target = self._critic, self._target
        self._now.copy_(batch.observations)
        self._after.copy_(batch.next_observations)
        beside(self._actor.forward, lambda: self._look(batch.actions))
        log_prob, _ = self._draw(self._raw_after, target.actions)
        beside(lambda: target.forward(0), lambda: target.forward(1))
        paid = batch.returns - batch.discounts * (alpha * log_prob)
        loss, mean = towards(
            target.values.numpy(), paid.numpy(), batch.discounts.numpy(), critic.values.numpy(), critic.d_values.numpy()
        )
        self._critic_adam.begin()
        beside(lambda: self._learn_head(0), lambda: self._learn_head(1))
        critic.trunk_backward()
        self._critic_adam.step(self._trunk_rows)
        return loss, mean

    def learn_actor(self, alpha: Tensor) -> tuple[Tensor, Tensor]:
        """Loss and entropy. The critics are those that have just learned, the actor has not changed since it acted."""
        critic, actor, weight = self._critic, self._actor, alpha.item()
        critic.trunk.forward()
        log_prob, stray = self._draw(self._raw_now, critic.actions)
        self._new.copy_(critic.actions)
        beside(lambda: critic.forward(0), lambda: critic.forward(1))
        loss = upwards(critic.values.numpy(), critic.d_values.numpy())
        first, second = critic.heads
        beside(lambda: first.backward(learn=False), lambda: second.backward(learn=False))
        through_draw(
            critic.d_actions().numpy(), self._new.numpy(), stray.numpy(), self._raw_now.numpy(),
            *LOG_STD, weight, actor.d_raw.numpy(),
        )  # fmt: skip
        self._actor_adam.begin()
        actor.head.begin_backward(learn=True)
        beside(actor.learn_in_front, actor.head.learn_last)
        self._actor_adam.step(self._actor_rows)
        entropy = -log_prob.mean()
        return torch.tensor(loss) - alpha * entropy, entropy

    def _look(self, actions: Tensor) -> None:
        """What the critics say of what was done, and as much of the target as does not ask for actions."""
        critic = self._critic
        critic.trunk.forward()
        critic.actions.copy_(actions)
        critic.forward(0)
        critic.forward(1)
        self._target.trunk.forward()

    def _draw(self, raw: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
        return draw(raw, self._noise, self._agent.generator, actions)

    def _learn_head(self, number: int) -> None:
        self._critic.heads[number].backward(learn=True)
        self._critic_adam.step(self._head_rows[number])
