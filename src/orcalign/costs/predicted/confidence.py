"""How far a predictor is to be believed: by how well a narrow linear autoencoder knows what it sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from orcalign.checks import require_number
from orcalign.matching.match import FloatArray

WIDTH = 32
"""Of the autoencoder's middle, as in the paper."""
K_SIGMA = 2.0
"""The paper's: how many standard deviations beyond the mean are still believed a good deal."""


@final
@dataclass(frozen=True, eq=False)
class Confidence:
    """c(z) = 1 where the loss L(z) of an autoencoder d-32-d is below its mean mu over what was learned from, else
    exp(-(L(z) - mu)^2 / (2 (k sigma)^2)), with sigma its deviation there.

    >>> rng = np.random.default_rng(0)
    >>> known = rng.normal(size=(200, 1)) * np.ones(6) + 0.1 * rng.normal(size=(200, 6))
    >>> trust = Confidence.fit(known, width=1)
    >>> trust(np.array([[1.0] * 6, [1.0, -1.0] * 3])).round(2).tolist()
    [1.0, 0.0]
    """

    encode: FloatArray
    """[d, width]"""
    decode: FloatArray
    """[width, d]"""
    bias: FloatArray
    """[d] Of the output; that of the middle is part of it, as nothing lies between the two layers."""
    mean: float
    """mu"""
    deviation: float
    """sigma"""
    k: float = K_SIGMA

    def __post_init__(self) -> None:
        require_number(self.k, "k_sigma", above=0)

    @classmethod
    def fit(cls, features: npt.ArrayLike, width: int = WIDTH, k: float = K_SIGMA) -> Confidence:
        """The autoencoder to which training on features [N, d] would converge: their principal components."""
        z = np.asarray(features, np.float64)
        centre = z.mean(0)
        _, vectors = np.linalg.eigh(np.cov((z - centre).T))
        basis = vectors[:, ::-1][:, :width]
        return cls.of(basis, basis.T, centre - centre @ basis @ basis.T, z, k)

    @classmethod
    def of(
        cls, encode: FloatArray, decode: FloatArray, bias: FloatArray, features: npt.ArrayLike, k: float = K_SIGMA
    ) -> Confidence:
        """With these layers, and mean and deviation of the loss over features [N, d]."""
        made = cls(encode, decode, bias, 0.0, 1.0, k)
        losses = made.loss(features)
        return cls(encode, decode, bias, float(losses.mean()), float(max(losses.std(), 1e-12)), k)

    def loss(self, features: npt.ArrayLike) -> FloatArray:
        """[N] Mean squared error of the reconstruction of each row of [N, d], which no other row changes."""
        z = np.asarray(features, np.float64)
        # Row by row: a product of many rows rounds otherwise than one.
        again = np.stack([row @ self.encode @ self.decode for row in z]) + self.bias if len(z) else z
        error: FloatArray = ((again - z) ** 2).mean(1)
        return error

    def __call__(self, features: npt.ArrayLike) -> FloatArray:
        """[N] Confidence in (0, 1] of each row of [N, d]."""
        beyond = np.maximum(0.0, self.loss(features) - self.mean) / (self.deviation * self.k)
        found: FloatArray = np.exp(-0.5 * beyond**2)
        return found

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """For a file; `from_arrays` reads them."""
        numbers = np.array([self.mean, self.deviation, self.k])
        return {"encode": self.encode, "decode": self.decode, "bias": self.bias, "numbers": numbers}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Confidence:
        """What `arrays` gave."""
        numbers = (float(one) for one in arrays["numbers"])
        return cls(arrays["encode"], arrays["decode"], arrays["bias"], *numbers)
