"""What acts: encoder and actor, without anything that learns."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from orcalign.agents.cpu.acting import ActByHand, act_by_hand
from orcalign.agents.networks import make_encoder
from orcalign.agents.parameters import load_weights
from orcalign.agents.registry import AgentSettings, find_agent


class Policy:
    """Acts with weights of an agent; made by `make_policy`."""

    def __init__(
        self, settings: AgentSettings, observation_shape: tuple[int, ...], action_dim: int, device: str
    ) -> None:
        self.observation_shape, self.action_dim, self.device = observation_shape, action_dim, device
        self._encoder, features = make_encoder(observation_shape)
        self._actor = pkgutil.resolve_name(find_agent(settings.agent).actor)(features, action_dim, settings)
        self._networks = {"encoder": self._encoder.to(device), "actor": self._actor.to(device)}
        self._by_hand: ActByHand | None = None
        self._loaded = False

    def load(self, weights: Mapping[str, Any]) -> None:
        """Take the weights of `Agent.policy_weights`, or those in a whole `Agent.state`."""
        load_weights(self._networks, weights)
        self._by_hand = act_by_hand(self._actor, self.observation_shape, self.device)
        self._loaded = True

    @torch.inference_mode()
    def act(self, observation: np.ndarray, noise: np.ndarray | None = None) -> np.ndarray:
        """Action float32 [A] in -1 to 1 for one observation, without noise the policy's best.

        ``noise`` [A] explores: drqv2 adds it to the action, so give it with the standard deviation that you want;
        sac and xqc multiply it by their own standard deviation, so give it with variance 1.
        """
        if not self._loaded:
            raise ValueError("The policy has no weights yet; load those of an agent first.")
        if np.shape(observation) != self.observation_shape:
            raise ValueError(
                f"The observation has the shape {np.shape(observation)}, but the policy was made for "
                f"{self.observation_shape}; give one observation, prepared as in training."
            )
        if noise is not None and np.shape(noise) != (self.action_dim,):
            raise ValueError(f"The noise has the shape {np.shape(noise)}; it must be ({self.action_dim},).")
        if self._by_hand is not None:
            return self._by_hand(np.ascontiguousarray(observation, np.float32), noise)
        seen = np.uint8 if len(self.observation_shape) == 3 else np.float32
        features = self._encoder(self._tensor(observation, seen))
        actions = self._actor.act(features, None if noise is None else self._tensor(noise, np.float32))
        action: np.ndarray = actions[0].cpu().numpy()
        return action

    def _tensor(self, array: np.ndarray, dtype: type) -> torch.Tensor:
        # A copy: an observation may be read-only, which torch cannot share.
        return torch.tensor(np.asarray(array, dtype)[None], device=self.device)
