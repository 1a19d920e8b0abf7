"""What an agent learns from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

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
