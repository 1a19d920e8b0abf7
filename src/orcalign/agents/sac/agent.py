"""SAC (Haarnoja et al., 2018): a Gaussian policy that is paid for its entropy, with a learned price."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from orcalign.agents.agent import Agent
from orcalign.agents.batch import Batch
from orcalign.agents.networks import make_head, make_trunk
from orcalign.agents.parameters import smooth
from orcalign.agents.sac import SACSettings

LOG_STD = (-20.0, 2.0)
"""Bounds of a Gaussian policy's log standard deviation: beyond them probabilities overflow."""


class GaussianActor(nn.Module):
    """Stochastic policy: features [B, D] → mean and standard deviation [B, A] before a tanh."""

    def __init__(self, features: int, action_dim: int, settings: SACSettings) -> None:
        super().__init__()
        self.trunk, inputs = make_trunk(features, settings.trunk)
        self.layers = make_head(inputs, 2 * action_dim, settings)

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """[B, D] → mean [B, A], log standard deviation [B, A]."""
        return self.split(self.layers(self.trunk(features)))

    @staticmethod
    def split(raw: Tensor) -> tuple[Tensor, Tensor]:
        """[B, 2A] → mean [B, A], log standard deviation [B, A]."""
        mean, log_std = raw.chunk(2, dim=-1)
        return mean, log_std.clamp(*LOG_STD)

    def act(self, features: Tensor, noise: Tensor | None) -> Tensor:
        """The mean's action; ``noise`` [B, A] of variance 1 makes it a draw from the policy."""
        mean, log_std = self(features)
        return torch.tanh(mean if noise is None else mean + log_std.exp() * noise)

    def sample(self, features: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Actions [B, A] drawn from the policy, and their log probability [B]."""
        return sampled(*self(features), generator)


def sampled(mean: Tensor, log_std: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Actions [B, A] of a Gaussian policy with these [B, A], and their log probability [B]."""
    noise = torch.empty_like(mean).normal_(generator=generator)
    raw = mean + log_std.exp() * noise
    # log(1 - tanh(raw)^2), in a form that does not lose everything where tanh is nearly 1.
    log_slope = 2 * (math.log(2) - raw - functional.softplus(-2 * raw))
    log_prob = -0.5 * noise**2 - log_std - 0.5 * math.log(2 * math.pi) - log_slope
    return torch.tanh(raw), log_prob.sum(-1)


class SAC(Agent):
    """Stochastic policy, which explores by itself. Between n-step rewards only the last step's entropy is paid.

    >>> import numpy as np
    >>> agent = SAC(SACSettings(hidden=8), (3,), action_dim=1, seed=0, device="cpu")
    >>> batch = Batch(*(np.zeros((4, *shape), "f") for shape in ((3,), (1,), (), (), (3,))))
    >>> sorted(agent.update(batch))
    ['actor_loss', 'alpha', 'critic_loss', 'entropy', 'q_mean']
    """

    settings: SACSettings
    actor: GaussianActor
    first_temperature, entropy_of_an_action = 1.0, -1.0
    """What entropy is worth at the beginning, and how much of it is aimed at."""

    def _more_networks(self) -> dict[str, nn.Module]:
        # The price of entropy is learned as its logarithm, so that it stays positive.
        self.temperature = nn.ParameterDict({"log": torch.tensor(math.log(self.first_temperature))})
        return {"temperature": self.temperature}

    def alpha(self) -> Tensor:
        """What entropy is worth."""
        fixed = self.settings.entropy_temperature
        return self.temperature["log"].detach().exp() if fixed is None else torch.tensor(fixed, device=self.device)

    def learn_temperature(self, entropy: Tensor, action_dim: int) -> None:
        """Raise the worth of entropy if there is less than aimed at."""
        if self.settings.entropy_temperature is None:
            gap = entropy - self.entropy_of_an_action * action_dim
            self._optimisers["temperature_adam"].step(self.temperature["log"] * gap)

    def update(self, batch: Batch[Any], update_actor: bool = True) -> dict[str, Tensor]:
        """Learn from one batch: critics, actor, temperature, and the target after the critics."""
        observations, actions, returns, discounts, next_observations = batch.to(self.device)
        alpha = self.alpha()

        with torch.no_grad():
            next_actions, next_log_prob = self.actor.sample(next_observations, self.generator)
            next_values = self.target(next_observations, next_actions).amin(0)
            target = returns + discounts * (next_values - alpha * next_log_prob)
        values = self.critic(observations, actions)
        loss = (values - target).square().mean()
        self.critic_optimiser.step(loss)
        metrics = {"critic_loss": loss.detach(), "q_mean": values.detach().mean(), "alpha": alpha}

        if update_actor:
            new_actions, log_prob = self.actor.sample(observations, self.generator)
            worth = self.critic(observations, new_actions).amin(0)
            actor_loss = (alpha * log_prob - worth).mean()
            self.actor_optimiser.step(actor_loss)
            entropy = -log_prob.detach().mean()
            self.learn_temperature(entropy, actions.shape[-1])
            metrics |= {"actor_loss": actor_loss.detach(), "entropy": entropy}

        smooth(self.target, self.critic, self.settings.target_smoothing)
        return metrics
