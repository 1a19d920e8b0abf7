"""The eye of a run: read from its folder, or learning from the learner's own frames."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from orcalign.checks import require
from orcalign.costs.predicted import DescribedDemo
from orcalign.costs.predicted.doubts import unseen
from orcalign.costs.predicted.eye import Eye
from orcalign.costs.predicted.fitting import held_out, relative_error
from orcalign.costs.predicted.relative import STILL
from orcalign.costs.predicted.trust import believe, with_goal, with_trust
from orcalign.matching.match import FloatArray
from orcalign.rewards.base import Array, Evidence, Moment, Need, Rollout, State

if TYPE_CHECKING:
    from orcalign.rewards.description import Kit

EYE = "eye.safetensors"
"""In the folder of a run."""
WORSE = 1.2
"""A refit that is off by this much more on frames kept aside is not taken."""
MOVED = 0.3
"""Share of what it learns from in which an object has been moved, if there is less of that."""


def read_demo(kit: Kit) -> DescribedDemo:
    """The run's demo, described by the eye in its folder."""
    eye = Eye.load(kit.folder / EYE)
    return eye.describe(eye.look(kit.demos[0].frames))


@final
@dataclass(frozen=True)
class OwnSettings:
    """When an eye learns from the learner's own frames, and how long.

    >>> OwnSettings(frames=0)
    Traceback (most recent call last):
    ...
    ValueError: frames is 0; it must be at least 1.
    """

    frames: int = 12
    """Frames of each episode that it sees."""
    begin: int = 6000
    """Agent steps after which it learns for the first time; until then actions are random."""
    updates: int = 2400
    """When it learns for the first time."""
    every: int = 2000
    """Agent steps from one refit to the next."""
    refit: int = 400
    """Updates of a refit."""
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("frames", "begin", "updates", "every", "refit"):
            require(name, getattr(self, name), at_least=1)
        require("seed", self.seed, at_least=0)

    def plain(self) -> dict[str, Any]:
        """For a description."""
        return dataclasses.asdict(self)

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> OwnSettings:
        """What `plain` gave."""
        return cls(**values)


@final
class OwnFrames:
    """Learns to tell states from the frames that the learner has seen, and describes the demo anew each time.

    Args:
        kit: has the folder with the eye as it begins, and the demo.
        settings: when and how long it learns.
    """

    def __init__(self, kit: Kit, settings: OwnSettings) -> None:
        self._kit, self.settings = kit, settings
        self.need = Need(states=True, of=settings.frames)
        self._next = settings.begin
        self._first = 0
        """Number of the oldest episode of which guesses are kept."""
        self._guesses: FloatArray = np.zeros((0, 0))
        """[N, E] What the eye said of own frames before it had learned from them; nan where it said nothing."""
        self._counts = np.zeros(0, np.int64)
        """[episodes] How many of them belong to each."""

    @cached_property
    def eye(self) -> Eye:
        """As it begins, until it has learned."""
        eye = Eye.load(self._kit.folder / EYE)
        eye.threads = 1
        return eye

    @cached_property
    def _demo(self) -> Any:
        return self.eye.look(self._kit.demos[0].frames)

    def observe(self, rollout: Rollout) -> dict[str, Array]:
        """What the eye sees at K moments [K, places, channels], and after which steps [K] that was."""
        if rollout.frames is None:
            raise ValueError("an episode came without frames; an eye that learns from them needs some.")
        at = np.arange(rollout.length) if rollout.at is None else rollout.at
        if len(at) > self.settings.frames:
            some = np.linspace(0, len(at) - 1, self.settings.frames).round().astype(np.int64)
            return {"seen": self.eye.look(rollout.frames[some]), "at": at[some]}
        return {"seen": self.eye.look(rollout.frames), "at": at}

    def learn(self, kept: Sequence[Evidence], moment: Moment) -> tuple[DescribedDemo, list[str]] | None:
        """Learn from what is kept, the newest last, if the moment has come; the demo as it is described then."""
        if moment.step < self._next:
            return None
        self._next = moment.step - moment.step % self.settings.every + self.settings.every
        own = _Own(self.eye, kept, moment.episodes - len(kept))
        guesses = self._ask(own)
        told = self._fit(own)
        aside = held_out(len(own.seen), own.groups)
        # It never learns from those: what it says of them now is as good as said before.
        guesses[aside] = self.eye.predict(own.seen[aside]).values
        described = self.eye.describe(self._demo)
        looks, own_looks = (self.eye.predict(one).hidden.astype(np.float64) for one in (self._demo, own.seen))
        believed = believe(described, looks, own_looks, own.values, own.starts, guesses)
        return with_goal(with_trust(described, believed)), told

    def _ask(self, own: _Own) -> FloatArray:
        """[N, E] What the eye said of each frame before it had learned from it; nan where it said nothing."""
        gone = max(0, own.first - self._first)
        known = self._guesses[int(self._counts[:gone].sum()) :]
        new = own.seen[len(known) :]
        silent = self.eye.head is None or not len(new)
        said = np.full((len(new), self.eye.entities.dim), np.nan) if silent else self.eye.predict(new).values
        self._first, self._counts = own.first, own.counts
        self._guesses = np.concatenate([known.reshape(-1, self.eye.entities.dim), said])
        return self._guesses.copy()

    def _fit(self, own: _Own) -> list[str]:
        """Learn; what changed, in words. A refit that makes it worse on frames kept aside is not taken."""
        eye, settings = self.eye, self.settings
        if eye.head is None:
            eye.fit(
                own.seen, own.values, updates=settings.updates, seed=settings.seed, groups=own.groups,
                weights=own.weights,
            )  # fmt: skip
            doubt = unseen(eye)
            return [f"the eye has learned from {len(own.seen)} own frames", *([doubt] if doubt else [])]
        aside = held_out(len(own.seen), own.groups)
        before = relative_error(eye.entities, eye.predict(own.seen[aside]), own.values[aside])
        other = copy.copy(eye)
        other.about = dict(eye.about)
        other.fit(
            own.seen, own.values, updates=settings.refit, seed=settings.seed + eye.about["updates"],
            groups=own.groups, weights=own.weights, recent=0.5,
        )  # fmt: skip
        if other.error > WORSE * before:
            off = f"{other.error:.1f} cm off on frames kept aside, not {before:.1f}"
            return [f"a refit of the eye is not taken: it would be {off}"]
        self.__dict__["eye"] = other
        return [f"the eye has learned again, from {len(own.seen)} own frames"]

    def state(self) -> State:
        """The eye, and what it has said of own frames before it knew them."""
        eye, arrays = self.eye.state()
        told = {"guesses": self._guesses, "counts": self._counts}
        learned = {f"eye/{name}": array for name, array in arrays.items()}
        return {"next": self._next, "first": self._first, "eye": eye}, {**learned, **told}

    def load_state(self, state: State) -> None:
        """Go on where `state` was taken."""
        plain, arrays = state
        self._next, self._first = plain["next"], plain["first"]
        self._guesses, self._counts = np.array(arrays["guesses"]), np.array(arrays["counts"])
        eye = Eye.from_state(plain["eye"], dict(Evidence(0, arrays).under("eye/").arrays))
        # A collector does this before every episode, and its network takes a second to be compiled.
        self.__dict__["eye"] = eye.with_encoder_of(self.eye)


class _Own:
    """What the learner has seen itself, of the episodes that are kept: N frames, oldest first."""

    def __init__(self, eye: Eye, kept: Sequence[Evidence], first: int) -> None:
        entities = eye.entities
        self.first = first
        """Number of the oldest episode."""
        self.counts = np.array([len(one["at"]) for one in kept], np.int64)
        """[episodes]"""
        self.seen = np.concatenate([one["seen"] for one in kept])
        """[N, places, channels]"""
        self.values: FloatArray = np.concatenate([entities.read(one["states"][one["at"] + 1]) for one in kept])
        """[N, E]"""
        self.starts: FloatArray = np.repeat(
            np.stack([entities.read(one["states"][0]) for one in kept]), self.counts, axis=0
        )
        """[N, E] At the beginning of their episodes."""
        self.groups = np.repeat(np.arange(first, first + len(kept)), self.counts)
        """[N]"""
        places = [entities.at(f"object {k + 1}") for k in range(len(entities.objects))]
        ways = [np.linalg.norm((self.values - self.starts)[:, at], axis=1) for at in places]
        moved = np.max([np.zeros(len(self.seen)), *ways], axis=0) > STILL
        share = float(moved.mean())
        self.weights = np.where(moved & (share < MOVED), MOVED / max(share, 0.01), 1.0)
        """[N] Frames in which an object has been moved are drawn more often, as they are rare at first."""
