"""What every agent has: networks, optimisers, weights to hand out, and a state to save and load."""

from __future__ import annotations

import copy
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from orcalign.agents.batch import Batch
from orcalign.agents.networks import Critic, initialise, make_encoder
from orcalign.agents.parameters import Adam, load_tensors, load_weights, named_tensors
from orcalign.agents.registry import AgentSettings, TrunkSettings, find_agent
from orcalign.agents.replay import Replay


class Agent(ABC):
    """Learns from batches. It owns networks, optimisers and its random numbers; a subclass says what an update is.

    Random numbers come from one generator on the agent's device and never from torch's global one; weights are
    drawn on the CPU, so that a seed means the same weights on every device.
    """

    def __init__(
        self,
        settings: AgentSettings,
        observation_shape: tuple[int, ...],
        action_dim: int,
        seed: int,
        device: str,
    ) -> None:
        """For observations (D,) or (C, H, W)."""
        if not 0 <= seed < 2**63:
            raise ValueError(f"The seed is {seed}; it must be a whole number from 0 to 2^63 - 1.")
        self.settings = settings
        more = self._more_networks()
        self.encoder, features = make_encoder(observation_shape)
        self.actor = pkgutil.resolve_name(find_agent(settings.agent).actor)(features, action_dim, settings)
        self.critic = self._make_critic(features, action_dim)
        networks = {"encoder": self.encoder, "actor": self.actor, "critic": self.critic, **more}
        weights = torch.Generator().manual_seed(seed)
        for network in networks.values():
            initialise(network, weights)
        self.device = device
        self.generator = torch.Generator(device)
        self.generator.manual_seed(int(torch.randint(2**62, (), generator=weights)))
        networks["target"] = self.target = copy.deepcopy(self.critic).requires_grad_(False)
        """The critics' slow copies, which keep them from chasing themselves."""
        self._networks = {name: network.to(device) for name, network in networks.items()}
        rate = settings.learning_rate
        # What is worth seeing is learned from the critics' errors alone.
        self.critic_optimiser = Adam({"encoder": self.encoder, "critic": self.critic}, rate)
        self.actor_optimiser = Adam({"actor": self.actor}, rate)
        self._optimisers = {"critic_adam": self.critic_optimiser, "actor_adam": self.actor_optimiser}
        self._optimisers |= {f"{name}_adam": Adam({name: network}, rate) for name, network in more.items()}

    def _make_critic(self, features: int, action_dim: int) -> nn.Module:
        return Critic(features, action_dim, cast(TrunkSettings, self.settings))

    def _more_networks(self) -> dict[str, nn.Module]:
        """What an agent has besides: each with an optimiser, and saved with the rest."""
        return {}

    @abstractmethod
    def update(self, batch: Batch[Any], update_actor: bool = True) -> dict[str, Tensor]:
        """Learn from one batch (NumPy or torch); metrics as 0-d tensors, not waited for.

        Without ``update_actor`` only the critics learn, and the actor's metrics are left out.
        """

    def look_over(self, replay: Replay) -> None:  # noqa: B027
        """Told whenever episodes or rewards in the replay are new: one that scales rewards finds out by how much."""

    def policy_weights(self) -> dict[str, np.ndarray]:
        """Copies of the weights that `Policy.load` needs to act."""
        acting = {"encoder": self.encoder, "actor": self.actor}
        # Memory of NumPy's own: an array over torch's is let go of in C++, and a thread that does so while Python
        # shuts down (the one that feeds a queue) takes the whole process with it.
        return {name: tensor.detach().cpu().numpy().copy() for name, tensor in named_tensors(acting).items()}

    def state(self) -> dict[str, Tensor]:
        """Everything that training needs to go on, as copies on the CPU; flat, for safetensors."""
        return {name: tensor.detach().to("cpu", copy=True).contiguous() for name, tensor in self._tensors().items()}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Go on exactly where `state` was taken."""
        load_tensors(self._tensors(), state)
        self.generator.set_state(torch.as_tensor(state["generator"]).clone())

    def load_networks(self, state: Mapping[str, Tensor]) -> None:
        """Take encoder, actor, critics and targets of another run; optimisers and random numbers stay fresh."""
        load_weights({name: self._networks[name] for name in ("encoder", "actor", "critic", "target")}, state)

    def _tensors(self) -> dict[str, Tensor]:
        tensors = named_tensors(self._networks)
        for name, optimiser in self._optimisers.items():
            tensors |= {f"{name}.{key}": tensor for key, tensor in optimiser.tensors().items()}
        return {**tensors, "generator": self.generator.get_state()}
