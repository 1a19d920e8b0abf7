"""An agent that copies the actions it is shown: all that a new agent has to bring."""

from __future__ import annotations

from dataclasses import dataclass

from orcalign.agents import AgentSettings
from orcalign.agents.learner import Learner
from orcalign.agents.networks import Actor, Critic, make_encoder
from orcalign.agents.parameters import Adam


@dataclass(frozen=True)
class CloningSettings(AgentSettings):
    agent: str = "cloning"


class Cloning(Learner):
    def __init__(self, settings, observation_shape, action_dim, seed, device):
        encoder = make_encoder(observation_shape)
        self.actor = Actor(encoder.size, action_dim, settings)
        critic = Critic(encoder.size, action_dim, settings)
        super().__init__(settings, {"encoder": encoder, "actor": self.actor, "critic": critic}, seed, device)
        self._optimisers = {"actor_adam": Adam({"actor": self.actor}, settings.learning_rate)}

    def update(self, batch, update_actor=True):
        observations, actions, *_ = batch.to(self.device)
        loss = (self.actor(observations) - actions).square().mean()
        self._optimisers["actor_adam"].step(loss)
        return {"actor_loss": loss.detach()}
