"""DrQ-v2 (Yarats et al., 2021): DDPG with twin critics, n-step returns and, for images, random shifts."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from orcalign.agents.agent import Agent
from orcalign.agents.batch import Batch
from orcalign.agents.drqv2 import DrQv2Settings
from orcalign.agents.drqv2.by_hand import UpdateByHand
from orcalign.agents.networks import Actor
from orcalign.agents.parameters import smooth


class DrQv2(Agent):
    """Deterministic policy; whoever collects adds the noise that explores.

    >>> import numpy as np
    >>> agent = DrQv2(DrQv2Settings(hidden=8), (3,), action_dim=1, seed=0, device="cpu")
    >>> batch = Batch(*(np.zeros((4, *shape), "f") for shape in ((3,), (1,), (), (), (3,))))
    >>> sorted(agent.update(batch))
    ['actor_loss', 'critic_loss', 'q_mean']
    """

    settings: DrQv2Settings
    actor: Actor

    @cached_property
    def _by_hand(self) -> UpdateByHand:
        return UpdateByHand(self)

    def update(self, batch: Batch[Any], update_actor: bool = True) -> dict[str, Tensor]:
        """Learn from one batch: critics towards the target, the actor up the critics, the target after them."""
        tensors = batch.to(self.device)
        learn = self._by_hand if self._by_hand.can(tensors) else self._by_autograd
        return learn(tensors, update_actor)

    def _by_autograd(self, batch: Batch[Tensor], update_actor: bool) -> dict[str, Tensor]:
        observations, actions, returns, discounts, next_observations = batch

        with torch.no_grad():
            next_features = self.encoder(self._shifted(next_observations))
            next_values = self.target(next_features, self.noisy(self.actor(next_features)))
            target = returns + discounts * next_values.amin(0)
        features = self.encoder(self._shifted(observations))
        values = self.critic(features, actions)
        loss = (values - target).square().mean()
        self.critic_optimiser.step(loss)
        metrics = {"critic_loss": loss.detach(), "q_mean": values.detach().mean()}

        if update_actor:
            features = features.detach()
            raw = self.actor.raw(features)
            actor_loss = -self.critic(features, self.noisy(torch.tanh(raw))).amin(0).mean()
            if self.settings.action_penalty:
                actor_loss = actor_loss + self.settings.action_penalty * raw.square().mean()
            self.actor_optimiser.step(actor_loss)
            metrics["actor_loss"] = actor_loss.detach()
        smooth(self.target, self.critic, self.settings.target_smoothing)
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


def random_shift(images: Tensor, pixels: int, generator: torch.Generator) -> Tensor:
    """Images [B, C, H, W], each moved by up to ``pixels`` in both directions; their edges are repeated.

    >>> images = torch.arange(16).view(1, 1, 4, 4)
    >>> random_shift(images, 1, torch.Generator().manual_seed(1))
    tensor([[[[ 1,  2,  3,  3],
              [ 5,  6,  7,  7],
              [ 9, 10, 11, 11],
              [13, 14, 15, 15]]]])
    """
    count, channels, height, width = images.shape
    device = images.device
    shifts = torch.randint(-pixels, pixels + 1, (2, count, 1), generator=generator, device=device)
    rows = (shifts[0] + torch.arange(height, device=device)).clamp_(0, height - 1)
    columns = (shifts[1] + torch.arange(width, device=device)).clamp_(0, width - 1)
    rows = rows + height * torch.arange(count, device=device)[:, None]
    places = width * rows[:, :, None] + columns[:, None, :]
    # One take of whole pixels, which lie together when channels are last: three times as fast as two gathers.
    moved = images.permute(0, 2, 3, 1).reshape(-1, channels).index_select(0, places.flatten())
    return moved.view(count, height, width, channels).permute(0, 3, 1, 2)
