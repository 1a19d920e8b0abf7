"""One episode after the other → labels: decoded ahead, encoded, and matched with the demo."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from orcalign.checks import near_miss, require
from orcalign.datasets.labels import Labels
from orcalign.datasets.lerobot import DataSet, Episode
from orcalign.encoders import encode_stream, make_encoder
from orcalign.encoders.backbone import fetch_ahead
from orcalign.matching.match import FloatArray
from orcalign.report.clips import CHUNK, SHOWN, Frames
from orcalign.report.explainer.embedding import embed_frames
from orcalign.rewards import Story, VideoMatch, VideoReward
from orcalign.video import Demo, VideoOptions, iter_frames, load_demo, read_video

MATCHERS = ("bottleneck", "orca", "orca_progress")
"""Those whose assignment is what has been covered in order, and the default first."""
PICTURE_BYTES = 2500
WITHIN = 0.25
"""Share of a frame's time after which it is asked for: clocks that round are forgiven on either side."""
LONGEST = 1_000_000
"""Frames of one episode."""
Told = Callable[[int], None]
"""Told how many frames more are done."""


@dataclass(frozen=True)
class LabelSettings:
    """How episodes are compared with the demo."""

    matcher: str = MATCHERS[0]
    distance: str = "cosine"
    context: int = 1
    encoder: str = "efficientnet-lite0"
    size: int | None = None
    weights: str | None = None
    engine: str = "auto"
    crop: bool = False
    """Cut the largest centred square out of each picture."""

    def __post_init__(self) -> None:
        require("matcher", self.matcher, MATCHERS)


@dataclass(frozen=True, eq=False)
class LabelOrder:
    """All that decides the labels of a data set; it can travel to another machine."""

    dataset: DataSet
    demo: Demo
    demo_name: str
    """As it was given."""
    settings: LabelSettings = LabelSettings()

    @property
    def demo_number(self) -> int | None:
        """Its episode, if it is one of the data set."""
        kind, _, number = self.demo_name.partition(":")
        return int(number) if kind == "episode" else None

    @property
    def model(self) -> str:
        """What the labels come from, in words."""
        from orcalign import __version__

        one = self.settings
        return f"orcalign-{__version__}/{one.matcher}/{one.encoder}/{self.demo_name}"


def read_demo(dataset: DataSet, given: str, crop: bool = False) -> Demo:
    """The demo: an episode of the data set as "episode:K", or a video.

    >>> read_demo(DataSet(Path("d"), "d", "v3.0", 10.0, "top", ()), "epsode:3")
    Traceback (most recent call last):
    ...
    ValueError: the demo is 'epsode:3'; did you mean 'episode:3'? It must be episode:K or a video that exists.
    """
    kind, _, number = given.partition(":")
    if kind == "episode" and number.isdecimal():
        episode = dataset.episode(int(number))
        clip = read_video(episode.video, frames_of(dataset, episode, crop))
        require_whole(episode, len(clip.frames))
        return Demo(clip.frames, dataset.fps, source=f"{dataset.name} episode {number}", camera=dataset.camera)
    if not Path(given).exists():
        near = near_miss(given, [f"episode:{number}"])
        raise ValueError(f"the demo is {given!r};{near} It must be episode:K or a video that exists.")
    return load_demo(given, VideoOptions(longest=SHOWN, centre_crop=crop))


def frames_of(dataset: DataSet, episode: Episode, crop: bool = False) -> VideoOptions:
    """How to read the episode's pictures out of its file."""
    period = 1 / dataset.fps
    return VideoOptions(
        start=episode.begins + WITHIN * period,
        end=episode.begins + (episode.length - 0.5) * period,
        fps=dataset.fps,
        longest=SHOWN,
        centre_crop=crop,
        max_frames=LONGEST,
        max_bytes=2**40,
    )


def require_whole(episode: Episode, frames: int) -> None:
    """Refuse a video that ends before its episode does."""
    if frames != episode.length:
        raise ValueError(
            f"{str(episode.video)!r} has {frames} of the {episode.length} frames of episode {episode.number}, which "
            f"begins at {episode.begins:.3f} s; download or record it again."
        )


class Labeller:
    """Made once, by what an order says."""

    def __init__(self, order: LabelOrder, announce: Callable[[str], None] | None = None) -> None:
        self.order, one = order, order.settings
        self.encoder = make_encoder(
            one.encoder, size=one.size, weights=one.weights, engine=one.engine, announce=announce
        )
        # The one place where the matcher of labels is chosen.
        self.reward = VideoReward(
            order.demo, self.encoder, one.distance, one.context, matcher=one.matcher, calibrated=True
        )

    @property
    def fingerprint(self) -> str:
        """Of all that labels depend on: labels of another one are not these."""
        dataset = self.order.dataset
        videos = sorted({one.video for one in dataset.episodes})
        there = [[os.path.relpath(path, dataset.root), path.stat().st_size] for path in videos]
        episodes = [[one.number, one.start, one.length, one.begins] for one in dataset.episodes]
        settings = {**asdict(self.order.settings), "engine": None, "encoder": self.encoder.fingerprint}
        about = [1, self.order.demo.sha256, settings, dataset.camera, dataset.fps, there, episodes]
        return hashlib.sha256(json.dumps(about).encode()).hexdigest()

    def __call__(self, episodes: Iterable[Episode], told: Told | None = None) -> Iterator[Labels]:
        """Labels of one episode after the other; the pictures of the next are read while this one is encoded."""
        crop = self.order.settings.crop
        fetched = fetch_ahead(_chunks(self.order.dataset, episodes, crop), ahead=8)
        try:
            for episode, group in itertools.groupby(fetched, key=lambda pair: pair[0]):
                seen = _Seen(group, episode.length, told)
                features = encode_stream(self.encoder, seen, expected=episode.length)
                require_whole(episode, seen.frames)
                yield self.label(episode, features, seen.last)
        finally:
            fetched.close()

    def label(self, episode: Episode, features: FloatArray, last: Frames) -> Labels:
        """Labels of an episode from its features [T, D] and its last frame [H,W,3]."""
        match = self.reward.score_features(features)
        story = self.reward.story(match)
        picture = embed_frames(last[None], PICTURE_BYTES)
        dense, sparse, score = progress(match, story)
        return Labels(
            episode.number,
            episode.start,
            dense,
            sparse,
            match.reward.astype(np.float32),
            score,
            {
                "quarters": story.quarters,
                "stall": story.longest_stall,
                "words": [span.text for span in story.spans],
            },
            b64decode(picture["pictures"][0]),
            picture["type"],
        )


def progress(match: VideoMatch, story: Story) -> tuple[Any, Any, float]:
    """Dense and sparse progress [T], and the score: half for the demo's end, half for all of it.

    Covered in order are the demo's frames by their mean coverage; where the robot is now, the story says.
    """
    coverage = match.match.assignment
    sparse = coverage.mean(axis=1).clip(0, 1)
    score = float(0.5 * coverage[-1, -1] + 0.5 * sparse[-1])
    return story.place(sparse).astype(np.float32), sparse.astype(np.float32), score


class _Seen:
    """The chunks of one episode on their way to the encoder: how many frames, and the last one."""

    last: Frames

    def __init__(self, group: Iterator[tuple[Episode, Frames]], length: int, told: Told | None) -> None:
        self._group, self._length, self._told, self.frames = group, length, told, 0

    def __iter__(self) -> Iterator[Frames]:
        for _, chunk in self._group:
            self.frames, self.last = self.frames + len(chunk), chunk[-1]
            yield chunk
            if self._told is not None:
                self._told(len(chunk))
            # To look for more would be to wait for the next episode, and to fail with it.
            if self.frames >= self._length:
                return


def _chunks(dataset: DataSet, episodes: Iterable[Episode], crop: bool) -> Iterator[tuple[Episode, Frames]]:
    """Frames [CHUNK, H, W, 3] of one episode after the other."""
    for episode in episodes:
        pictures = iter_frames(episode.video, frames_of(dataset, episode, crop))
        while block := list(itertools.islice(pictures, CHUNK)):
            yield episode, np.stack([frame.image for frame in block])
