"""Video files in, scores and their story out: what `orcalign score` and `orcalign check` show."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy.typing as npt

from orcalign.costs import FrameModel
from orcalign.costs.fine import ENCODER as FINE
from orcalign.costs.goals import GoalModel, GoalScale
from orcalign.encoders import Encoder, make_encoder
from orcalign.matching import Match, OrcaMatch
from orcalign.matching import matcher as find_matcher
from orcalign.matching.match import FloatArray
from orcalign.report.clips import SHOWN, EncodedClip, ShownClip, encode_file, like, read_clip, require_same_shape
from orcalign.rewards import Story, Verdict, VideoReward, judge, lint_demo
from orcalign.video import Demo, VideoOptions

COARSE = (
    "the demo: things move so far from one frame to the next that neighbours differ as much as any two; scores are "
    "lenient then, so give a demo with more frames a second."
)
WHOLE = "efficientnet-lite0"
"""Encoder of the paper's settings here; with the others it is `FINE`."""
PAPER = {"distance": "cosine", "context": 3, "temperature": 1.0, "floor": 0.0}
"""What is used with `paper` where nothing else is given."""


@dataclass(frozen=True)
class ScoreSettings:
    """How attempts are scored.

    >>> ScoreSettings(calibrated=True)
    Traceback (most recent call last):
    ...
    ValueError: calibrated is a setting of the paper's costs, and these have a unit of their own; leave it out, or ...
    """

    matchers: tuple[str, ...] = ("bottleneck",)
    paper: bool = False
    """Whole pictures, as in the paper; else the worst places, with camera and light corrected."""
    distance: str | None = None
    context: int | None = None
    """Frames in step over which costs are averaged; they look ahead, as in the paper."""
    calibrated: bool = False
    """Floor and temperature from the demo instead of the two below."""
    temperature: float | None = None
    floor: float | None = None

    def __post_init__(self) -> None:
        if not self.matchers:
            raise ValueError("no matcher was given; name at least one, for example bottleneck.")
        for name in self.matchers:
            find_matcher(name)
        for name in ("calibrated", *PAPER):
            if not self.paper and getattr(self, name) not in (None, False):
                raise ValueError(
                    f"{name} is a setting of the paper's costs, and these have a unit of their own; leave it out, or "
                    f"add paper (--paper at the command line)."
                )

    @property
    def encoder(self) -> str:
        """The name of the one that goes with them."""
        return WHOLE if self.paper else FINE

    def of_paper(self, name: str) -> Any:
        """A setting, as given or as in the paper."""
        given = getattr(self, name)
        return PAPER[name] if given is None else given


@dataclass(frozen=True, eq=False)
class Attempt:
    """One rollout, scored."""

    clip: ShownClip
    cost: FloatArray
    """[T, J] with context."""
    matches: Mapping[str, Match]
    """By matcher."""
    progress: FloatArray
    """[T] In order, whatever the matchers."""
    story: Story
    verdict: Verdict | None = None
    """None with the paper's settings, which have no threshold."""
    words: tuple[str, ...] = ()
    """What of camera and light was corrected."""


@dataclass(frozen=True, eq=False)
class ScoreSheet:
    """A demo and the attempts at it."""

    demo: ShownClip
    attempts: tuple[Attempt, ...]
    settings: ScoreSettings
    temperature: float
    """As used."""
    floor: float
    notes: tuple[str, ...] = ()
    """What is odd about the demo."""

    @property
    def calibrated(self) -> bool:
        """Whether floor and temperature come from what was seen; of goals in words they always do."""
        return self.settings.calibrated or self.demo.sentences is not None

    @property
    def ranking(self) -> tuple[Attempt, ...]:
        """The best first, by score; with the paper's settings as they were given."""
        return tuple(sorted(self.attempts, key=lambda one: -(one.verdict.score if one.verdict else 0.0)))


def score_clips(
    demo: EncodedClip, attempts: Sequence[EncodedClip], settings: ScoreSettings, others: Sequence[EncodedClip] = ()
) -> ScoreSheet:
    """Match every attempt with the demo by every matcher, by the paper's costs; goals in words are calibrated by all
    that is there, of which `others` are no attempts."""
    reward = clip_reward(demo, settings, [clip.features for clip in (*attempts, *others)])
    scored = []
    for clip in attempts:
        require_same_shape(demo, clip)
        match = reward.score_features(clip.features)
        matches = {name: reward.with_matcher(name).score_costs(match.raw_costs).match for name in settings.matchers}
        ordered = cast(OrcaMatch, match.match)
        scored.append(Attempt(clip, match.cost, matches, ordered.progress, reward.story(match)))
    used = reward.matcher_settings[0]
    return ScoreSheet(demo, tuple(scored), settings, used["temperature"], used["floor"])


def clip_reward(demo: EncodedClip, settings: ScoreSettings, features: Sequence[npt.NDArray[Any]] = ()) -> VideoReward:
    """ORCA's reward from the demo; other matchers are `with_matcher` of it. `features` calibrate goals in words."""
    video = Demo(demo.frames, demo.fps, source=demo.path, sentences=demo.sentences)
    if video.sentences is not None:
        plain = GoalModel(None, None, [video], features=[demo.features])
        pictures = [j for j, text in enumerate(video.sentences) if not text]
        plain.scales = [GoalScale.of([plain.compare(one)[0] for one in features], pictures)]
        return VideoReward(video, model=plain, context=settings.of_paper("context"), calibrated=True)
    distance = settings.of_paper("distance")
    names = () if settings.calibrated else ("temperature", "floor")
    given: dict[str, Any] = {name: settings.of_paper(name) for name in names}
    return VideoReward(
        video, model=FrameModel(None, [video], distance, [demo.features]), distance=distance,
        context=settings.of_paper("context"), calibrated=settings.calibrated, **given,
    )  # fmt: skip


def judge_clips(
    demo: ShownClip,
    attempts: Sequence[ShownClip],
    settings: ScoreSettings,
    encoder: Encoder,
    progress: Callable[[int], None] | None = None,
) -> ScoreSheet:
    """Judge every attempt beside the demo; `progress` is told how many frames of all have been seen."""
    seen = 0

    def told(done: int) -> None:
        if progress is not None:
            progress(seen + done)

    video = Demo(demo.frames, demo.fps, source=demo.path)
    reward = VideoReward(
        video, encoder, matcher="bottleneck", calibrated=True, context=1, look="fine", cameras=demo.widths,
        progress=told,
    )  # fmt: skip
    seen = len(video)
    scored = []
    for given in attempts:
        clip = like(given, demo)
        judged = judge(reward, clip.frames, clip.fps, told)
        seen += len(clip.frames)
        raw = judged.match.raw_costs
        matches = {
            name: judged.match.match if name == "bottleneck" else reward.with_matcher(name).score_costs(raw).match
            for name in settings.matchers
        }
        ordered: Any = judged.match.match
        told_of = judged.story, judged.verdict, judged.words
        scored.append(Attempt(clip, judged.match.cost, matches, ordered.progress, *told_of))
    kinds = {one.verdict.text for one in scored if one.verdict is not None and one.verdict.kind == "scene"}
    if kinds and all(one.verdict is not None and one.verdict.kind == "scene" for one in scored):
        raise ValueError(
            f"no attempt fits the demo '{demo.path}': '{scored[0].clip.path}' {sorted(kinds)[0]}; film both from one "
            f"place, or compare whole pictures with paper (--paper)."
        )
    used, cuts = reward.matcher_settings[0], [one for one in lint_demo(video) if one.code == "jump"]
    model: Any = reward.model
    notes = tuple(f"the demo: {one}" for one in cuts)
    if model.coarse:
        notes += (COARSE,)
    return ScoreSheet(demo, tuple(scored), settings, used["temperature"], used["floor"], notes)


def score(
    demo: str | os.PathLike[str],
    attempts: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    matcher: str | Sequence[str] | None = None,
    *,
    paper: bool = False,
    distance: str | None = None,
    context: int | None = None,
    calibrated: bool = False,
    temperature: float | None = None,
    floor: float | None = None,
    encoder: str | Encoder | None = None,
    options: VideoOptions | None = None,
) -> ScoreSheet:
    """Score attempts at a demo, as `orcalign score` does.

    Args:
        demo: a video, a folder of images, or a saved demo; several cameras of one moment as "left.mp4,right.mp4".
        attempts: one of these, or several.
        matcher: one of `orcalign matchers`, or several; None for bottleneck, or orca with `paper`.
        paper: compare whole pictures, as in the paper; then there is no verdict, and all below can be set.
        distance: between features: cosine (the paper's) or euclidean.
        context: frames in step over which distances are averaged; 1 for none, 3 in the paper.
        calibrated: take temperature and floor from the demo itself: for demos of more than some 30 frames.
        temperature: of the matchers that have one; lower is stricter, 1 in the paper.
        floor: distance below which a frame counts as reached; 0 in the paper.
        encoder: its name, or one of `orcalign.encoders.make_encoder`; None for the one that goes with the settings.
        options: how videos are read.
    """
    usual = "orca" if paper else "bottleneck"
    names = (matcher or usual,) if matcher is None or isinstance(matcher, str) else tuple(matcher)
    settings = ScoreSettings(names, paper, distance, context, calibrated, temperature, floor)
    paths = [Path(one) for one in ([attempts] if isinstance(attempts, (str, os.PathLike)) else attempts)]
    if not paths:
        raise ValueError("no attempt was given; name at least one video.")
    named = settings.encoder if encoder is None else encoder
    model = make_encoder(named) if isinstance(named, str) else named
    read = options or VideoOptions(longest=SHOWN)
    if paper:
        first, *others = [encode_file(path, model, read) for path in (Path(demo), *paths)]
        return score_clips(first, others, settings)
    shown, *shown_attempts = [read_clip(path, read) for path in (Path(demo), *paths)]
    return judge_clips(shown, shown_attempts, settings, model)
