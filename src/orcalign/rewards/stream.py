"""Rewards one frame at a time, for a robot that needs them now."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, final

import numpy as np
import numpy.typing as npt

from orcalign.costs.frames import Eye, see_each
from orcalign.encoders.protocol import check_frames
from orcalign.matching import TRACKERS
from orcalign.matching.costs import context as in_context
from orcalign.matching.match import FloatArray
from orcalign.rewards.base import Array, Frames, Stream
from orcalign.rewards.demos import check_shape
from orcalign.rewards.settings import RewardSettings

if TYPE_CHECKING:
    from orcalign.rewards.composed import Composed
    from orcalign.rewards.description import SharedModel


STAYS = 0.25
"""What a jump over the whole demo counts, as a share of how much the distances of a frame differ; back, twice that."""
Steps = Sequence[Any]
"""Of each of several streams what belongs to its next step: a frame, a state, an action, or None."""


def push_each(
    streams: Sequence[Stream], frames: Steps, states: Steps | None = None, actions: Steps | None = None
) -> list[float]:
    """The rewards of the next step of each of several streams, the same bits as pushed one by one.

    Those of one reward see their frames together, with one call of the encoder. If one is refused, nothing of its kin
    has changed.

    >>> from orcalign.rewards import VideoReward
    >>> film = np.random.default_rng(0).integers(0, 255, (5, 8, 8, 3), np.uint8)
    >>> reward = VideoReward(film, "pixels", context=1)
    >>> first, second = reward.stream(), reward.stream()
    >>> push_each([first, second], [film[0], film[3]]) == [reward.stream().push(film[t]) for t in (0, 3)]
    True
    """
    none = [None] * len(streams)
    given = (frames, none if states is None else states, none if actions is None else actions)
    if {len(one) for one in given} != {len(streams)}:
        raise ValueError(f"there are {len(streams)} streams and {len(frames)} frames; give each its own.")
    rewards = [0.0] * len(streams)
    groups: dict[Hashable, list[int]] = {}
    for k, one in enumerate(streams):
        groups.setdefault(getattr(one, "kin", id(one)), []).append(k)
    for group in groups.values():
        first: Any = streams[group[0]]
        theirs = [[one[k] for k in group] for one in given]
        together = getattr(first, "push_together", None)
        paid = (
            [first.push(*(one[0] for one in theirs))]
            if together is None
            else together([streams[k] for k in group], *theirs)
        )
        for k, reward in zip(group, paid, strict=True):
            rewards[k] = reward
    return rewards


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
        self._at = np.zeros(len(demos), np.int64)

    def push(self, frame: Frames | None = None, state: Array | None = None, action: Array | None = None) -> float:
        """The reward of the next learner frame, uint8 [H,W,3]."""
        return self.push_together([self], [frame], [state], [action])[0]

    def push_features(self, features: npt.ArrayLike) -> float:
        """The reward of the next learner frame from its features [D]."""
        row = np.asarray(features)
        if row.ndim != 1:
            raise ValueError(f"features has shape {row.shape}; a stream takes one frame's [D] at a time.")
        return self._paid(row, self._costs(row))

    @property
    def kin(self) -> Hashable:
        """Streams that see by one cost model are pushed together."""
        return VideoStream, id(self._model)

    def push_together(
        self, streams: Sequence[VideoStream], frames: Steps, states: Steps, actions: Steps
    ) -> list[float]:
        """Each kin's reward of its next frame; frames of one size are encoded at once."""
        pictures = [one.check(frame) for one, frame in zip(streams, frames, strict=True)]
        model = self._model.get()
        eyes = [
            model.begin(picture[None]) if one._eye is None else one._eye
            for one, picture in zip(streams, pictures, strict=True)
        ]
        rows: dict[int, npt.NDArray[Any]] = {}
        for shape in dict.fromkeys(picture.shape for picture in pictures):
            alike = [k for k, picture in enumerate(pictures) if picture.shape == shape]
            rows |= zip(alike, see_each([eyes[k] for k in alike], np.stack([pictures[k] for k in alike])), strict=True)
        costs = [one._costs(rows[k]) for k, one in enumerate(streams)]
        for one, eye in zip(streams, eyes, strict=True):
            one._eye = eye
        return [one._paid(rows[k], costs[k]) for k, one in enumerate(streams)]

    def check(self, frame: Frames | None) -> Frames:
        """A frame [H,W,3] that `push` would take, or a ValueError."""
        picture = np.asarray(frame)
        if picture.ndim != 3:
            raise ValueError(
                f"the frame has shape {picture.shape}; a stream takes one [H,W,3] at a time, "
                f"and a VideoReward whole episodes [T,H,W,3]."
            )
        check_frames(picture[None])
        check_shape(self._model.kit.demos[0], *picture.shape[:2])
        return picture

    def _costs(self, row: npt.NDArray[Any]) -> tuple[FloatArray, ...]:
        """[1, J] per demo."""
        return self._model.get().compare(row[None], row if self._first is None else self._first)

    def _paid(self, row: npt.NDArray[Any], costs: Sequence[FloatArray]) -> float:
        rewards = []
        for k, (recent, cost, tracker) in enumerate(zip(self._recent, costs, self._trackers, strict=True)):
            recent.append(np.asarray(self._scaled(k, cost[0])))
            near = in_context(np.stack(recent), self._context, "past")[-1]
            rewards.append(tracker.push(near))
            ahead = (np.arange(len(near)) - self._at[k]) / len(near)
            self._at[k] = np.argmin(near + STAYS * np.ptp(near) * np.maximum(ahead, -2 * ahead))
        self._first = row if self._first is None else self._first
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
    def at(self) -> int:
        """The frame of that demo that the learner is at: the nearest one, where a jump counts against it.

        Unlike the progress it can fall.
        """
        return int(self._at[self.demo])

    @property
    def followed(self) -> dict[str, float]:
        """The progress, and the coverage of the demo's end, by name."""
        tracker = self._trackers[self.demo]
        return {"progress": tracker.progress, "coverage": float(tracker.coverage[-1])}

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
        self._at[:] = 0


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
        return self.push_together([self], [frame], [state], [action])[0]

    @property
    def kin(self) -> Hashable:
        """Streams of one reward are pushed together."""
        return ComposedStream, id(self._reward)

    def push_together(
        self, streams: Sequence[ComposedStream], frames: Steps, states: Steps, actions: Steps
    ) -> list[float]:
        """Each kin's reward, part by part."""
        paid: list[list[Any]] = [[] for _ in streams]
        for k, part in enumerate(self._streams):
            own = [one._streams[k] for one in streams]
            # A part that pays nothing now may still be there for another.
            of_part = [None] * len(own) if part is None else push_each(own, frames, states, actions)  # type: ignore[arg-type]
            for all_parts, one in zip(paid, of_part, strict=True):
                all_parts.append(None if one is None else np.float64(one))
        return [float(self._reward.combine(parts)) for parts in paid]

    def reset(self, state: Array | None = None) -> None:
        """Begin a new episode."""
        for one in self._streams:
            if one is not None:
                one.reset(state)
