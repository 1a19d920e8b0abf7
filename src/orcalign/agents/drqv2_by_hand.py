"""The losses of DrQ-v2 for states on a CPU, and their gradients, without autograd.

The same steps as `DrQv2._by_autograd`, which is the one to read first. Where two critics give the same value to the
bit, autograd shares the gradient between them, and here the first has it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from orcalign.agents.batch import Batch
from orcalign.agents.by_hand import ActorByHand, CriticByHand
from orcalign.agents.targets import agreed, careful

if TYPE_CHECKING:
    from orcalign.agents.drqv2 import DrQv2


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
        target = returns + discounts * careful(next_values, agent.generator)
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
            loss = -agreed(values).mean()
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
    """The gradient of `targets.agreed` [B] by each critic's values [critics, B]."""
    if len(values) > 2:
        return torch.full_like(values, 1 / len(values))
    from_first = (values[0] <= values[1]).float()
    return torch.stack([from_first, 1 - from_first])
