"""Rewards one frame at a time, for a robot that needs them now."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, final

import numpy as np
import numpy.typing as npt

from orcalign.costs.frames import Eye
from orcalign.matching import TRACKERS
from orcalign.matching.costs import context as in_context
from orcalign.matching.match import FloatArray
from orcalign.rewards.base import Array, Frames
from orcalign.rewards.demos import check_shape
from orcalign.rewards.settings import RewardSettings

if TYPE_CHECKING:
    from orcalign.rewards.composed import Composed
    from orcalign.rewards.description import SharedModel


@final
class VideoStream:
    """Push a learner frame, get its reward; made by `VideoReward.stream`.

    Given the same features, every reward is bit for bit the one that the `VideoReward` gives for the whole
    episode. A push that raises changes nothing. With several demos the reward is the highest of them.
    """

    def __init__(
        self,
        model: SharedModel,
        settings: RewardSettings,
        matcher_settings: Sequence[Mapping[str, Any]],
        scaled: Callable[[int, npt.ArrayLike], npt.ArrayLike] = lambda demo, cost: cost,
    ) -> None:
        self._scaled = scaled
        self._model, self._context, self._guides = model, settings.context, settings.guide
        demos, tracker = model.kit.demos, TRACKERS[settings.matcher]
        self._trackers = [tracker(len(demo), **one) for demo, one in zip(demos, matcher_settings, strict=True)]
        self._recent: list[deque[FloatArray]] = [deque(maxlen=settings.context) for _ in demos]
        # Of the episode: what sees its frames, and how its first one looks.
        self._eye: Eye | None = None
        self._first: npt.NDArray[Any] | None = None

    def push(self, frame: Frames | None = None, state: Array | None = None, action: Array | None = None) -> float:
        """The reward of the next learner frame, uint8 [H,W,3]."""
        picture = np.asarray(frame)
        if picture.ndim != 3:
            raise ValueError(
                f"the frame has shape {picture.shape}; a stream takes one [H,W,3] at a time, "
                f"and a VideoReward whole episodes [T,H,W,3]."
            )
        check_shape(self._model.kit.demos[0], *picture.shape[:2])
        eye = self._model.get().begin(picture) if self._eye is None else self._eye
        reward = self.push_features(eye(picture[None])[0])
        self._eye = eye
        return reward

    def push_features(self, features: npt.ArrayLike) -> float:
        """The reward of the next learner frame from its features [D]."""
        row = np.asarray(features)
        if row.ndim != 1:
            raise ValueError(f"features has shape {row.shape}; a stream takes one frame's [D] at a time.")
        first = row if self._first is None else self._first
        rewards = []
        costs = self._model.get().compare(row[None], first)
        for k, (recent, cost, tracker) in enumerate(zip(self._recent, costs, self._trackers, strict=True)):
            recent.append(np.asarray(self._scaled(k, cost[0])))
            rewards.append(tracker.push(in_context(np.stack(recent), self._context, "past")[-1]))
        self._first = first
        return max(rewards)

    @property
    def demo(self) -> int:
        """The demo that has been followed furthest."""
        return int(np.argmax([tracker.progress for tracker in self._trackers]))

    @property
    def progress(self) -> float:
        """How far that demo has been followed in order, from 0 to 1; it never falls."""
        return self._trackers[self.demo].progress

    @property
    def followed(self) -> dict[str, float]:
        """The progress, by its name."""
        return {"progress": self.progress}

    @property
    def guide(self) -> npt.NDArray[np.float32]:
        """[1] The progress, if the policy is to see it; else [0]."""
        return np.array([self.progress] if self._guides else [], np.float32)

    @property
    def coverage(self) -> FloatArray:
        """[J] ORCA's coverage of that demo's frames after the last push."""
        return self._trackers[self.demo].coverage

    def reset(self, state: Array | None = None) -> None:
        """Begin a new episode."""
        for tracker, recent in zip(self._trackers, self._recent, strict=True):
            tracker.reset()
            recent.clear()
        self._eye = self._first = None


@final
class ComposedStream:
    """One step at a time, by the streams of the parts."""

    def __init__(self, reward: Composed) -> None:
        self._reward = reward
        # A part that pays nothing now may still guide.
        self._streams = [
            part.stream() if reward.pays(k) or reward.guides(k) else None for k, part in enumerate(reward.parts)
        ]

    @property
    def guide(self) -> npt.NDArray[np.float32]:
        """[K], part after part."""
        there = [one.guide for k, one in enumerate(self._streams) if one is not None and self._reward.guides(k)]
        return np.concatenate([np.zeros(0, np.float32), *there])

    @property
    def followed(self) -> dict[str, float]:
        """As the parts say, the first of them first."""
        there = [one.followed for one in self._streams if one is not None]
        return {name: value for one in reversed(there) for name, value in one.items()}

    def push(self, frame: Frames | None = None, state: Array | None = None, action: Array | None = None) -> float:
        """The reward of a step. Where a part raises, those before it have gone on: reset then."""
        paid = [None if one is None else np.float64(one.push(frame, state, action)) for one in self._streams]
        return float(self._reward.combine(paid))  # type: ignore[arg-type]

    def reset(self, state: Array | None = None) -> None:
        """Begin a new episode."""
        for one in self._streams:
            if one is not None:
                one.reset(state)
