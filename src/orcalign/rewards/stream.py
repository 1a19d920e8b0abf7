"""Rewards one frame at a time, for a robot that needs them now."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np
import numpy.typing as npt

from orcalign.encoders import Encoder
from orcalign.matching import MATCHERS, TRACKERS
from orcalign.matching.costs import context as in_context
from orcalign.matching.match import FloatArray
from orcalign.rewards.demos import check_shape
from orcalign.rewards.frame_costs import FrameCosts
from orcalign.rewards.object_view import EpisodeView, ObjectView
from orcalign.rewards.settings import RewardSettings
from orcalign.rewards.view_costs import ViewCosts
from orcalign.video import Demo


def check_streams(settings: RewardSettings, demos: int) -> None:
    """Refuse settings whose reward is not known at every step.

    >>> check_streams(RewardSettings(context=3), demos=1)
    Traceback (most recent call last):
    ...
    ValueError: context=3 with direction 'future' looks 2 frames ahead, which a stream cannot; use context=1 ...
    """
    chosen = MATCHERS[settings.matcher]
    causal = ", ".join(name for name, one in MATCHERS.items() if one.causal)
    streams = " and ".join(repr(name) for name in TRACKERS)
    if not chosen.causal:
        raise ValueError(
            f"the matcher {chosen.name!r} is known only at the end of an episode; causal ones are {causal}, "
            f"and of these {streams} have a stream."
        )
    if chosen.name not in TRACKERS:
        raise ValueError(
            f"the matcher {chosen.name!r} is causal, but only {streams} have a stream; use one of these, "
            f"or score the frames so far as an episode."
        )
    if settings.context > 1 and settings.direction == "future":
        raise ValueError(
            f"context={settings.context} with direction 'future' looks {settings.context - 1} frames ahead, "
            f"which a stream cannot; use context=1 or direction='past'."
        )
    if demos > 1 and settings.pool == "best":
        raise ValueError(
            "pool='best' chooses the demo at the end of an episode, which a stream cannot; use pool='max'."
        )


@final
class RewardStream:
    """Push a learner frame, get its reward; made by `VideoReward.stream`.

    Given the same features, every reward is bit for bit the one that the `VideoReward` gives for the whole
    episode. A push that raises changes nothing. With several demos the reward is the highest of them.
    """

    def __init__(
        self,
        like: Demo,
        encoder: Encoder,
        frame_costs: Sequence[FrameCosts | ViewCosts],
        context: int,
        settings: Sequence[Mapping[str, Any]],
        matcher: str = "orca",
    ) -> None:
        self._like = like
        self._encoder = encoder
        self._frame_costs = tuple(frame_costs)
        self._context = context
        self._trackers = [
            TRACKERS[matcher](costs.num_frames, **one)
            for costs, one in zip(frame_costs, settings, strict=True)
        ]
        self._recent: list[deque[FloatArray]] = [deque(maxlen=context) for _ in self._frame_costs]
        # Of the episode: where its things stand is seen in its first frame.
        self._episode: EpisodeView | None = None
        self._first: npt.NDArray[Any] | None = None

    def push(self, frame: npt.NDArray[np.uint8]) -> float:
        """The reward of the next learner frame, uint8 [H,W,3]."""
        picture = np.asarray(frame)
        if picture.ndim != 3:
            raise ValueError(
                f"the frame has shape {picture.shape}; a stream takes one [H,W,3] at a time, "
                f"and a VideoReward whole episodes [T,H,W,3]."
            )
        check_shape(self._like, *picture.shape[:2])
        if not isinstance(self._encoder, ObjectView):
            return self.push_features(self._encoder(picture[None])[0])
        episode = self._encoder.begin(picture) if self._episode is None else self._episode
        reward = self.push_features(episode(picture[None])[0])
        self._episode = episode
        return reward

    def push_features(self, features: npt.ArrayLike) -> float:
        """The reward of the next learner frame from its features [D]."""
        row = np.asarray(features)
        if row.ndim != 1:
            raise ValueError(f"features has shape {row.shape}; a stream takes one frame's [D] at a time.")
        first = row if self._first is None else self._first
        # Of an ObjectView a row's costs depend on the first one's as well; the bits are those of the whole episode.
        company = np.stack([first, row]) if isinstance(self._encoder, ObjectView) else row[None]
        rows = [costs(company)[-1] for costs in self._frame_costs]
        rewards = []
        for recent, cost, tracker in zip(self._recent, rows, self._trackers, strict=True):
            recent.append(cost)
            rewards.append(tracker.push(in_context(np.stack(recent), self._context, "past")[-1]))
        self._first = first
        return max(rewards)

    @property
    def frames_seen(self) -> int:
        """Frames pushed since the beginning of the episode."""
        return self._trackers[0].frames_seen

    @property
    def demo(self) -> int:
        """The demo that has been followed furthest."""
        return int(np.argmax([tracker.progress for tracker in self._trackers]))

    @property
    def progress(self) -> float:
        """How far that demo has been followed in order, from 0 to 1; it never falls."""
        return self._trackers[self.demo].progress

    @property
    def coverage(self) -> FloatArray:
        """[J] ORCA's coverage of that demo's frames after the last push."""
        return self._trackers[self.demo].coverage

    def reset(self) -> None:
        """Begin a new episode."""
        for tracker, recent in zip(self._trackers, self._recent, strict=True):
            tracker.reset()
            recent.clear()
        self._episode = self._first = None
