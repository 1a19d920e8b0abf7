"""The network of an eye: from a map of features to where things are, and how far off that may be."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from orcalign.costs.predicted.entities import Entities
from orcalign.matching.match import FloatArray

if TYPE_CHECKING:
    from torch import Tensor

Weights = dict[str, npt.NDArray[np.float32]]

WIDTH, MAPS, TOLD, HIDDEN = 64, 24, 16, 256
"""Channels after the first layer; attention maps, what each is told of its place beside where that is; hidden units."""
SHARP = 6.0
"""How much larger the first weights of the attention are. Maps that begin even all over the picture find small things
late, if at all."""
LOG_SCALE = (-2.0, 4.0)
"""Between a millimetre and half a metre: what a scale may be, as a logarithm of centimetres."""


class Predicted(NamedTuple):
    """What an eye says of N frames."""

    values: FloatArray
    """[N, E] Places in centimetres."""
    scales: FloatArray
    """[N, P] Expected error of each part in centimetres."""
    hidden: npt.NDArray[np.float32]
    """[N, 256] The last layer before these."""


def fresh_weights(channels: int, outputs: int, seed: int) -> Weights:
    """Of a network that has learned nothing; uniform, as torch begins its layers, but from a generator of our own.

    >>> sorted((name, value.shape) for name, value in fresh_weights(64, 13, 0).items() if name.startswith("out"))
    [('out.bias', (13,)), ('out.weight', (13, 256))]
    """
    rng, made = np.random.default_rng([seed, 64]), {}
    shapes = {
        "mix": (WIDTH, channels),
        "around": (WIDTH, 1, 3, 3),
        "attend": (MAPS, WIDTH),
        "tell": (TOLD, WIDTH),
        "first": (HIDDEN, MAPS * (2 + TOLD)),
        "second": (HIDDEN, HIDDEN),
        "out": (outputs, HIDDEN),
    }
    for name, shape in shapes.items():
        bound = float(np.prod(shape[1:])) ** -0.5
        made[f"{name}.weight"] = rng.uniform(-bound, bound, shape).astype(np.float32)
        made[f"{name}.bias"] = rng.uniform(-bound, bound, shape[0]).astype(np.float32)
    made["attend.weight"] *= np.float32(SHARP)
    return made


def forward(weights: Mapping[str, Tensor], maps: Tensor) -> tuple[Tensor, Tensor]:
    """[N, outputs] and the last hidden layer [N, 256] of maps [N, side², channels], places in rows.

    Each attention map is a distribution over the places; what it finds is where that is, x and y from -1 to 1, and
    what is told there.
    """
    import torch
    from torch.nn import functional

    N, places, _ = maps.shape
    side = round(places**0.5)
    w = weights
    x = functional.relu(functional.linear(maps, w["mix.weight"], w["mix.bias"]))
    # Channels stay last in memory all the way: no copies, and the layers before and after are plain products.
    square = x.view(N, side, side, WIDTH).permute(0, 3, 1, 2)
    square = functional.conv2d(square, w["around.weight"], w["around.bias"], padding=1, groups=WIDTH)
    x = functional.relu(x + square.permute(0, 2, 3, 1).reshape(N, places, WIDTH))
    attention = functional.linear(x, w["attend.weight"], w["attend.bias"]).softmax(1)
    told = functional.linear(x, w["tell.weight"], w["tell.bias"])
    steps = torch.linspace(-1, 1, side)
    y_of, x_of = torch.meshgrid(steps, steps, indexing="ij")
    where = torch.stack([x_of.reshape(-1), y_of.reshape(-1)], 1)
    found = torch.bmm(attention.transpose(1, 2), torch.cat([where.expand(N, places, 2), told], 2)).reshape(N, -1)
    hidden = functional.relu(functional.linear(found, w["first.weight"], w["first.bias"]))
    hidden = functional.relu(functional.linear(hidden, w["second.weight"], w["second.bias"]))
    return functional.linear(hidden, w["out.weight"], w["out.bias"]), hidden


MOVES = 0.05
"""Centimetres: a part whose numbers all deviate less is not learned, it is always there."""
STILL_SCALE = 0.1
"""Expected error of such a part."""


@dataclass(frozen=True, eq=False)
class Head:
    """The network's weights, and what its outputs mean: standardised numbers, then a log scale for each part."""

    weights: Weights
    centre: FloatArray
    """[E]"""
    spread: FloatArray
    """[E]"""
    still: npt.NDArray[np.bool_]
    """[P] Parts that do not move: they are at the centre."""
    caution: FloatArray
    """[P] What scales are multiplied by: errors on frames that were not learned from, over those expected."""

    @classmethod
    def fresh(cls, entities: Entities, channels: int, values: FloatArray, seed: int) -> Head:
        """One that has learned nothing, for values [N, E] like these."""
        weights = fresh_weights(channels, entities.dim + len(entities.parts), seed)
        return cls(weights, *_standard(entities, values), np.ones(len(entities.parts)))

    def restated(self, entities: Entities, values: FloatArray) -> Head:
        """The same predictions, for values [N, E] that may spread otherwise; parts that stood still begin anew."""
        centre, spread, still = _standard(entities, values)
        for k, (_, at) in enumerate(entities.parts):
            if still[k] and not self.still[k]:  # nothing of it is to be learned here, and nothing to be forgotten
                centre[at], spread[at], still[k] = self.centre[at], self.spread[at], False
        E, weights = entities.dim, {name: value.copy() for name, value in self.weights.items()}
        weights["out.weight"][:E] *= (self.spread / spread)[:, None]
        bias = weights["out.bias"][:E]
        bias[:] = (bias * self.spread + self.centre - centre) / spread
        return Head(weights, centre, spread, still, self.caution)

    def still_parts(self, entities: Entities) -> list[str]:
        """Names of the parts that do not move."""
        return [name for (name, _), still in zip(entities.parts, self.still, strict=True) if still]

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """For a file; `from_arrays` reads them."""
        named = {f"head/{name}": value for name, value in self.weights.items()}
        return {**named, **{name: getattr(self, name) for name in ("centre", "spread", "still", "caution")}}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Head | None:
        """What `arrays` gave, among others; None if there is none."""
        if "centre" not in arrays:
            return None
        weights = {name.removeprefix("head/"): arrays[name] for name in arrays if name.startswith("head/")}
        return cls(weights, *(arrays[name] for name in ("centre", "spread", "still", "caution")))

    def predict(self, entities: Entities, maps: npt.NDArray[np.float16]) -> Predicted:
        """What frames with these maps [N, side², channels] show."""
        outputs, hidden = run(self.weights, maps)
        E = entities.dim
        values = outputs[:, :E].astype(np.float64) * self.spread + self.centre
        scales = np.exp(np.clip(outputs[:, E:], *LOG_SCALE).astype(np.float64)) * self.caution
        for k, (_, at) in enumerate(entities.parts):
            if self.still[k]:
                values[:, at], scales[:, k] = self.centre[at], STILL_SCALE
        return Predicted(values, scales, hidden)


def _standard(entities: Entities, values: FloatArray) -> tuple[FloatArray, FloatArray, npt.NDArray[np.bool_]]:
    """Centre and spread of values [N, E], and which parts stand still."""
    spread = values.std(0)
    still = np.array([bool(spread[at].max() < MOVES) for _, at in entities.parts])
    return values.mean(0), np.maximum(spread, MOVES), still


def run(weights: Weights, maps: npt.NDArray[np.float16], batch: int = 256) -> tuple[npt.NDArray[np.float32], ...]:
    """`forward` without learning, of any number of maps."""
    import torch

    with one_thread(), torch.inference_mode():
        known = {name: torch.tensor(value) for name, value in weights.items()}
        parts = [
            forward(known, torch.tensor(maps[start : start + batch]).float())
            for start in range(0, max(1, len(maps)), batch)
        ]
        outputs, hidden = (torch.cat(one).numpy() for one in zip(*parts, strict=True))
    return outputs, hidden


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Torch on one thread, as before afterwards: sums over other numbers of threads round otherwise."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
