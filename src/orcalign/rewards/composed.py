"""Rewards made of rewards: `confidence * reward + 0.5 * stability`, and one reward after another with a scale."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any, final

import numpy as np
import numpy.typing as npt

from orcalign.matching.match import FloatArray
from orcalign.rewards.base import Array, Evidence, Kind, Moment, Need, Reward, Rollout, State, Stream
from orcalign.rewards.stream import ComposedStream

if TYPE_CHECKING:
    from orcalign.rewards.description import Kit
    from orcalign.rewards.explanation import Explanation
    from orcalign.video import Demo

TARGET = 10.0
"""What a scaled episode sums to."""


class Composed(Reward):
    """What composed rewards share: each part sees its own evidence, learns, and has its own state.

    Parts with one observer are observed once. The demo is followed as the first part says, then as the others do.
    """

    def __init__(self, parts: Sequence[Reward]) -> None:
        if not parts:
            raise ValueError("there are no rewards to put together; give at least one.")
        self.parts = tuple(parts)
        observers = list(dict.fromkeys(part.observer for part in self.parts))
        self._observer = [observers.index(part.observer) for part in self.parts]
        self._several = len(observers) > 1
        self.need = reduce(Need.__or__, (part.need for part in self.parts))
        self.guide_dim = sum(part.guide_dim for k, part in enumerate(self.parts) if self.guides(k))
        self.turning = next((part.turning for part in self.parts if part.turning is not None), None)
        self.criterion, self.remedy = self.parts[0].criterion, self.parts[0].remedy

    @property
    def name(self) -> str:
        """The first part's."""
        return self.parts[0].name

    @property
    def observer(self) -> Hashable:
        """That of the parts if all share one."""
        # Two sums of the same observers see the same: stages that differ in the matcher alone look once.
        several = tuple(dict.fromkeys(part.observer for part in self.parts))
        return several if self._several else several[0]

    @property
    def demos(self) -> tuple[Demo, ...]:  # type: ignore[override]
        """Of all parts."""
        found = {id(demo): demo for part in self.parts for demo in part.demos}
        return tuple(found.values())

    @property
    def ready(self) -> bool:
        """Once all parts are."""
        return all(part.ready for part in self.parts)

    @property
    def notes(self) -> tuple[str, ...]:
        """Of all parts."""
        return tuple(dict.fromkeys(note for part in self.parts for note in part.notes))

    @abstractmethod
    def combine(self, paid: Sequence[FloatArray | None]) -> FloatArray:
        """Rewards [...] from those of the parts; None for one that `pays` says is not asked."""

    def pays(self, part: int) -> bool:
        """Whether a part is asked at all."""
        return True

    def guides(self, part: int) -> bool:
        """Whether a part lets the policy see something."""
        return self.parts[part].guide_dim > 0

    def observe(self, rollout: Rollout) -> dict[str, Array]:
        """Of each observer, with its number before the names if there are several."""
        if not self._several:
            return self.parts[0].observe(rollout)
        seen: dict[str, Array] = {}
        for number in range(max(self._observer) + 1):
            part = self.parts[self._observer.index(number)]
            seen |= {f"{number}.{name}": array for name, array in part.observe(rollout).items()}
        return seen

    def pay(self, episodes: Sequence[Evidence]) -> list[FloatArray]:
        """[T] of each episode."""
        paid = [part.pay(self._of(k, episodes)) if self.pays(k) else None for k, part in enumerate(self.parts)]
        return [self.combine([None if part is None else part[b] for part in paid]) for b in range(len(episodes))]

    def follow(self, evidence: Evidence) -> dict[str, float]:
        """As the parts say, the first of them first."""
        said = [part.follow(self._of(k, [evidence])[0]) for k, part in enumerate(self.parts)]
        return {name: value for one in reversed(said) for name, value in one.items()}

    def numbers(self) -> dict[str, float]:
        """Of all parts, the first of them first."""
        return {name: value for part in reversed(self.parts) for name, value in part.numbers().items()}

    def learn(self, kept: Sequence[Evidence], moment: Moment) -> list[str] | None:
        """Each part on its own."""
        told = [part.learn(self._of(k, kept), moment) for k, part in enumerate(self.parts)]
        changed = [notes for notes in told if notes is not None]
        return [note for notes in changed for note in notes] if changed else None

    def guide(self, episodes: Sequence[Evidence]) -> list[npt.NDArray[np.float32]]:
        """[T+1, K], part after part."""
        parts = [part.guide(self._of(k, episodes)) for k, part in enumerate(self.parts) if self.guides(k)]
        return [
            np.concatenate([np.zeros((one.length + 1, 0), np.float32), *(part[b] for part in parts)], axis=1)
            for b, one in enumerate(episodes)
        ]

    def stream(self) -> Stream:
        """Of parts that all have one."""
        return ComposedStream(self)

    def explain(self, evidence: Evidence) -> Explanation | None:
        """As the first part that can; its rewards are that part's alone."""
        for k, part in enumerate(self.parts):
            told = part.explain(self._of(k, [evidence])[0]) if self.pays(k) else None
            if told is not None:
                return told
        return None

    def find(self, kind: type[Kind]) -> Kind | None:
        """Of stages the last is what an agent is trained with in the end."""
        found = (part.find(kind) for part in reversed(self.parts))
        return super().find(kind) or next((one for one in found if one is not None), None)

    def state(self) -> State:
        """Of all parts."""
        states = [part.state() for part in self.parts]
        arrays = {f"{k}/{name}": array for k, (_, own) in enumerate(states) for name, array in own.items()}
        return {"parts": [plain for plain, _ in states]}, arrays

    def load_state(self, state: State) -> None:
        """Go on where `state` was taken."""
        plain, arrays = state
        for k, (part, own) in enumerate(zip(self.parts, plain["parts"], strict=True)):
            prefix = f"{k}/"
            mine = {name.removeprefix(prefix): a for name, a in arrays.items() if name.startswith(prefix)}
            part.load_state((own, mine))

    def settings(self) -> dict[str, Any]:
        """What it is made with beside its parts, in plain values."""
        return {}

    def describe(self) -> dict[str, Any]:
        """Settings and parts."""
        parts = [part.describe() for part in self.parts]
        return {"kind": type(self).__name__.lower(), **self.settings(), "parts": parts}

    @classmethod
    def from_description(cls, description: dict[str, Any], kit: Kit) -> Composed:
        """As described."""
        settings = {name: value for name, value in description.items() if name not in ("kind", "parts")}
        return cls([kit.make(part) for part in description["parts"]], **settings)

    def _of(self, part: int, episodes: Sequence[Evidence]) -> Sequence[Evidence]:
        """The evidence of a part."""
        if not self._several:
            return episodes
        return [one.under(f"{self._observer[part]}.") for one in episodes]


@final
class Sum(Composed):
    """sum_k weight_k * reward_k[t]; made by `a + 0.5 * b`."""

    def __init__(self, parts: Sequence[Reward], weights: Sequence[float]) -> None:
        super().__init__(parts)
        self.weights = tuple(float(weight) for weight in weights)
        if len(self.weights) != len(self.parts) or not np.isfinite(self.weights).all():
            raise ValueError(
                f"the weights are {list(weights)}; there must be one finite number for each of {len(parts)} rewards."
            )

    def combine(self, paid: Sequence[FloatArray | None]) -> FloatArray:
        """Weighted."""
        total: FloatArray = sum(w * one for w, one in zip(self.weights, paid, strict=True) if one is not None)  # type: ignore[assignment]
        return total

    def settings(self) -> dict[str, Any]:
        """The weights."""
        return {"weights": list(self.weights)}


@final
class Product(Composed):
    """reward_1[t] * reward_2[t] * …, as a confidence scales a reward; made by `a * b`."""

    def combine(self, paid: Sequence[FloatArray | None]) -> FloatArray:
        """Multiplied."""
        product: FloatArray = reduce(np.multiply, [one for one in paid if one is not None])
        return product


@final
class Staged(Composed):
    """The reward of a run: one after another, each multiplied by a scale of its own.

    Args:
        parts: the rewards of the stages, in order.
        starts: agent step at which each begins; the first is 0.
        steps: agent steps of the run.
        scale: a number, or None: the first episode of a stage that has any reward sums to 10, as in the paper.
    """

    def __init__(
        self, parts: Sequence[Reward], starts: Sequence[int] = (0,), steps: int = 1, scale: float | None = 1.0
    ) -> None:
        super().__init__(parts)
        self.starts, self.steps, self._fixed = tuple(starts), steps, scale
        self.stage = 0
        """Number of the stage of now."""
        self.scale = scale
        """None until an episode has given one."""
        # How the demo is followed is measured by what the run is for.
        self.criterion = self.parts[-1].criterion

    @property
    def name(self) -> str:
        """Of the stage of now."""
        return self.parts[self.stage].name

    def pays(self, part: int) -> bool:
        """The stage of now alone."""
        return part == self.stage

    def guides(self, part: int) -> bool:
        """The last stage, all along: a policy's input does not change its meaning."""
        return part == len(self.parts) - 1 and super().guides(part)

    def combine(self, paid: Sequence[FloatArray | None]) -> FloatArray:
        """The stage's, scaled."""
        now = paid[self.stage]
        assert now is not None
        scaled: FloatArray = (1.0 if self.scale is None else self.scale) * now
        return scaled

    def follow(self, evidence: Evidence) -> dict[str, float]:
        """As the last stage says."""
        return self.parts[-1].follow(self._of(len(self.parts) - 1, [evidence])[0])

    def summary(self, evidence: Evidence) -> dict[str, float]:
        """Of the rewards before they are scaled, so that numbers before and after a change of scale compare."""
        paid = self.parts[self.stage].pay(self._of(self.stage, [evidence]))[0]
        return {"reward": float(paid.sum()), **self.follow(evidence)}

    def numbers(self) -> dict[str, float]:
        """Scale, and those of the stage of now."""
        return {**self.parts[self.stage].numbers(), "scale": 1.0 if self.scale is None else self.scale}

    def learn(self, kept: Sequence[Evidence], moment: Moment) -> list[str] | None:
        """Go to the stage of the moment, let the parts learn, and take the scale from the newest episode if none has
        given it yet."""
        notes: list[str] = []
        changed = False
        stage = max(k for k, start in enumerate(self.starts) if start <= moment.step)
        if stage != self.stage:
            self.stage, self.scale, changed = stage, self._fixed, True
            notes.append(f"the reward is now {self.name}")
        for k, part in enumerate(self.parts):
            first, last = self.starts[k], (*self.starts[1:], self.steps)[k]
            share = min(1.0, max(0.0, (moment.step - first) / max(1, last - first)))
            told = part.learn(self._of(k, kept), replace(moment, share=share))
            changed |= told is not None
            notes += told or []
        if self.scale is None and kept:
            total = abs(float(self.parts[self.stage].pay(self._of(self.stage, kept[-1:]))[0].sum()))
            if total > 0:
                self.scale, changed = TARGET / total, True
                notes.append(f"rewards are multiplied by {self.scale:.4g}")
        return notes if changed else None

    def explain(self, evidence: Evidence) -> Explanation | None:
        """The match of the stage of now, with the rewards that are paid for it."""
        told = super().explain(evidence)
        if told is None:
            return None
        return told._replace(match=replace(told.match, reward=self.pay([evidence])[0]))

    def state(self) -> State:
        """Stage and scale, and of all parts."""
        plain, arrays = super().state()
        return {"stage": self.stage, "scale": self.scale, **plain}, arrays

    def load_state(self, state: State) -> None:
        """Go on where `state` was taken."""
        super().load_state(state)
        self.stage, self.scale = int(state[0]["stage"]), state[0]["scale"]

    def settings(self) -> dict[str, Any]:
        """Stages and scale."""
        return {"starts": list(self.starts), "steps": self.steps, "scale": self._fixed}
