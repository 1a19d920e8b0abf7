"""A demo video as a reward: encoder, distance, context and matcher in one callable."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np
import numpy.typing as npt

from orcalign.encoders import Encoder, Progress, make_encoder
from orcalign.matching import Match, Pooled, along_path, matcher, orca, pool
from orcalign.matching.costs import context as in_context
from orcalign.matching.match import FloatArray
from orcalign.rewards.calibrating import calibrate_demo
from orcalign.rewards.demos import DemoLike, as_demos, check_render, check_shape
from orcalign.rewards.frame_costs import FrameCosts
from orcalign.rewards.object_view import SCALE, ObjectView
from orcalign.rewards.settings import ORCA_SETTINGS, RewardSettings, check_matcher_settings
from orcalign.rewards.story import Story, tell
from orcalign.rewards.stream import RewardStream, check_streams
from orcalign.rewards.view_costs import ViewCosts
from orcalign.video import Demo


@dataclass(frozen=True, eq=False)
class VideoMatch:
    """An episode's rewards, and what they come from. With several demos there is one match for each."""

    reward: FloatArray
    """[T] float64; pooled if there are several demos."""
    matches: tuple[Match, ...]
    """One per demo."""
    costs: tuple[FloatArray, ...]
    """[T, J] per demo, with context: what the matcher was given."""
    raw_costs: tuple[FloatArray, ...]
    """[T, J] per demo, before context: what `VideoReward.relabel` takes."""
    pooled: Pooled | None
    """How the rewards of several demos were combined; None for one demo."""

    @property
    def demo(self) -> int:
        """The demo that fits best: the one with the highest sum of rewards."""
        return 0 if self.pooled is None else self.pooled.best_demo

    @property
    def match(self) -> Match:
        """The match with that demo."""
        return self.matches[self.demo]

    @property
    def cost(self) -> FloatArray:
        """[T, J] The cost against that demo, with context."""
        return self.costs[self.demo]

    @property
    def total(self) -> float:
        """Sum of the rewards."""
        return float(self.reward.sum())


@final
class VideoReward:
    """Rewards for learner frames from one demo video, or from several.

    Demos are encoded once, here. Costs are float64, and a row of them does not depend on the other rows
    (see `orcalign.rewards.frame_costs`), so a stream and a whole episode give the same bits.

    Args:
        demo: a `Demo`, a path (saved demo, folder of saved demos, or any video), frames uint8 [J,H,W,3], a
            `Clip`, a `DemoSet`, or a list of these.
        encoder: a name for `make_encoder`, or an `Encoder` (with a cache, another size, ...).
        distance: "cosine" or "euclidean".
        context: frames in step over which costs are averaged; 1 is none.
        direction: "future", as in the paper, or "past", which can be given at every step.
        matcher: a name in `orcalign.matching.MATCHERS`.
        calibrated: take `floor` and `temperature` from the demo's own features (orca, orca_log, orca_progress,
            threshold); a demo in which nothing moves is refused.
        pool: several demos: "max" at every step, or all rewards of the "best" demo.
        progress_in: what orca_progress counts: "frames" of the demo, or "path", how much they change from one to the
            next (see `orcalign.matching.along_path`).
        learner_render: "fast" or "paper" if the learner's frames are rendered, else "unknown".
        progress: told how many demo frames have been encoded.
        matcher_settings: what the matcher itself takes, as `temperature=0.1`.

    >>> frames = np.zeros((6, 16, 16, 3), np.uint8)
    >>> for t in range(6):
    ...     frames[t, 4:12, 2 * t : 2 * t + 4] = 255
    >>> reward = VideoReward(frames, encoder="pixels", context=1, temperature=0.05)
    >>> there, frozen = reward(frames), reward(frames[[0] * 6])
    >>> there.total > 0.9, frozen.total < 0.1
    (True, True)
    >>> live = reward.stream()
    >>> [live.push(frame) for frame in frames] == there.reward.tolist()
    True
    """

    def __init__(
        self,
        demo: DemoLike | Sequence[DemoLike],
        encoder: str | Encoder = "efficientnet-lite0",
        distance: str = "cosine",
        context: int = 3,
        direction: str = "future",
        matcher: str = "orca",
        calibrated: bool = False,
        pool: str = "max",
        progress_in: str = "frames",
        *,
        learner_render: str = "unknown",
        progress: Progress | None = None,
        **matcher_settings: Any,
    ) -> None:
        self.settings = RewardSettings(distance, context, direction, matcher, calibrated, pool, progress_in)
        check_matcher_settings(matcher, matcher_settings, calibrated)
        self.demos: tuple[Demo, ...] = as_demos(demo)
        check_render(self.demos, learner_render)
        self.encoder: Encoder = make_encoder(encoder) if isinstance(encoder, str) else encoder
        self.matcher_settings: tuple[dict[str, Any], ...]
        """Per demo, with what calibration found."""
        self.demo_features = tuple(self.encoder(one.frames, progress) for one in self.demos)
        """[J, D] per demo."""
        self.frame_costs: tuple[FrameCosts | ViewCosts, ...] = tuple(
            self.encoder.costs(features, distance)
            if isinstance(self.encoder, ObjectView)
            else FrameCosts(features, distance)
            for features in self.demo_features
        )
        measured = self.calibrations() if calibrated else tuple({} for _ in self.demos)
        worths = self.worths() if progress_in == "path" else tuple({} for _ in self.demos)
        self.matcher_settings = tuple(
            {**matcher_settings, **found, **worth} for found, worth in zip(measured, worths, strict=True)
        )

    def calibrations(self, rollouts: Sequence[Sequence[npt.ArrayLike]] = ()) -> tuple[dict[str, float], ...]:
        """Per demo the temperature and floor that its own features ask for, and rollouts if there are any.

        Args:
            rollouts: of each its raw costs [T, J] per demo, as in `VideoMatch.raw_costs`; see `calibrate`.
        """
        found = []
        for k, (demo, features) in enumerate(zip(self.demos, self.demo_features, strict=True)):
            if isinstance(self.encoder, ObjectView):
                # Its costs have a unit already; what calibration refuses it refuses all the same.
                calibrate_demo(demo, features, self.settings.distance)
                found.append({"temperature": SCALE, "floor": SCALE})
            else:
                costs = [rollout[k] for rollout in rollouts]
                found.append(calibrate_demo(demo, features, self.settings.distance, costs)._asdict())
        return tuple(found)

    def worths(self) -> tuple[dict[str, tuple[float, ...]], ...]:
        """Per demo the setting `worth` of orca_progress that measures progress along the demo's path."""
        return tuple(
            {"worth": tuple(along_path(costs.between_demo_frames()).tolist())} for costs in self.frame_costs
        )

    def with_matcher(self, matcher: str, settings: Sequence[Mapping[str, Any]]) -> VideoReward:
        """The same demos, encoder and costs under another matcher, with its settings for each demo.

        Nothing is encoded again, so that stored episodes can be relabelled at once.

        >>> reward = VideoReward(np.random.default_rng(0).integers(0, 255, (5, 8, 8, 3), np.uint8), "pixels")
        >>> reward.with_matcher("temporal_ot", [{"window": 2}]).settings.matcher
        'temporal_ot'
        """
        if len(settings) != len(self.demos):
            raise ValueError(
                f"there are {len(settings)} settings for {len(self.demos)} demos; give one for each."
            )
        for one in settings:
            check_matcher_settings(matcher, one, calibrated=False)
        other = copy.copy(self)
        other.settings = replace(self.settings, matcher=matcher, calibrated=False, progress_in="frames")
        other.matcher_settings = tuple(dict(one) for one in settings)
        return other

    def __call__(self, frames: npt.NDArray[np.uint8], progress: Progress | None = None) -> VideoMatch:
        """Match learner frames uint8 [T,H,W,3] with the demo."""
        frames = np.asarray(frames)
        if frames.ndim == 4 and len(frames) == 0:
            raise ValueError("there are no learner frames (T = 0); a reward needs at least one.")
        if frames.ndim == 4:
            check_shape(self.demos[0], *frames.shape[1:3])
        return self.score_features(self.encoder(frames, progress))

    def score_features(self, features: npt.ArrayLike) -> VideoMatch:
        """Match learner features [T, D] of this reward's encoder with the demo."""
        return self.score_costs([costs(features) for costs in self.frame_costs])

    def score_costs(self, raw_costs: Sequence[FloatArray]) -> VideoMatch:
        """Match one episode by its raw costs [T, J], one matrix per demo."""
        self._check_costs(raw_costs)
        costs = tuple(self._with_context(cost) for cost in raw_costs)
        method = matcher(self.settings.matcher)
        matches = tuple(
            method(cost, **settings) for cost, settings in zip(costs, self.matcher_settings, strict=True)
        )
        pooled = pool(matches, self.settings.pool) if len(matches) > 1 else None
        reward = matches[0].reward if pooled is None else pooled.reward
        return VideoMatch(reward, matches, costs, tuple(raw_costs), pooled)

    def relabel(
        self, raw_costs: npt.ArrayLike | Sequence[npt.ArrayLike], lengths: npt.ArrayLike | None = None
    ) -> FloatArray:
        """Rewards [B, T] of stored episodes from their raw costs [B, T, J], with the settings of now.

        The same as calling with the frames, without frames, encoder or distance. In float64 ORCA's are the
        same bits.

        Args:
            raw_costs: [B, T, J], or with several demos a list of one such array per demo.
            lengths: [B] frames of each episode; rewards beyond are 0.

        >>> frames = np.random.default_rng(0).integers(0, 255, (5, 8, 8, 3), np.uint8)
        >>> reward = VideoReward(frames, encoder="pixels")
        >>> result = reward(frames[::-1])
        >>> (reward.relabel(result.raw_costs[0][None])[0] == result.reward).all()
        np.True_
        """
        several = len(self.demos) > 1
        batches = [np.asarray(cost) for cost in raw_costs] if several else [np.asarray(raw_costs)]  # type: ignore[union-attr]
        self._check_costs(batches, batched=True)
        method = matcher(self.settings.matcher)
        rewards = np.stack(
            [
                method(self._with_context(cost, lengths), lengths=lengths, **settings).reward
                for cost, settings in zip(batches, self.matcher_settings, strict=True)
            ]
        )
        if self.settings.pool == "max":
            # Rows beyond an episode's length are 0 with every demo, so their maximum is, too.
            best: FloatArray = rewards.max(axis=0)
            return best
        demo = rewards.sum(axis=2).argmax(axis=0)
        chosen: FloatArray = rewards[demo, np.arange(rewards.shape[1])]
        return chosen

    def stream(self) -> RewardStream:
        """A tracker that takes one frame at a time and gives its reward at once.

        For the matchers "orca" and "orca_progress" (but for its form that has to know the end of an episode),
        with a context that does not look ahead; several demos only with pool "max".
        """
        check_streams(self.settings, len(self.demos))
        return RewardStream(
            self.demos[0],
            self.encoder,
            self.frame_costs,
            self.settings.context,
            self.matcher_settings,
            self.settings.matcher,
        )

    def story(self, result: VideoMatch, demo: int | None = None) -> Story:
        """What happened in the episode of `result`, against the demo that fits best or the one named.

        Its numbers are ORCA's, whatever the matcher: with this reward's temperature and floor if its matcher
        has them, else with the paper's. What the learner did is told from the costs before context.
        """
        k = result.demo if demo is None else demo
        if not 0 <= k < len(self.demos):
            raise ValueError(f"demo is {k}; there are {len(self.demos)}, counted from 0.")
        settings = {key: v for key, v in self.matcher_settings[k].items() if key in ORCA_SETTINGS}
        between = self.frame_costs[k].between_demo_frames()
        return tell(result.raw_costs[k], orca(result.costs[k], **settings), between)

    def _with_context(self, cost: npt.ArrayLike, lengths: npt.ArrayLike | None = None) -> FloatArray:
        return in_context(cost, self.settings.context, self.settings.direction, lengths=lengths)

    def _check_costs(self, raw_costs: Sequence[npt.NDArray[Any]], batched: bool = False) -> None:
        shape = "[B, T, J]" if batched else "[T, J]"
        if len(raw_costs) != len(self.demos):
            raise ValueError(
                f"there are {len(raw_costs)} cost arrays for {len(self.demos)} demos; "
                f"give one {shape} for each demo."
            )
        for k, (cost, demo) in enumerate(zip(raw_costs, self.demos, strict=True)):
            if cost.ndim != 2 + batched or cost.shape[-1] != len(demo):
                raise ValueError(
                    f"the costs against demo {k} have shape {cost.shape}; they must be {shape} "
                    f"with J = {len(demo)}, that demo's frames."
                )
        if len({cost.shape[:-1] for cost in raw_costs}) > 1:
            shapes = ", ".join(str(cost.shape) for cost in raw_costs)
            raise ValueError(
                f"the costs have shapes {shapes}; all demos must be compared with the same episodes."
            )
