"""What the training loop may ask of an agent, and what it hands to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

if TYPE_CHECKING:
    import torch

Array = TypeVar("Array")


class Batch(NamedTuple, Generic[Array]):
    """B transitions, as NumPy arrays (from the replay) or torch tensors (in an update).

    >>> import numpy as np
    >>> batch = Batch(np.zeros((2, 3), "f"), np.zeros((2, 1), "f"), *np.zeros((2, 2), "f"), np.ones((2, 3), "f"))
    >>> batch.to("cpu").next_observations.sum()
    tensor(6.)
    """

    observations: Array
    """[B, ...] float32 states or uint8 images (channels first)."""
    actions: Array
    """[B, A] float32 in -1 to 1."""
    returns: Array
    """[B] float32: rewards of the next h steps, summed with gamma^i; h is n_step or what the episode had left."""
    discounts: Array
    """[B] float32: weight of the value of `next_observations`; 0 where the episode terminated."""
    next_observations: Array
    """[B, ...] what was seen h steps later."""

    def to(self, device: str | torch.device) -> Batch[torch.Tensor]:
        """The same as tensors on ``device``; on the CPU NumPy arrays are shared, not copied."""
        import torch

        return Batch(*(torch.as_tensor(array, device=device) for array in self))


class Agent(Protocol):
    """Learns from batches. It owns networks, optimisers and its random numbers, and nothing else."""

    def update(self, batch: Batch[Any], update_actor: bool = True) -> dict[str, torch.Tensor]:
        """Learn from one batch (NumPy or torch); metrics as 0-d tensors, not waited for.

        Without ``update_actor`` only the critics learn, and the actor's metrics are left out.
        """
        ...

    def policy_weights(self) -> dict[str, np.ndarray]:
        """Copies of the weights that `Policy.load` needs to act."""
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
