"""Exploration that drifts, for learners that take noise."""

from __future__ import annotations

from typing import final

import numpy as np
import numpy.typing as npt

from orcalign.agents import episode_noise
from orcalign.checks import require_count, require_number
from orcalign.libraries.sb3 import ActionNoise


@final
class PinkNoise(ActionNoise):
    """Pink noise for whole episodes, as our own runs explore: an arm comes farther with it than with white noise.

    What is drawn follows from NumPy's own generator, which Stable-Baselines3 seeds.

    Args:
        sigma: standard deviation, of actions from -1 to 1.
        steps: of an episode; a longer one goes on with noise drawn anew.
        dim: A, of the actions.

    >>> noise = PinkNoise(0.5, steps=63, dim=4)
    >>> np.stack([noise() for _ in range(100)]).shape
    (100, 4)
    """

    def __init__(self, sigma: float, steps: int, dim: int) -> None:
        super().__init__()
        self.sigma = require_number(sigma, "sigma", at_least=0)
        self.steps, self.dim = require_count(steps, "steps", at_least=1), require_count(dim, "dim", at_least=1)
        self._left: list[npt.NDArray[np.float32]] = []

    def __call__(self) -> npt.NDArray[np.float32]:
        """[A] of the next step."""
        if not self._left:
            # A generator that was copied for each environment would give all of them the same.
            rng = np.random.default_rng(np.random.randint(2**31))  # noqa: NPY002
            self._left = list(self.sigma * episode_noise("pink", self.steps, self.dim, rng))
        return self._left.pop()

    def reset(self) -> None:
        """Begin an episode."""
        self._left = []
