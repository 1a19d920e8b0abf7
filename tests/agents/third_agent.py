"""An agent that copies the actions it is shown: all that a new agent has to bring."""

from __future__ import annotations

from dataclasses import dataclass

from orcalign.agents import Agent, TrunkSettings


@dataclass(frozen=True)
class CloningSettings(TrunkSettings):
    agent: str = "cloning"


class Cloning(Agent):
    def update(self, batch, update_actor=True):
        observations, actions, *_ = batch.to(self.device)
        loss = (self.actor(observations) - actions).square().mean()
        self.actor_optimiser.step(loss)
        return {"actor_loss": loss.detach()}
