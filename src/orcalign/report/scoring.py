"""Video files in, scores and their story out: what `orcalign score` and `orcalign check` show."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from orcalign.costs import FrameModel
from orcalign.encoders import Encoder, encode_stream, make_encoder
from orcalign.matching import Match, OrcaMatch
from orcalign.matching import matcher as find_matcher
from orcalign.matching.match import FloatArray
from orcalign.rewards import Story, VideoReward
from orcalign.video import Demo, VideoOptions, count_frames, is_demo, iter_frames, load_demo

Frames = npt.NDArray[np.uint8]
Progress = Callable[[int], None]
"""Told how many frames of a clip are done."""

SHOWN = 320
"""Longer side, in pixels, at which videos are read: enough for the encoders and for the page."""
CHUNK = 16


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
class EncodedClip:
    """A video as it is shown and as the encoder sees it."""

    path: str
    frames: Frames
    """[T, H, W, 3]"""
    fps: float
    features: FloatArray
    """[T, D]"""
    seconds: float
    """How long reading and encoding took."""


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


def encode_file(
    path: Path, encoder: Encoder, options: VideoOptions, progress: Progress | None = None
) -> EncodedClip:
    """Read and encode a video at the same time; a saved demo is used as it is."""
    start = time.perf_counter()
    source: DemoFrames | VideoFrames = DemoFrames(path) if is_demo(path) else VideoFrames(path, options)
    features = encode_stream(encoder, source.chunks(), progress=progress, expected=source.expected)
    frames = source.frames()
    if len(frames) < 2:
        raise ValueError(f"'{path}' has one frame only; a demo or an attempt needs at least two.")
    return EncodedClip(str(path), frames, source.fps(), features, time.perf_counter() - start)


class DemoFrames:
    """The frames of a saved demo, in chunks."""

    def __init__(self, path: Path) -> None:
        self._demo = load_demo(path)
        self.expected = len(self._demo)

    def chunks(self) -> Iterator[Frames]:
        """Frames [CHUNK, H, W, 3], one after the other."""
        for first in range(0, len(self._demo), CHUNK):
            yield self._demo.frames[first : first + CHUNK]

    def frames(self) -> Frames:
        """All frames [T, H, W, 3]."""
        return self._demo.frames

    def fps(self) -> float:
        """As the demo says."""
        return self._demo.fps


class VideoFrames:
    """The frames of a video in chunks, kept where they are read to, so that nothing is copied twice."""

    def __init__(self, path: Path, options: VideoOptions) -> None:
        self._path, self._options = path, options
        self.expected = count_frames(path, options) or 0
        self._blocks: list[Frames] = []
        self._times: list[float] = []
        self._used = 0

    def chunks(self) -> Iterator[Frames]:
        """Frames [CHUNK, H, W, 3], one after the other, while they are decoded."""
        first = 0
        for frame in iter_frames(self._path, self._options):
            if not self._blocks or self._used == len(self._blocks[-1]):
                if self._used > first:
                    yield self._blocks[-1][first : self._used]
                # A header may be off by a frame or two; a second block of one frame would cost a copy of all.
                size = self.expected + 8 if not self._blocks else 16 * CHUNK
                self._blocks.append(np.empty((size, *frame.image.shape), np.uint8))
                first = self._used = 0
            self._blocks[-1][self._used] = frame.image
            self._times.append(frame.time)
            self._used += 1
            if self._used - first == CHUNK:
                yield self._blocks[-1][first : self._used]
                first = self._used
        if self._used > first:
            yield self._blocks[-1][first : self._used]

    def frames(self) -> Frames:
        """All frames [T, H, W, 3], once the chunks have been read."""
        full = [*self._blocks[:-1], self._blocks[-1][: self._used]]
        return full[0] if len(full) == 1 else np.concatenate(full)

    def fps(self) -> float:
        """Frames per second, by their times."""
        span = self._times[-1] - self._times[0]
        return (len(self._times) - 1) / span if span > 0 else self._options.still_fps


def require_same_shape(demo: EncodedClip, attempt: EncodedClip) -> None:
    """Refuse to compare pictures of different shape: the encoder would see one of them stretched."""
    shapes = [clip.frames.shape[1:3] for clip in (demo, attempt)]
    (demo_height, demo_width), (height, width) = shapes
    if abs(demo_width / demo_height - width / height) > 0.02 * width / height:
        raise ValueError(
            f"'{demo.path}' is {demo_width}x{demo_height} and '{attempt.path}' {width}x{height} pixels (as read); "
            f"pictures of different shape cannot be compared. Add --crop to cut both to their centre square."
        )


def score_clips(demo: EncodedClip, attempts: Sequence[EncodedClip], settings: ScoreSettings) -> ScoreSheet:
    """Match every attempt with the demo by every matcher."""
    reward = clip_reward(demo, settings)
    scored = []
    for clip in attempts:
        require_same_shape(demo, clip)
        match = reward.score_features(clip.features)
        matches = {
            name: reward.with_matcher(name).score_costs(match.raw_costs).match for name in settings.matchers
        }
        ordered = cast(OrcaMatch, match.match)
        scored.append(Attempt(clip, match.cost, matches, ordered.progress, reward.story(match)))
    used = reward.matcher_settings[0]
    return ScoreSheet(demo, tuple(scored), settings, used["temperature"], used["floor"])


def clip_reward(demo: EncodedClip, settings: ScoreSettings) -> VideoReward:
    """ORCA's reward from the demo; other matchers are `with_matcher` of it."""
    video = Demo(demo.frames, demo.fps, source=demo.path)
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
        for method, match in attempt.matches.items():
            rollouts.append(
                {
                    "path": clip.path,
                    "method": method,
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
                    "spans": [
                        {
                            "kind": span.kind,
                            "start": span.start,
                            "stop": span.stop,
                            "demo_start": span.demo_start,
                            "demo_stop": span.demo_stop,
                            "text": span.text,
                        }
                        for span in story.spans
                    ],
                }
            )
    return {
        "orcalign": __version__,
        "demo": {"path": sheet.demo.path, "frames": len(sheet.demo.frames), "fps": sheet.demo.fps},
        "settings": {
            "encoder": encoder.name,
            "encoder_size": encoder.size,
            "distance": sheet.settings.distance,
            "context": sheet.settings.context,
            "calibrated": sheet.settings.calibrated,
            "temperature": sheet.temperature,
            "floor": sheet.floor,
        },
        "rollouts": rollouts,
    }
