"""SAC (Haarnoja et al., 2018): a Gaussian policy that is paid for its entropy, with a learned price."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from orcalign.agents.batch import Batch
from orcalign.agents.learner import Learner
from orcalign.agents.networks import Critic, GaussianActor, make_encoder
from orcalign.agents.optimiser import Adam
from orcalign.agents.targets import agreed, careful, critic_loss, smooth

if TYPE_CHECKING:
    from orcalign.agents.settings import AgentSettings


class Temperature(nn.Module):
    """The price of entropy, learned as its logarithm so that it stays positive; it begins at 1."""

    def __init__(self) -> None:
        super().__init__()
        self.log = nn.Parameter(torch.zeros(()))


class SAC(Learner):
    """Stochastic policy, which explores by itself. Between n-step rewards only the last step's entropy is paid.

    >>> import numpy as np
    >>> from orcalign.agents import AgentSettings
    >>> agent = SAC(AgentSettings(agent="sac", hidden=8), (3,), action_dim=1, seed=0, device="cpu")
    >>> batch = Batch(*(np.zeros((4, *shape), "f") for shape in ((3,), (1,), (), (), (3,))))
    >>> sorted(agent.update(batch))
    ['actor_loss', 'alpha', 'critic_loss', 'entropy', 'q_mean']
    """

    def __init__(
        self,
        settings: AgentSettings,
        observation_shape: tuple[int, ...],
        action_dim: int,
        seed: int,
        device: str,
    ) -> None:
        self.target_entropy = -float(action_dim)
        self.encoder = make_encoder(observation_shape)
        self.actor = GaussianActor(self.encoder.size, action_dim, settings)
        self.critic = Critic(self.encoder.size, action_dim, settings)
        self.temperature = Temperature()
        networks = {"encoder": self.encoder, "actor": self.actor, "critic": self.critic}
        super().__init__(settings, {**networks, "temperature": self.temperature}, seed, device)
        self.target = self._networks["target"]
        rate = settings.learning_rate
        self.critic_optimiser = Adam({"critic": self.critic}, rate)
        self.actor_optimiser = Adam({"actor": self.actor}, rate)
        self.temperature_optimiser = Adam({"temperature": self.temperature}, rate)
        self._optimisers = {
            "critic_adam": self.critic_optimiser,
            "actor_adam": self.actor_optimiser,
            "temperature_adam": self.temperature_optimiser,
        }

    def update(self, batch: Batch[Any], update_actor: bool = True) -> dict[str, Tensor]:
        """Learn from one batch: critics, actor, temperature, and the target after the critics."""
        observations, actions, returns, discounts, next_observations = batch.to(self.device)
        alpha = self._alpha()

        with torch.no_grad():
            next_actions, next_log_prob = self.actor.sample(next_observations, self.generator)
            next_values = careful(self.target(next_observations, next_actions), self.generator)
            target = returns + discounts * (next_values - alpha * next_log_prob)
        values = self.critic(observations, actions)
        loss = critic_loss(values, target)
        self.critic_optimiser.step(loss)
        metrics = {"critic_loss": loss.detach(), "q_mean": values.detach().mean(), "alpha": alpha}

        if update_actor:
            new_actions, log_prob = self.actor.sample(observations, self.generator)
            worth = agreed(self.critic(observations, new_actions))
            actor_loss = (alpha * log_prob - worth).mean()
            self.actor_optimiser.step(actor_loss)
            self._average(self.settings.policy_average)
            entropy = -log_prob.detach().mean()
            if self.settings.entropy_temperature is None:
                self.temperature_optimiser.step(self.temperature.log * (entropy - self.target_entropy))
            metrics |= {"actor_loss": actor_loss.detach(), "entropy": entropy}

        smooth(self.target, self.critic, self.settings.target_smoothing)
        return metrics

    def _alpha(self) -> Tensor:
        if self.settings.entropy_temperature is None:
            return self.temperature.log.detach().exp()
        return torch.tensor(self.settings.entropy_temperature, device=self.device)
