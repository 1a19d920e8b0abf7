"""Where the learner's things are: as its states have it, or as an eye reads it in the learner's own pictures."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, final

import numpy as np

from orcalign.costs.predicted.entities import Entities
from orcalign.costs.predicted.turning import Turning
from orcalign.matching.match import FloatArray
from orcalign.rewards.base import Array, Evidence, Frames, Need, Rollout

if TYPE_CHECKING:
    from orcalign.costs.predicted.eye import Eye

LEARNERS = ("states", "pictures")
REMEMBERED = 512
"""Frames that are not read again: those of an episode are, by who acts and by who observes."""


class Learner(Protocol):
    """Values [E] of the entities, step by step, and the same of a whole episode."""

    kind: str
    """One of `LEARNERS`."""
    need: Need

    def observe(self, rollout: Rollout) -> dict[str, Array]:
        """What is kept of an episode."""

    def values(self, evidence: Evidence) -> FloatArray:
        """[T+1, E] Row 0 before the first step."""

    def known(self, evidence: Evidence) -> FloatArray:
        """[E] What of row 0 is known before the first step."""

    def begin(self, state: Array | None) -> FloatArray:
        """[E] The same, of an episode that begins."""

    def read(self, frame: Frames | None, state: Array | None) -> FloatArray:
        """[E] After a step."""

    def first(self, begun: FloatArray, then: FloatArray) -> FloatArray:
        """[E] Row 0, when that after the first step is known."""


@final
class ByStates:
    """The true values, from the learner's states; of a turned world where there is one."""

    kind = "states"
    need = Need(frames=0, states=True)

    def __init__(self, entities: Entities, turning: Turning | None = None) -> None:
        self._entities, self._turning = entities, turning
        self._begun: FloatArray = np.zeros(entities.dim)

    def observe(self, rollout: Rollout) -> dict[str, Array]:
        """States [T+1, D]."""
        if rollout.states is None:
            raise ValueError("an episode came without states; a reward that follows in state space needs them.")
        return {"states": rollout.states}

    def values(self, evidence: Evidence) -> FloatArray:
        """[T+1, E]"""
        values = self._entities.read(evidence["states"])
        return self._turned(values, values[0])

    def known(self, evidence: Evidence) -> FloatArray:
        """[E] All of it."""
        first = self._entities.read(evidence["states"][0])
        return self._turned(first, first)

    def _turned(self, values: FloatArray, first: FloatArray) -> FloatArray:
        return values if self._turning is None else self._turning.values(values, first)

    def begin(self, state: Array | None) -> FloatArray:
        """[E]"""
        if state is None:
            raise ValueError("the reward follows in state space; give the first state of the episode: reset(state).")
        self._begun = self._entities.read(state)
        return self._turned(self._begun, self._begun)

    def read(self, frame: Frames | None, state: Array | None) -> FloatArray:
        """[E]"""
        if state is None:
            raise ValueError("the reward follows in state space; begin with reset(state), and give every state.")
        return self._turned(self._entities.read(state), self._begun)

    def first(self, begun: FloatArray, then: FloatArray) -> FloatArray:
        """[E] As it was."""
        return begun


@final
class ByPictures:
    """What an eye reads in the learner's pictures; of its states nothing is asked.

    There is no picture before the first step, as there is none in a demo: the hand is then where episodes begin, and
    the rest where it is seen first.

    Args:
        entities: what the eye reads.
        rest: [E] values at which an episode usually begins.
        eye: makes the eye when it is first needed: who only pays needs none.
    """

    kind = "pictures"
    need = Need()

    def __init__(self, entities: Entities, rest: FloatArray, eye: Callable[[], Eye]) -> None:
        self._rest, self._make = rest, eye
        self._hand = np.zeros(entities.dim, bool)
        for name, at in entities.parts:
            self._hand[at] = name in ("hand", "gripper")
        self._eye: Eye | None = None
        self._read: dict[bytes, FloatArray] = {}

    def observe(self, rollout: Rollout) -> dict[str, Array]:
        """[T, E] As read after each step."""
        if rollout.frames is None or len(rollout.frames) != rollout.length:
            raise ValueError("an episode came without its pictures; a reward that reads them needs one of every step.")
        return {"values": np.stack([self.read(frame, None) for frame in rollout.frames])}

    def values(self, evidence: Evidence) -> FloatArray:
        """[T+1, E]"""
        read: FloatArray = evidence["values"]
        return np.concatenate([self.first(self._rest, read[0])[None], read])

    def known(self, evidence: Evidence) -> FloatArray:
        """[E] Nothing but where episodes begin."""
        return self._rest

    def begin(self, state: Array | None) -> FloatArray:
        """[E]"""
        return self._rest

    def read(self, frame: Frames | None, state: Array | None) -> FloatArray:
        """[E] Each frame alone, so that the numbers are the same while acting and afterwards."""
        if frame is None:
            raise ValueError(
                "the learner's places are read from its pictures; give the frame [H,W,3] of every observation but the "
                "first."
            )
        seen = np.ascontiguousarray(frame)
        digest = hashlib.blake2b(seen.tobytes() + repr(seen.shape).encode(), digest_size=16).digest()
        if digest not in self._read:
            if self._eye is None:
                self._eye = self._make()
                self._eye.threads = 1
            values = self._eye.predict(self._eye.look(seen[None])).values[0]
            if len(self._read) >= REMEMBERED:
                self._read.pop(next(iter(self._read)))
            self._read[digest] = values
        return self._read[digest]

    def first(self, begun: FloatArray, then: FloatArray) -> FloatArray:
        """[E] The hand and its gripper where episodes begin, all else as it is seen then."""
        return np.where(self._hand, begun, then)
