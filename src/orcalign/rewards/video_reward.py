"""A demo video as a reward: cost model, context and matcher in one object."""

from __future__ import annotations

import copy
from collections.abc import Hashable, Sequence
from typing import Any, final

import numpy as np
import numpy.typing as npt

from orcalign.costs import CostModel
from orcalign.encoders import Encoder, Progress, make_encoder
from orcalign.matching import Match, matcher, orca, pool
from orcalign.matching.costs import context as in_context
from orcalign.matching.match import FloatArray
from orcalign.matching.pooling import pool_rewards
from orcalign.rewards.base import Array, Evidence, Moment, Reward, Rollout, State, at_the_end
from orcalign.rewards.demos import DemoLike, as_demos, check_costs, check_render, check_shape
from orcalign.rewards.description import Kit, SharedModel, plain_model
from orcalign.rewards.explanation import Explanation, Story, VideoMatch
from orcalign.rewards.measured import Measured
from orcalign.rewards.settings import RewardSettings, check_streams
from orcalign.rewards.story import tell, tell_of_goals
from orcalign.rewards.stream import VideoStream
from orcalign.video import Demo


@final
class VideoReward(Reward):
    """Rewards for learner frames from one demo video, or from several.

    Costs are float64, and a row of them does not depend on the other rows (see `orcalign.costs.frames`), so a stream
    and a whole episode give the same bits.

    Args:
        demo: a `Demo`, a path (saved demo, folder of saved demos, or any video), frames uint8 [J,H,W,3], a
            `Clip`, a `DemoSet`, or a list of these.
        encoder: a name for `make_encoder`, or an `Encoder` (of another size, ...).
        distance: "cosine" or "euclidean".
        context: frames in step over which costs are averaged; 1 is none.
        direction: "future", as in the paper, or "past", which can be given at every step.
        matcher: a name in `orcalign.matching.MATCHERS`.
        calibrated: take `floor` and `temperature` from the demo's own features (orca, orca_log, orca_progress,
            threshold); a demo in which nothing moves is refused. A temperature given beside is a factor on both.
        pool: several demos: "max" at every step, all rewards of the "best" demo, or "auto", what the matcher asks for.
        progress_in: what orca_progress counts: "frames" of the demo, or "path", how much they change from one to the
            next (see `orcalign.matching.along_path`).
        look: "whole" pictures, or their worst places ("fine", see `orcalign.costs.FineModel`), for which there is no
            distance, and whose scale `calibrated` takes; best with the encoder efficientnet-lite0-fine.
        cameras: several cameras of one moment: the widths of their pictures, which stand side by side in each frame.
        guide: let the policy see how far the demo has been followed.
        learner_render: "fast" or "paper" if the learner's frames are rendered, else "unknown".
        model: a cost model of your own, in the place of encoder and distance; of sentences, a `GoalModel`.
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

    criterion = "coverage"
    remedy = (
        "let it measure its own scale (--calibrated), read places instead of pictures (--recipe follow), or take "
        "another camera or another demo: compare.png has it beside the environment"
    )

    def __init__(
        self,
        demo: DemoLike | Sequence[DemoLike],
        encoder: str | Encoder = "efficientnet-lite0",
        distance: str = "cosine",
        context: int = 3,
        direction: str = "future",
        matcher: str = "orca",
        calibrated: bool = False,
        pool: str = "auto",
        progress_in: str = "frames",
        *,
        look: str = "whole",
        cameras: Sequence[int] = (),
        guide: bool = False,
        learner_render: str = "unknown",
        model: CostModel | None = None,
        progress: Progress | None = None,
        **matcher_settings: Any,
    ) -> None:
        plain = RewardSettings(distance, context, direction)
        settings = plain.with_matcher(
            matcher, matcher_settings, calibrated=calibrated, pool=pool, progress_in=progress_in, guide=guide
        )
        demos = as_demos(demo)
        check_render(demos, learner_render)
        if guide:
            check_streams(settings, len(demos))
        costs = None
        if model is None:
            if any(demo.sentences is not None for demo in demos):
                raise ValueError(
                    "the demo is a list of sentences, which no encoder sees in their pictures; give "
                    "model=GoalModel(...) of orcalign.costs.goals."
                )
            made = make_encoder(encoder) if isinstance(encoder, str) else encoder
            seen = {"encoder": made.name, "size": made.size, "pooled": not made.spatial}
            costs = {**seen, "look": look, "distance": distance}
            costs |= {"cameras": list(cameras)} if cameras else {}
            model = plain_model(made, demos, look, distance, cameras, progress)
        self._begin(settings, SharedModel(costs, Kit(None, demos), model))
        self._measured.found()

    def _begin(self, settings: RewardSettings, model: SharedModel) -> None:
        self.settings, self._model = settings, model
        self._measured = Measured(settings, model)

    @classmethod
    def from_description(cls, description: dict[str, Any], kit: Kit) -> VideoReward:
        """As described; nothing is read or encoded before it is needed."""
        made = object.__new__(cls)
        made._begin(RewardSettings.from_plain(description["settings"]), kit.model(description["costs"]))
        return made

    def describe(self) -> dict[str, Any]:
        """Settings, and what sees the frames; not with a cost model of one's own, which nobody else could make."""
        if self._model.costs is None:
            raise ValueError(
                "a reward with a cost model of its own cannot be described; make it with an encoder, or describe it in "
                "a class of your own (see orcalign.rewards.description.reward_class)."
            )
        return {"kind": "video", "settings": self.settings.plain(), "costs": dict(self._model.costs)}

    @property
    def demos(self) -> tuple[Demo, ...]:  # type: ignore[override]
        """The videos."""
        return self._model.kit.demos

    @property
    def model(self) -> CostModel:
        """How far an episode is from each demo."""
        return self._model.get()

    @property
    def encoder(self) -> Any:
        """What sees frames."""
        return self.model.encoder

    @property
    def observer(self) -> Hashable:
        """The cost model, which rewards with other matchers share."""
        return self._model

    @property
    def name(self) -> str:
        """The matcher's."""
        return self.settings.matcher

    @property
    def guide_dim(self) -> int:  # type: ignore[override]
        """One number, the progress, if the policy is to see it."""
        return int(self.settings.guide)

    @property
    def notes(self) -> tuple[str, ...]:
        """What of the pictures is compared, where that depends on them."""
        self.model  # noqa: B018 (only now it is known)
        return (self._model.note,) if self._model.note else ()

    @property
    def matcher_settings(self) -> tuple[dict[str, Any], ...]:
        """Per demo what the matcher is called with, with what calibration found."""
        return self._measured.settings_of(self.settings.matcher)

    def calibrations(self, rollouts: Sequence[Sequence[npt.ArrayLike]] = ()) -> tuple[dict[str, float], ...]:
        """Per demo the temperature and floor that its own features ask for, and rollouts if there are any.

        Args:
            rollouts: of each its raw costs [T, J] per demo, as in `VideoMatch.raw_costs`; see `calibrate`.
        """
        return self._measured.calibrations(rollouts)

    def with_matcher(self, name: str, **matcher_settings: Any) -> VideoReward:
        """The same demos and costs under another matcher, calibrated and measured as far as that knows of it.

        Nothing is encoded again.

        >>> reward = VideoReward(np.random.default_rng(0).integers(0, 255, (5, 8, 8, 3), np.uint8), "pixels")
        >>> reward.with_matcher("temporal_ot", window=2).matcher_settings
        ({'window': 2},)
        """
        other = copy.copy(self)
        other.settings = self.settings.with_matcher(name, matcher_settings)
        other._measured = copy.copy(self._measured)
        other._measured.settings = other.settings
        return other

    def __call__(self, frames: npt.NDArray[np.uint8], progress: Progress | None = None) -> VideoMatch:
        """Match learner frames uint8 [T,H,W,3] with the demo."""
        return self.score_features(self.see(frames, progress)[1])

    def score_features(self, features: npt.ArrayLike) -> VideoMatch:
        """Match learner features [T, D] of this reward's encoder with the demo."""
        return self.score_costs(self.model.compare(features))

    def score_costs(self, raw_costs: Sequence[FloatArray]) -> VideoMatch:
        """Match one episode by its raw costs [T, J], one matrix per demo."""
        check_costs(raw_costs, self.demos)
        scaled = [self._measured.scaled(k, cost) for k, cost in enumerate(raw_costs)]
        costs = tuple(self._with_context(cost) for cost in scaled)
        method, settings = matcher(self.settings.matcher), self.matcher_settings
        matches = tuple(method(cost, **own) for cost, own in zip(costs, settings, strict=True))
        pooled = pool(matches, self.settings.pooling) if len(matches) > 1 else None
        reward = matches[0].reward if pooled is None else pooled.reward
        return VideoMatch(reward, matches, costs, tuple(raw_costs), pooled)

    def story(self, result: VideoMatch) -> Story:
        """What happened in the episode of `result`, against the demo that fits best.

        Its numbers are ORCA's, whatever the matcher: with this reward's temperature and floor if its matcher
        has them, else with the paper's. What the learner did is told from the costs before context.
        """
        k = result.demo
        match = orca(result.costs[k], **self._measured.settings_of("orca")[k])
        if self._model.of_goals:
            return tell_of_goals(result.costs[k], match)
        # How far the demo's frames are apart is estimated where nobody has had to see frames yet.
        between = None if self._model.made is None else self._model.made.between(k)
        return tell(result.raw_costs[k], match, between)

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
        rewards = np.stack([match.reward for match in self._matches(batches, lengths)])
        return pool_rewards(rewards, self.settings.pooling)[0]

    def observe(self, rollout: Rollout) -> dict[str, Array]:
        """Costs [T, J] against each demo, before context."""
        if rollout.frames is None:
            raise ValueError("an episode came without frames; a reward from a video needs them all.")
        features = self.see(rollout.frames)[1]
        found = {f"cost_{k}": cost for k, cost in enumerate(self.model.compare(features))}
        # A model may keep more than costs, for other rewards to pay by.
        beside = getattr(self.model, "beside", None)
        return found if beside is None else {**found, **beside(features)}

    def pay(self, episodes: Sequence[Evidence]) -> list[FloatArray]:
        """[T] of each episode, by its costs."""
        if not episodes:
            return []
        batches, lengths = self._batches(episodes)
        rewards = self.relabel(batches if len(batches) > 1 else batches[0], lengths)
        return [rewards[b, :length] for b, length in enumerate(lengths)]

    def follow(self, evidence: Evidence) -> dict[str, float]:
        """ORCA's progress, and how much of the demo is covered at the end, and was at the best moment (reached): of the
        demo that is followed furthest."""
        best = {"progress": 0.0, "coverage": 0.0, "reached": 0.0}
        for k, own in enumerate(self._measured.settings_of("orca")):
            match = orca(self._with_context(self._measured.scaled(k, evidence[f"cost_{k}"])), **own)
            if match.progress[-1] >= best["progress"]:
                best = {
                    "progress": float(match.progress[-1]),
                    "coverage": at_the_end(match.reward),
                    "reached": float(match.assignment[-1, -1]),
                }
        return best

    def guide(self, episodes: Sequence[Evidence]) -> list[npt.NDArray[np.float32]]:
        """[T+1, 1] How far the demo has been followed in order, of the demo that is followed furthest."""
        if not episodes or not self.guide_dim:
            return super().guide(episodes)
        batches, lengths = self._batches(episodes)
        progress: Any = np.max([match.progress for match in self._matches(batches, lengths)], axis=0)  # type: ignore[attr-defined]
        return [
            np.concatenate([[0.0], progress[b, :length]])[:, None].astype(np.float32)
            for b, length in enumerate(lengths)
        ]

    def learn(self, kept: Sequence[Evidence], moment: Moment) -> list[str] | None:
        """Calibrate when enough episodes have been played, and let the temperature follow its ramp."""
        return self._measured.learn([self._costs(one) for one in kept], moment)

    def numbers(self) -> dict[str, float]:
        """The temperature of now; if calibrated, the factor."""
        ramp = self.settings.temperature
        return {} if ramp is None else {"temperature": ramp(self._measured.share)}

    def stream(self) -> VideoStream:
        """A tracker that takes one frame at a time and gives its reward at once.

        For the matchers "orca", "orca_progress" and "bottleneck", with a context that does not look ahead; several
        demos only with pool "max".
        """
        check_streams(self.settings, len(self.demos))
        return VideoStream(self._model, self.settings, self.matcher_settings, self._measured.scaled)

    def explain(self, evidence: Evidence) -> Explanation:
        """The match of an episode by its costs, and its story."""
        match = self.score_costs(self._costs(evidence))
        return Explanation(match, self.story(match))

    def state(self) -> State:
        """What was measured, so that nobody has to encode the demos to pay."""
        return self._measured.state()

    def load_state(self, state: State) -> None:
        """Go on where `state` was taken."""
        self._measured.load_state(state)

    def see(self, frames: npt.NDArray[np.uint8], progress: Progress | None = None) -> tuple[Any, Any]:
        """What sees the frames [T,H,W,3] of an episode, and their features [T, D]."""
        frames = np.asarray(frames)
        if frames.ndim == 4 and len(frames) == 0:
            raise ValueError("there are no learner frames (T = 0); a reward needs at least one.")
        if frames.ndim == 4:
            check_shape(self.demos[0], *frames.shape[1:3])
        eye = self.model.begin(frames)
        return eye, eye(frames, progress)

    def _costs(self, evidence: Evidence) -> list[FloatArray]:
        return [evidence[f"cost_{k}"] for k in range(len(self.demos))]

    def _batches(self, episodes: Sequence[Evidence]) -> tuple[list[FloatArray], npt.NDArray[np.int64]]:
        """Costs [B, T, J] per demo, and the episodes' lengths [B]."""
        lengths = np.array([one.length for one in episodes])
        batches = []
        for k, demo in enumerate(self.demos):
            batch = np.zeros((len(episodes), lengths.max(), len(demo)))
            for b, one in enumerate(episodes):
                batch[b, : lengths[b]] = one[f"cost_{k}"]
            batches.append(batch)
        return batches, lengths

    def _matches(self, batches: Sequence[FloatArray], lengths: npt.ArrayLike | None) -> list[Match]:
        check_costs(batches, self.demos, batched=True)
        method = matcher(self.settings.matcher)
        return [
            method(self._with_context(self._measured.scaled(k, cost), lengths), lengths=lengths, **settings)
            for k, (cost, settings) in enumerate(zip(batches, self.matcher_settings, strict=True))
        ]

    def _with_context(self, cost: npt.ArrayLike, lengths: npt.ArrayLike | None = None) -> FloatArray:
        return in_context(cost, self.settings.context, self.settings.direction, lengths=lengths)
