"""Adam in one pass over memory, and the target's step after it in the same pass."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from torch import Tensor

from orcalign.agents.cpu.kernels import Array, adam
from orcalign.agents.parameters import Adam

Row = tuple[Array, Array, Array, Array, Array]
"""Parameter, gradient, moments and follower, flat."""


class AdamByHand:
    """An optimiser's step, part by part; works on the moments of the optimiser and has no state of its own."""

    def __init__(self, optimiser: Adam, followers: Mapping[Tensor, Tensor] | None = None, share: float = 0.0) -> None:
        """``followers`` are the slow copies of some parameters; they go ``share`` of the way."""
        self._optimiser, self._followers, self._share = optimiser, followers or {}, np.float32(share)

    def rows(self, gradients: Mapping[Tensor, Tensor]) -> list[Row]:
        """What `step` needs of parameters with these gradients."""
        of = {parameter: (flat(mean), flat(square)) for parameter, mean, square in self._optimiser.moments()}
        return [
            (flat(parameter), flat(gradient), *of[parameter], flat(self._followers.get(parameter, parameter)))
            for parameter, gradient in gradients.items()
        ]

    def begin(self) -> None:
        """Count the step; then each part takes it."""
        rate, root = self._optimiser.next_step()
        self._rates = np.float32(rate), np.float32(root), bool(self._followers), self._share

    def step(self, rows: list[Row]) -> None:
        """Take it with these parameters."""
        for row in rows:
            adam(*row, *self._rates)


def flat(tensor: Tensor) -> Array:
    """Its numbers [N] in the same memory."""
    array: Array = tensor.detach().numpy().reshape(-1)
    return array
