"""The network that tells transitions apart: asked in NumPy, taught in torch."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, final

import numpy as np
import numpy.typing as npt

from orcalign.matching.match import FloatArray
from orcalign.rewards.adversarial.settings import AdversarialSettings
from orcalign.rewards.base import State

if TYPE_CHECKING:
    from torch import Tensor

Pairs = npt.NDArray[np.float32]
Weights = dict[str, npt.NDArray[np.float32]]
MOMENTS = ("exp_avg", "exp_avg_sq")
"""What Adam remembers of each weight, as torch names it."""


@final
class Discriminator:
    """Pairs [N, 2k] → logits [N]: above 0 for the demo's, below for the learner's.

    >>> rng = np.random.default_rng(0)
    >>> demo, learner = rng.normal(1, 0.1, (20, 2)).astype("f4"), rng.normal(-1, 0.1, (20, 2)).astype("f4")
    >>> network = Discriminator(2, AdversarialSettings(hidden=8, learning_rate=0.02))
    >>> network.fit(demo, learner, 50) < 1.0, network.logits(demo).mean() > 0 > network.logits(learner).mean()
    (True, np.True_)
    """

    def __init__(self, inputs: int, settings: AdversarialSettings) -> None:
        self.settings, self.updates = settings, 0
        self.weights: Weights = {}
        rng = np.random.default_rng([settings.seed, 7])
        sizes = (inputs, settings.hidden, settings.hidden, 1)
        for layer, (before, after) in enumerate(pairwise(sizes)):
            bound = before**-0.5
            self.weights[f"{layer}.weight"] = rng.uniform(-bound, bound, (after, before)).astype(np.float32)
            self.weights[f"{layer}.bias"] = np.zeros(after, np.float32)
        self._moments = {
            f"{moment}.{name}": np.zeros_like(one) for moment in MOMENTS for name, one in self.weights.items()
        }

    def logits(self, pairs: Pairs) -> FloatArray:
        """[N] In double precision, and without torch."""
        w = self.weights
        hidden: Any = np.asarray(pairs, np.float64)
        for layer in (0, 1):
            hidden = np.tanh(hidden @ w[f"{layer}.weight"].T.astype(np.float64) + w[f"{layer}.bias"])
        logits: FloatArray = (hidden @ w["2.weight"].T.astype(np.float64) + w["2.bias"])[:, 0]
        return logits

    def fit(self, demo: Pairs, learner: Pairs, updates: int) -> float:
        """Go on learning from the demo's pairs [M, 2k] and the learner's [N, 2k]; the mean loss, without penalty."""
        import torch

        known = {name: torch.tensor(one).requires_grad_() for name, one in self.weights.items()}
        adam = torch.optim.Adam(known.values(), lr=self.settings.learning_rate, foreach=False)
        if self.updates:
            for name, one in known.items():
                moments = {moment: torch.tensor(self._moments[f"{moment}.{name}"]) for moment in MOMENTS}
                adam.state[one] = {"step": torch.tensor(float(self.updates)), **moments}
        total = 0.0
        for _ in range(updates):
            # By its number, so that a run that goes on draws the same.
            rng = np.random.default_rng([self.settings.seed, 8, self.updates])
            real, own = (
                torch.from_numpy(rows[rng.integers(len(rows), size=self.settings.batch)]) for rows in (demo, learner)
            )
            mix = torch.from_numpy(rng.random((self.settings.batch, 1), np.float32))
            told = loss(known, real, own)
            adam.zero_grad()
            (told + self.settings.penalty * penalty(known, real, own, mix)).backward()  # type: ignore[no-untyped-call]
            adam.step()
            self.updates += 1
            total += float(told.detach())
        self.weights = {name: one.detach().numpy().copy() for name, one in known.items()}
        self._moments = {
            f"{moment}.{name}": adam.state[one][moment].numpy().copy()
            for moment in MOMENTS
            for name, one in known.items()
        }
        if not all(np.isfinite(one).all() for one in self.weights.values()):
            rate = self.settings.learning_rate
            raise ValueError(f"the discriminator diverged with learning_rate={rate:g}; set a lower one.")
        return total / updates

    def state(self) -> State:
        """Weights, what Adam remembers, and how far it has come."""
        return {"updates": self.updates}, {**self.weights, **self._moments}

    def load_state(self, state: State) -> None:
        """Go on where `state` was taken."""
        plain, arrays = state
        self.updates = int(plain["updates"])
        self.weights = {name: np.array(arrays[name]) for name in self.weights}
        self._moments = {name: np.array(arrays[name]) for name in self._moments}


def forward(weights: dict[str, Tensor], pairs: Tensor) -> Tensor:
    """[N] The same as `Discriminator.logits`, to learn by."""
    import torch

    for layer in (0, 1):
        pairs = torch.tanh(torch.nn.functional.linear(pairs, weights[f"{layer}.weight"], weights[f"{layer}.bias"]))
    return torch.nn.functional.linear(pairs, weights["2.weight"], weights["2.bias"])[:, 0]


def loss(weights: dict[str, Tensor], demo: Tensor, learner: Tensor) -> Tensor:
    """Cross-entropy with the demo as 1 and the learner as 0, of as many pairs each."""
    from torch.nn.functional import softplus

    return 0.5 * (softplus(-forward(weights, demo)).mean() + softplus(forward(weights, learner)).mean())


def penalty(weights: dict[str, Tensor], demo: Tensor, learner: Tensor, mix: Tensor) -> Tensor:
    """Mean square of how far the slope of the logit is from 1, at points on the way from the learner to the demo."""
    import torch

    between = (mix * demo + (1 - mix) * learner).requires_grad_()
    (slope,) = torch.autograd.grad(forward(weights, between).sum(), between, create_graph=True)
    off: Tensor = (slope.norm(dim=1) - 1).square().mean()
    return off
