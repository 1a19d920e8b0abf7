"""Values as distributions (Bellemare et al., 2017): how likely each of some values is."""

from __future__ import annotations

import torch
from torch import Tensor

ATOMS, BOUND = 101, 5.0
"""How many values there are, evenly from -BOUND to BOUND."""


def support(device: str | torch.device = "cpu") -> Tensor:
    """[ATOMS] values."""
    return torch.linspace(-BOUND, BOUND, ATOMS, device=device)


def means(logits: Tensor) -> Tensor:
    """[..., ATOMS] → the mean value of each distribution.

    >>> means(torch.tensor([0.0] * 101)).round().item()
    0.0
    """
    return logits.softmax(-1) @ support(logits.device)


def spread(values: Tensor, weights: Tensor) -> Tensor:
    """Distributions [B, ATOMS] with the same means as ``values`` [B, N] that are as likely as ``weights`` [B, N].

    Each weight is shared by the two atoms beside its value, the nearer one taking more; values beyond the ends count
    as the ends.

    >>> found = spread(torch.tensor([[0.02, 9.0]]), torch.tensor([[0.5, 0.5]]))
    >>> {k: round(share, 3) for k, share in enumerate(found[0].tolist()) if share}
    {50: 0.4, 51: 0.1, 100: 0.5}
    """
    place = (values.clamp(-BOUND, BOUND) + BOUND) * ((ATOMS - 1) / (2 * BOUND))
    # What is no number has no place, and its weight will be none either.
    low = place.floor().nan_to_num().clamp(0, ATOMS - 2)
    upper = (place - low) * weights
    found = torch.zeros(len(values), ATOMS, device=values.device)
    return found.scatter_add_(1, low.long(), weights - upper).scatter_add_(1, low.long() + 1, upper)
