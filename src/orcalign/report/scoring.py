"""Video files in, scores and their story out: what `orcalign score` and `orcalign check` show."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from orcalign.costs import FrameModel
from orcalign.costs.goals import GoalModel, GoalScale
from orcalign.encoders import Encoder, make_encoder
from orcalign.matching import Match, OrcaMatch
from orcalign.matching import matcher as find_matcher
from orcalign.matching.match import FloatArray
from orcalign.report.clips import SHOWN, EncodedClip, encode_file, require_same_shape
from orcalign.report.explainer import PageAttempt, PageClip, PageData, PageResult, render_page
from orcalign.rewards import Story, VideoReward
from orcalign.video import Demo, VideoOptions


@dataclass(frozen=True)
class ScoreSettings:
    """How attempts are scored."""

    matchers: tuple[str, ...] = ("orca",)
    distance: str = "cosine"
    context: int = 3
    """Frames in step over which costs are averaged; they look ahead, as in the paper."""
    calibrated: bool = False
    """Floor and temperature from the demo instead of the two below."""
    temperature: float = 1.0
    floor: float = 0.0

    def __post_init__(self) -> None:
        if not self.matchers:
            raise ValueError("no matcher was given; name at least one, for example orca.")
        for name in self.matchers:
            find_matcher(name)


@dataclass(frozen=True, eq=False)
class Attempt:
    """One rollout, scored."""

    clip: EncodedClip
    cost: FloatArray
    """[T, J] with context."""
    matches: Mapping[str, Match]
    """By matcher."""
    progress: FloatArray
    """[T] ORCA's, whatever the matchers."""
    story: Story


@dataclass(frozen=True, eq=False)
class ScoreSheet:
    """A demo and the attempts at it."""

    demo: EncodedClip
    attempts: tuple[Attempt, ...]
    settings: ScoreSettings
    temperature: float
    """As used."""
    floor: float

    @property
    def calibrated(self) -> bool:
        """Whether floor and temperature come from what was seen; of goals in words they always do."""
        return self.settings.calibrated or self.demo.sentences is not None


def score_clips(
    demo: EncodedClip, attempts: Sequence[EncodedClip], settings: ScoreSettings, others: Sequence[EncodedClip] = ()
) -> ScoreSheet:
    """Match every attempt with the demo by every matcher; goals in words are calibrated by all that is there, of which
    `others` are no attempts."""
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
        return VideoReward(video, model=plain, context=settings.context, calibrated=True)
    given: dict[str, Any] = (
        {} if settings.calibrated else {"temperature": settings.temperature, "floor": settings.floor}
    )
    return VideoReward(
        video, model=FrameModel(None, [video], settings.distance, [demo.features]), distance=settings.distance,
        context=settings.context, calibrated=settings.calibrated, **given,
    )  # fmt: skip


def score(
    demo: str | os.PathLike[str],
    attempts: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    matcher: str | Sequence[str] = "orca",
    *,
    distance: str = "cosine",
    context: int = 3,
    calibrated: bool = False,
    temperature: float = 1.0,
    floor: float = 0.0,
    encoder: str | Encoder = "efficientnet-lite0",
    options: VideoOptions | None = None,
) -> ScoreSheet:
    """Score attempts at a demo, as `orcalign score` does.

    Args:
        demo: a video, a folder of images, or a saved demo.
        attempts: one of these, or several.
        matcher: one of `orcalign matchers`, or several.
        distance: between features: cosine or euclidean.
        context: frames in step over which distances are averaged; 1 for none.
        calibrated: take temperature and floor from the demo itself: for demos of more than some 30 frames.
        temperature: of the matchers that have one; lower is stricter.
        floor: distance below which a frame counts as reached.
        encoder: its name, or one of `orcalign.encoders.make_encoder`.
        options: how videos are read.
    """
    names = (matcher,) if isinstance(matcher, str) else tuple(matcher)
    settings = ScoreSettings(names, distance, context, calibrated, temperature, floor)
    paths = [attempts] if isinstance(attempts, (str, os.PathLike)) else list(attempts)
    if not paths:
        raise ValueError("no attempt was given; name at least one video.")
    model = make_encoder(encoder) if isinstance(encoder, str) else encoder
    read = options or VideoOptions(longest=SHOWN)
    first, *others = [encode_file(Path(path), model, read) for path in (demo, *paths)]
    return score_clips(first, others, settings)


def as_json(sheet: ScoreSheet, encoder: Encoder) -> dict[str, Any]:
    """Every per-frame number of a sheet, for `json.dump`."""
    from orcalign import __version__

    rollouts = []
    for attempt in sheet.attempts:
        story, clip = attempt.story, attempt.clip
        nearest = attempt.cost.argmin(axis=1)
        for matcher, match in attempt.matches.items():
            rollouts.append(
                {
                    "path": clip.path,
                    "method": matcher,
                    "frames": len(clip.frames),
                    "fps": clip.fps,
                    "total": float(match.reward.sum()),
                    "final_coverage": story.final_coverage,
                    "final_progress": story.final_progress,
                    "quarters": list(story.quarters),
                    "longest_stall": story.longest_stall,
                    "reward": match.reward.tolist(),
                    "progress": attempt.progress.tolist(),
                    "position": np.asarray(story.position).tolist(),
                    "nearest_demo_frame": nearest.tolist(),
                    "nearest_cost": attempt.cost[np.arange(len(nearest)), nearest].tolist(),
                    "spans": [asdict(span) for span in story.spans],
                }
            )
    return {
        "orcalign": __version__,
        "demo": {
            "path": sheet.demo.path,
            "frames": len(sheet.demo.frames),
            "fps": sheet.demo.fps,
            **({} if sheet.demo.sentences is None else {"sentences": list(sheet.demo.sentences)}),
        },
        "settings": {
            "encoder": encoder.name,
            "encoder_size": encoder.size,
            "distance": sheet.settings.distance,
            "context": sheet.settings.context,
            "calibrated": sheet.calibrated,
            "temperature": sheet.temperature,
            "floor": sheet.floor,
        },
        "rollouts": rollouts,
    }


def score_page(sheet: ScoreSheet, encoder: Encoder) -> str:
    """A self-contained HTML page of the demo and every attempt, by every matcher."""
    from orcalign import __version__

    attempts = []
    names = [Path(attempt.clip.path).name for attempt in sheet.attempts]
    for k, attempt in enumerate(sheet.attempts):
        results = {
            matcher: PageResult(match.reward, match.assignment, float(match.reward.sum()), attempt.story)
            for matcher, match in attempt.matches.items()
        }
        clip = attempt.clip
        # Files of the same name are numbered.
        name = f"{names[k]} ({k + 1})" if names.count(names[k]) > 1 else names[k]
        attempts.append(PageAttempt(name, clip.frames, clip.fps, attempt.cost, results))
    settings = {
        "encoder": f"{encoder.name} at {encoder.size} px",
        "distance": f"{sheet.settings.distance}, context {sheet.settings.context}",
        "temperature": f"{sheet.temperature:.4g}{' (calibrated)' if sheet.calibrated else ''}",
        "floor": f"{sheet.floor:.4g}",
        "orcalign": __version__,
    }
    first = sheet.demo
    name = Path(first.path).name if first.sentences is None else first.path
    demo = PageClip(name, first.frames, first.fps, sentences=first.sentences)
    return render_page(PageData(demo, tuple(attempts), settings))
