"""SAC (Haarnoja et al., 2018): a Gaussian policy that is paid for its entropy, with a learned price."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from orcalign.agents.agent import Agent
from orcalign.agents.batch import Batch
from orcalign.agents.networks import make_head, make_trunk
from orcalign.agents.parameters import smooth
from orcalign.agents.sac import SACSettings
from orcalign.agents.sac.by_hand import UpdateByHand
from orcalign.agents.sac.gaussian import LOG_STD, sampled, split


class GaussianActor(nn.Module):
    """Stochastic policy: features [B, D] → mean and standard deviation [B, A] before a tanh."""

    def __init__(self, features: int, action_dim: int, settings: SACSettings) -> None:
        super().__init__()
        self.trunk, inputs = make_trunk(features, settings.trunk)
        self.layers = make_head(inputs, 2 * action_dim, settings)

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """[B, D] → mean [B, A], log standard deviation [B, A]."""
        return split(self.layers(self.trunk(features)))

    def act(self, features: Tensor, noise: Tensor | None) -> Tensor:
        """The mean's action; ``noise`` [B, A] of variance 1 makes it a draw from the policy."""
        mean, log_std = self(features)
        return torch.tanh(mean if noise is None else mean + log_std.exp() * noise)

    @staticmethod
    def finish(raw: np.ndarray, noise: np.ndarray | None) -> np.ndarray:
        """The same from what the layers say of one state, [2A]."""
        mean, log_std = np.split(raw, 2)
        if noise is not None:
            mean = mean + np.exp(np.clip(log_std, *LOG_STD)) * np.asarray(noise, np.float32)
        action: np.ndarray = np.tanh(mean)
        return action

    def sample(self, features: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Actions [B, A] drawn from the policy, and their log probability [B]."""
        mean, log_std = self(features)
        return sampled(mean, log_std, generator)


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

    @cached_property
    def _by_hand(self) -> UpdateByHand:
        return UpdateByHand(self)

    def _more_networks(self) -> dict[str, nn.Module]:
        # The price of entropy is learned as its logarithm, so that it stays positive.
        start = self.settings.entropy_start
        first = self.first_temperature if start is None else start
        self.temperature = nn.ParameterDict({"log": torch.tensor(math.log(first))})
        return {"temperature": self.temperature}

    def alpha(self) -> Tensor:
        """What entropy is worth."""
        fixed = self.settings.entropy_temperature
        return self.temperature["log"].detach().exp() if fixed is None else torch.tensor(fixed, device=self.device)

    def learn_temperature(self, entropy: Tensor, action_dim: int) -> None:
        """Raise the worth of entropy if there is less than aimed at."""
        if self.settings.entropy_temperature is None:
            # The slope of the gap times the temperature's logarithm.
            gap = entropy - self.entropy_of_an_action * action_dim
            self._optimisers["temperature_adam"].apply([gap])

    def update(self, batch: Batch[Any], update_actor: bool = True) -> dict[str, Tensor]:
        """Learn from one batch: critics, actor, temperature, and the target after the critics."""
        tensors = batch.to(self.device)
        learn = self._by_hand if self._by_hand.can(tensors) else self._by_autograd
        return learn(tensors, update_actor)

    def _by_autograd(self, batch: Batch[Tensor], update_actor: bool) -> dict[str, Tensor]:
        observations, actions, returns, discounts, next_observations = batch
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
