"""What the training loop may ask of an agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from orcalign.agents.batch import Batch

if TYPE_CHECKING:
    import torch


class Agent(Protocol):
    """Learns from batches. It owns networks, optimisers and its random numbers, and nothing else."""

    def update(self, batch: Batch[Any], update_actor: bool = True) -> dict[str, torch.Tensor]:
        """Learn from one batch (NumPy or torch); metrics as 0-d tensors, not waited for.

        Without ``update_actor`` only the critics learn, and the actor's metrics are left out.
        """
        ...

    def policy_weights(self, averaged: bool = False) -> dict[str, np.ndarray]:
        """Copies of the weights that `Policy.load` needs to act: those of now, which explore, or the averaged ones,
        which are judged and kept. The two are the same if the settings do not average.
        """
        ...

    def state(self) -> dict[str, torch.Tensor]:
        """Everything that training needs to go on, as copies on the CPU; flat, for safetensors."""
        ...

    def load_state(self, state: Mapping[str, torch.Tensor]) -> None:
        """Go on exactly where `state` was taken."""
        ...

    def load_networks(self, state: Mapping[str, torch.Tensor]) -> None:
        """Take encoder, actor, critics and targets of another run; optimisers and random numbers stay fresh."""
        ...
