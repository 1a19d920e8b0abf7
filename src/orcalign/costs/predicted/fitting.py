"""Fitting the network of an eye to frames whose states are known, and measuring it on frames that it has not seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from orcalign.checks import require, require_count
from orcalign.costs.predicted.entities import Entities
from orcalign.costs.predicted.network import LOG_SCALE, Head, Predicted, forward, one_thread
from orcalign.matching.match import FloatArray

if TYPE_CHECKING:
    from torch import Tensor

Told: TypeAlias = Callable[[int, int], None]
"""Called with the number of updates done and to do."""
Errors: TypeAlias = dict[str, tuple[float, float]]
"""Median and 90% quantile of the error of each part, in centimetres."""

BATCH = 32
FRESH_RATE, REFIT_RATE = 2e-3, 5e-4
DECAY = 1e-4
ROUND = 0.05
"""Square centimetres that make the distance smooth at zero."""
PLAIN, RELATION = 0.1, 0.15
"""Weights of the plain distance of each part, without which one whose scale grew at the start may never be learned, and
of that of the hand relative to the first object, which costs ask for."""
HELD_OUT = 20
"""One group or frame in so many is held out."""
PRIOR = 5
REPORT = 25
FEWEST = 20
"""Frames to begin with."""
BETWEEN = "hand - object 1"


def train(
    head: Head,
    entities: Entities,
    maps: npt.NDArray[np.float16],
    values: FloatArray,
    *,
    rows: npt.NDArray[np.int64],
    updates: int,
    learning_rate: float,
    seed: int,
    weights: npt.ArrayLike | None = None,
    recent: float = 0.0,
    progress: Told | None = None,
) -> Head:
    """The head after `updates` more steps on those rows of maps [N, places, channels] and of what they show [N, E].

    Torch on one thread, whose generator of random numbers is not touched: the same arguments give the same bits.
    """
    import torch

    require_count(updates, "updates", at_least=1)
    require("learning_rate", learning_rate, above=0)
    each = np.ones(len(maps)) if weights is None else np.asarray(weights, np.float64)
    if each.shape != (len(maps),) or not np.isfinite(each).all() or each.min() < 0 or not each[rows].sum():
        raise ValueError(f"weights of shape {each.shape} must be {len(maps)} numbers of at least 0, not all 0.")
    draw = _Draw(rows, each[rows], seed, recent)
    E = entities.dim
    with one_thread():
        centre, spread = (torch.tensor(one, dtype=torch.float32) for one in (head.centre, head.spread))
        known = {name: torch.tensor(value).requires_grad_() for name, value in head.weights.items()}
        optimizer = torch.optim.AdamW(known.values(), lr=learning_rate, weight_decay=DECAY, fused=True)
        cycle = torch.optim.lr_scheduler.OneCycleLR(
            optimizer, learning_rate, total_steps=max(updates, BATCH), pct_start=0.1
        )
        for done in range(1, updates + 1):
            chosen = draw()
            outputs, _ = forward(known, torch.from_numpy(maps[chosen].astype(np.float32)))
            truth = torch.from_numpy(values[chosen].astype(np.float32))
            loss = _loss(entities, head.still, outputs[:, :E] * spread + centre - truth, outputs[:, E:])
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            cycle.step()
            if progress is not None and (done % REPORT == 0 or done == updates):
                progress(done, updates)
        learned = {name: value.detach().numpy().copy() for name, value in known.items()}
    if not all(np.isfinite(value).all() for value in learned.values()):
        raise ValueError(f"the eye's training diverged with a learning rate of {learning_rate:g}; use a lower one.")
    return replace(head, weights=learned, caution=np.ones(len(head.still)))


def cautious(head: Head, entities: Entities, seen: Predicted, values: FloatArray) -> Head:
    """The head, expecting errors as large as those that it made on frames [N] held out, where values [N, E] are true.

    What is fitted to few frames is nearly right on these, and would expect as much of all others. Few that are held out
    say little: they count against as many as if they were as expected.
    """
    far = [np.linalg.norm((seen.values - values)[:, at], axis=1).sum() for _, at in entities.parts]
    expected, prior = seen.scales.sum(0), seen.scales.mean(0) * PRIOR
    caution = np.maximum(1, (np.array(far) + prior) / (expected + prior))
    return replace(head, caution=np.where(head.still, 1.0, caution))


def _loss(entities: Entities, still: npt.NDArray[np.bool_], error: Tensor, logs: Tensor) -> Tensor:
    """Laplace likelihood of each part's distance, plain distances, and that between hand and first object."""
    import torch

    def far(of: Tensor) -> Tensor:
        return torch.sqrt((of**2).sum(1) + ROUND)

    total = torch.zeros(())
    for k, (_, at) in enumerate(entities.parts):
        if not still[k]:
            distance, log = far(error[:, at]), logs[:, k].clamp(*LOG_SCALE)
            total = total + (distance * torch.exp(-log) + log + PLAIN * distance).mean()
    if entities.objects:
        names = [part.name for part in entities.parts]
        if not still[[names.index("hand"), names.index("object 1")]].any():
            relation = far(error[:, entities.at("hand")] - error[:, entities.at("object 1")])
            total = total + RELATION * relation.mean()
    return total


def checked(values: FloatArray, count: int | None = None) -> FloatArray:
    """Values [N, E], finite, and of so many frames where that is said: one row for each."""
    if values.ndim != 2 or (count is not None and len(values) != count):
        raise ValueError(f"states have shape {values.shape}; an eye needs one row for each of {count} frames.")
    if count is not None and count < FEWEST:
        raise ValueError(f"there are {count} frames; an eye needs at least {FEWEST} to begin with.")
    bad = np.flatnonzero(~np.isfinite(values).all(1))
    if len(bad):
        raise ValueError(
            f"row {bad[0]} of the states is not finite ({values[bad[0]].tolist()}); leave such frames out."
        )
    return values


class _Draw:
    """Which rows each update learns from: by their weights, and a share of them from the newest half."""

    def __init__(self, rows: npt.NDArray[np.int64], weights: FloatArray, seed: int, recent: float) -> None:
        require("recent", recent, at_least=0)
        if recent > 1:
            raise ValueError(f"recent is {recent!r}; it is a share of each batch, at most 1.")
        self._rows, self._rng = rows, np.random.default_rng([seed, len(rows)])
        self._up_to = np.cumsum(weights / weights.sum())
        self._newest = round(BATCH * recent)
        half = len(rows) // 2
        self._older = float(self._up_to[half - 1]) if half and weights[half:].sum() else 0.0

    def __call__(self) -> npt.NDArray[np.int64]:
        at = self._rng.random(BATCH)
        at[: self._newest] = self._older + at[: self._newest] * (1 - self._older)
        # Sums of shares may end just below 1.
        place = np.searchsorted(self._up_to, at * self._up_to[-1], side="right")
        return np.asarray(self._rows[place.clip(max=len(self._rows) - 1)])


def held_out(count: int, groups: npt.ArrayLike | None = None) -> npt.NDArray[np.bool_]:
    """[count] Frames to measure on: about one in twenty, whole groups (episodes, layouts) where those are given.

    Whether a group is held out depends on its number alone, so it stays so while others are added. Without groups, or
    with one, it is the last frames.

    >>> held_out(40).nonzero()[0].tolist(), held_out(6, [0, 0, 0, 7, 7, 7]).nonzero()[0].tolist()
    ([38, 39], [3, 4, 5])
    """
    chosen = np.zeros(count, bool)
    if groups is not None:
        each = np.asarray(groups)
        if each.shape != (count,) or each.dtype.kind not in "iu":
            raise ValueError(f"groups of shape {each.shape} must be {count} whole numbers, one for each frame.")
        # Multiples of the golden ratio, without whole parts, are spread evenly, however many groups there are.
        chosen = (each.astype(np.uint64) + np.uint64(1)) * np.uint64(2654435761) % np.uint64(2**32) < 2**32 // HELD_OUT
        if not chosen.any() or chosen.mean() > 0.5:
            chosen = each == each[-1]
        if not chosen.all():
            return chosen
    chosen[:] = np.arange(count) >= count - max(1, count // HELD_OUT)
    return chosen


def measure(entities: Entities, predicted: Predicted, values: FloatArray) -> Errors:
    """Errors of a prediction where values [N, E] are true; of each part, and of the hand relative to the first object.

    >>> seen = Predicted(np.array([[3.0, 4.0], [0.0, 0.0]]), np.ones((2, 1)), np.zeros((2, 256), np.float32))
    >>> measure(Entities((0, 1)), seen, np.zeros((2, 2)))
    {'hand': (2.5, 4.5)}
    """
    off = predicted.values - values
    found = {name: off[:, at] for name, at in entities.parts}
    if entities.objects:
        found[BETWEEN] = found["hand"] - found["object 1"]
    each = {name: np.linalg.norm(one, axis=1) for name, one in found.items()}
    return {name: (float(np.median(one)), float(np.quantile(one, 0.9))) for name, one in each.items()}


def relative_error(entities: Entities, predicted: Predicted, values: FloatArray) -> float:
    """Median error of the hand's place relative to the first object's, or the goal's, or its own."""
    off = predicted.values - values
    hand = off[:, entities.at("hand")]
    if entities.objects or entities.goal:
        hand = hand - off[:, entities.at("object 1" if entities.objects else "goal")]
    return float(np.median(np.linalg.norm(hand, axis=1)))
