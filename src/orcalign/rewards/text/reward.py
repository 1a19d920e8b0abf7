"""The reward of the recipe `liv`, with any model that sees pictures and reads sentences."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np
import numpy.typing as npt

from orcalign.checks import settings_from
from orcalign.costs.goals import SAME, GoalModel
from orcalign.matching.match import FloatArray
from orcalign.rewards.base import Array, Evidence, Frames, Reward, Rollout
from orcalign.rewards.description import Kit, make_goal_model
from orcalign.rewards.text.settings import TextSettings
from orcalign.video import Demo

if TYPE_CHECKING:
    from orcalign.encoders import Encoder


@final
class TextReward(Reward):
    """Pays every step by how much its frame is like a sentence, or a picture.

    That is the cosine of their embeddings; or, with a start sentence, how far along the way from it to the goal the
    frame lies: its embedding u, projected onto the line from the start's s to the goal's g, all of unit length,

        (u - s) · (g - s) / |g - s|²        0 at the start sentence, 1 at the goal.

    What all pictures of a scene share, and no sentence is about, drops out of it.

    Args:
        demos: one goal, as `orcalign.goals` makes it.
        settings: the start sentence.
        encoder: what sees and what reads; or how to make both.

    >>> from orcalign.video import goals
    >>> class Eyes:  # stands for a model: it sees mean colours, and knows red and green by name
    ...     name, dim, spatial = "colours", 3, False
    ...     def __call__(self, frames, progress=None):
    ...         return frames.mean(axis=(1, 2)).astype("f4")
    >>> def read(sentences):
    ...     return np.array([[1, 0, 0] if "red" in one else [0, 1, 0] for one in sentences], np.float32)
    >>> frames = np.zeros((2, 8, 8, 3), np.uint8)
    >>> frames[0, ..., 1], frames[1, ..., 0] = 9, 9
    >>> for start in ("", "all is green"):
    ...     reward = TextReward([goals("all is red")], TextSettings(start), (Eyes(), read))
    ...     reward.pay([Evidence(2, reward.observe(Rollout(2, frames)))])[0].tolist()
    [0.0, 1.0]
    [0.0, 1.0]
    """

    criterion = "similarity"

    def __init__(
        self,
        demos: Sequence[Demo],
        settings: TextSettings | None = None,
        encoder: tuple[Encoder, Any] | dict[str, Any] | None = None,
    ) -> None:
        self.demos, self.settings = tuple(demos), settings or TextSettings()
        self._given = {"encoder": "liv"} if encoder is None else encoder
        told = [demo.sentences for demo in self.demos]
        if len(told) != 1 or told[0] is None or len(told[0]) != 1:
            raise ValueError(
                "a reward of one sentence was given something else; give one goal, or use the recipe words for several."
            )

    @classmethod
    def from_description(cls, description: dict[str, Any], kit: Kit) -> TextReward:
        """As described; nothing is read or encoded before it is needed."""
        return cls(kit.demos, settings_from(TextSettings, description["settings"]), description["encoder"])

    def describe(self) -> dict[str, Any]:
        """The start sentence, and what sees and reads."""
        if not isinstance(self._given, dict):
            raise ValueError("a reward with a model of its own cannot be described; give how to make it.")
        return {"kind": "text", "settings": self.settings.plain(), "encoder": self._given}

    @property
    def name(self) -> str:
        """As its kind."""
        return "text"

    @cached_property
    def model(self) -> GoalModel:
        """Distances to the goal and, if there is one, to the start sentence, which comes after it."""
        demo, start = self.demos[0], self.settings.start
        assert demo.sentences is not None
        if start:
            nothing = np.zeros_like(demo.frames[:1])
            frames = np.concatenate([demo.frames, nothing])
            demo = Demo(frames, demo.fps, demo.source, sentences=(*demo.sentences, start))
        if isinstance(self._given, dict):
            made = make_goal_model((demo,), self._given)
        else:
            made = GoalModel(*self._given, [demo])
        if start and made.between(0)[0, 1] < SAME:
            raise ValueError(f"start is {start!r}, which is the goal itself; say how things are before.")
        return made

    def similarities(self, features: npt.ArrayLike) -> FloatArray:
        """[T] of features [T, D]; each row by itself."""
        (far,) = self.model.compare(features)
        if far.shape[1] == 1:
            alike: FloatArray = 1.0 - far[:, 0]
            return alike
        # The products of unit vectors, as distances: u · v = 1 - d.
        whole = float(self.model.between(0)[0, 1])
        along: FloatArray = (far[:, 1] - far[:, 0] + whole) / (2 * whole)
        return along

    def observe(self, rollout: Rollout) -> dict[str, Array]:
        """How much each frame is like the goal, [T]."""
        if rollout.frames is None:
            raise ValueError("an episode came without frames; a reward of a sentence needs them all.")
        return {"similarity": self.similarities(self.model.encoder(rollout.frames))}

    def pay(self, episodes: Sequence[Evidence]) -> list[FloatArray]:
        """[T] of each episode."""
        return [np.array(one["similarity"], np.float64) for one in episodes]

    def follow(self, evidence: Evidence) -> dict[str, float]:
        """Its mean over the episode."""
        return {"similarity": float(evidence["similarity"].mean())}

    def stream(self) -> TextStream:
        """One frame at a time."""
        return TextStream(self)


@final
class TextStream:
    """Push a frame, get its reward."""

    def __init__(self, reward: TextReward) -> None:
        self._reward = reward
        self._seen: list[float] = []

    @property
    def guide(self) -> npt.NDArray[np.float32]:
        """[0]"""
        return np.zeros(0, np.float32)

    @property
    def followed(self) -> dict[str, float]:
        """The mean so far."""
        return {"similarity": float(np.mean(self._seen)) if self._seen else 0.0}

    def push(self, frame: Frames | None = None, state: Array | None = None, action: Array | None = None) -> float:
        """The reward of the step that led to this frame [H,W,3]."""
        if frame is None:
            raise ValueError("a step came without a frame; a reward of a sentence needs one.")
        paid = float(self._reward.similarities(self._reward.model.encoder(np.asarray(frame)[None]))[0])
        self._seen.append(paid)
        return paid

    def reset(self, state: Array | None = None) -> None:
        """Begin a new episode."""
        self._seen.clear()
