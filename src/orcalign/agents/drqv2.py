"""DrQ-v2 (Yarats et al., 2021): DDPG with twin critics, n-step returns and, for images, random shifts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor

from orcalign.agents.batch import Batch
from orcalign.agents.drqv2_by_hand import UpdateByHand
from orcalign.agents.images import random_shift
from orcalign.agents.learner import Learner
from orcalign.agents.networks import Actor, Critic, make_encoder
from orcalign.agents.optimiser import Adam
from orcalign.agents.targets import agreed, careful, critic_loss, smooth

if TYPE_CHECKING:
    from orcalign.agents.settings import AgentSettings


class DrQv2(Learner):
    """Deterministic policy; whoever collects adds the noise that explores.

    >>> import numpy as np
    >>> from orcalign.agents import AgentSettings
    >>> agent = DrQv2(AgentSettings(hidden=8), (3,), action_dim=1, seed=0, device="cpu")
    >>> batch = Batch(*(np.zeros((4, *shape), "f") for shape in ((3,), (1,), (), (), (3,))))
    >>> sorted(agent.update(batch))
    ['actor_loss', 'critic_loss', 'q_mean']
    """

    def __init__(
        self,
        settings: AgentSettings,
        observation_shape: tuple[int, ...],
        action_dim: int,
        seed: int,
        device: str,
    ) -> None:
        self.encoder = make_encoder(observation_shape)
        self.actor = Actor(self.encoder.size, action_dim, settings)
        self.critic = Critic(self.encoder.size, action_dim, settings)
        networks = {"encoder": self.encoder, "actor": self.actor, "critic": self.critic}
        super().__init__(settings, networks, seed, device)
        self.target = cast(Critic, self._networks["target"])
        # What is worth seeing is learned from the critics' errors alone.
        self.critic_optimiser = Adam({"encoder": self.encoder, "critic": self.critic}, settings.learning_rate)
        self.actor_optimiser = Adam({"actor": self.actor}, settings.learning_rate)
        self._optimisers = {"critic_adam": self.critic_optimiser, "actor_adam": self.actor_optimiser}
        self._by_hand = UpdateByHand(self)

    def update(self, batch: Batch[Any], update_actor: bool = True) -> dict[str, Tensor]:
        """Learn from one batch: critics towards the target, the actor up the critics, the target after them."""
        tensors = batch.to(self.device)
        learn = self._by_hand if self._by_hand.can(tensors) else self._by_autograd
        metrics = learn(tensors, update_actor)
        if update_actor:
            self._average(self.settings.policy_average)
        smooth(self.target, self.critic, self.settings.target_smoothing)
        return metrics

    def _by_autograd(self, batch: Batch[Tensor], update_actor: bool) -> dict[str, Tensor]:
        observations, actions, returns, discounts, next_observations = batch

        with torch.no_grad():
            next_features = self.encoder(self._shifted(next_observations))
            next_values = self.target(next_features, self.noisy(self.actor(next_features)))
            target = returns + discounts * careful(next_values, self.generator)
        features = self.encoder(self._shifted(observations))
        values = self.critic(features, actions)
        loss = critic_loss(values, target)
        self.critic_optimiser.step(loss)
        metrics = {"critic_loss": loss.detach(), "q_mean": values.detach().mean()}

        if update_actor:
            features = features.detach()
            raw = self.actor.raw(features)
            actor_loss = -agreed(self.critic(features, self.noisy(torch.tanh(raw)))).mean()
            if self.settings.action_penalty:
                actor_loss = actor_loss + self.settings.action_penalty * raw.square().mean()
            self.actor_optimiser.step(actor_loss)
            metrics["actor_loss"] = actor_loss.detach()
        return metrics

    def _shifted(self, observations: Tensor) -> Tensor:
        if observations.dim() == 2 or self.settings.shift == 0:
            return observations
        return random_shift(observations, self.settings.shift, self.generator)

    def noisy(self, actions: Tensor) -> Tensor:
        """Actions from the policy's neighbourhood, within bounds; gradients pass as if nothing was clipped."""
        bound = self.settings.target_noise_clip
        noise = torch.empty_like(actions).normal_(0, self.settings.target_noise, generator=self.generator)
        nearby = (actions.detach() + noise.clamp_(-bound, bound)).clamp_(-1, 1)
        return actions + (nearby - actions.detach())
