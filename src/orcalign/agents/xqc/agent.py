"""XQC (Palenicek et al., 2025): SAC whose critics normalise batches and tell how likely which value is."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from orcalign.agents.batch import Batch
from orcalign.agents.parameters import smooth
from orcalign.agents.replay import Replay
from orcalign.agents.sac.agent import SAC
from orcalign.agents.xqc import XQCSettings
from orcalign.agents.xqc.by_hand import XQCByHand
from orcalign.agents.xqc.networks import DistributionCritic, NormalisedActor, shorten
from orcalign.agents.xqc.values import BOUND, means, spread, support


class XQC(SAC):
    """Stochastic policy; rewards are divided so that values fit between the ends of what critics can say.

    What was done and what the policy would do next pass the critics as one batch: statistics of one of them alone
    would be wrong for the other.

    >>> import numpy as np
    >>> agent = XQC(XQCSettings(hidden=8), (3,), 1, 0, "cpu")
    >>> batch = Batch(*(np.zeros((4, *shape), "f") for shape in ((3,), (1,), (), (), (3,))))
    >>> [sorted(agent.update(batch)) for _ in range(2)]
    [['actor_loss', 'alpha', 'critic_loss', 'entropy', 'q_mean'], ['alpha', 'critic_loss', 'q_mean']]
    """

    settings: XQCSettings  # type: ignore[assignment]
    actor: NormalisedActor
    first_temperature, entropy_of_an_action = 0.01, -0.5

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        for network in (self.actor, self.critic, self.target):
            shorten(network)
        self.reward_scale = torch.ones((), device=self.device)
        """What rewards are divided by."""

    def _make_critic(self, features: int, action_dim: int) -> nn.Module:
        return DistributionCritic(features, action_dim, self.settings)

    def look_over(self, replay: Replay) -> None:
        """Divide by the deviation of what an episode has brought in until now, and by no less than what fits."""
        deviation, most = replay.running_returns(self.settings.gamma)
        self.reward_scale.fill_(max(deviation, most / BOUND) or 1.0)

    @cached_property
    def _by_hand(self) -> XQCByHand:
        return XQCByHand(self)

    def _by_autograd(self, batch: Batch[Tensor], update_actor: bool) -> dict[str, Tensor]:
        observations, actions, returns, discounts, next_observations = batch
        alpha, count = self.alpha(), len(actions)

        with torch.no_grad():
            next_actions, next_log_prob = self.actor.sample(next_observations, self.generator)
            logits = self.target(next_observations, next_actions)
            first, second = means(logits)
            # The whole distribution of the critic that thinks less of it.
            chances = logits.softmax(-1)
            likely = torch.where((first <= second)[:, None], chances[0], chances[1])
            worth = support(self.device) - (alpha * next_log_prob)[:, None]
            target = spread((returns / self.reward_scale)[:, None] + discounts[:, None] * worth, likely)
        both = torch.cat([observations, next_observations]), torch.cat([actions, next_actions])
        logits = self.critic(*both, learn=True, rows=slice(count))
        loss = -(target * logits.log_softmax(-1)).sum(-1).mean()
        self.critic_optimiser.step(loss)
        shorten(self.critic)
        values = means(logits.detach()) * self.reward_scale
        metrics = {"critic_loss": loss.detach(), "q_mean": values.mean(), "alpha": alpha}

        if update_actor and self.actor_is_due():
            new_actions, log_prob = self.actor.sample(observations, self.generator, learn=True)
            value = means(self.critic(observations, new_actions)).amin(0)
            actor_loss = (alpha * log_prob - value).mean()
            self.actor_optimiser.step(actor_loss)
            shorten(self.actor)
            entropy = -log_prob.detach().mean()
            self.learn_temperature(entropy, actions.shape[-1])
            metrics |= {"actor_loss": actor_loss.detach(), "entropy": entropy}

        smooth(self.target, self.critic, self.settings.target_smoothing)
        return metrics

    def actor_is_due(self) -> bool:
        """Whether the actor learns at this update of the critics."""
        return (self.critic_optimiser.steps - 1) % self.settings.actor_every == 0

    def _tensors(self) -> dict[str, Tensor]:
        return {**super()._tensors(), "reward_scale": self.reward_scale}
