"""Clips with a known course: a disc crosses a textured ground, and each attempt is a list of places it visits."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from orcalign.matching import context, cosine, matcher, orca
from orcalign.report.explainer import PageAttempt, PageClip, PageData, PageResult
from orcalign.rewards import tell

J = 90
HEIGHT, WIDTH = 120, 160
ORCA = {"temperature": 0.5, "floor": 0.05}
SHOWN = ("orca", "temporal_ot", "dtw")


def draw(places: npt.NDArray[np.float64], seed: int) -> npt.NDArray[np.uint8]:
    """Frames [T,H,W,3] of the disc at `places` in [0, 1] along a wave, and a lamp that changes on the way."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    coarse = np.kron(rng.integers(70, 130, (HEIGHT // 10, WIDTH // 10, 3)), np.ones((10, 10, 1)))
    ground = (coarse + 20 * np.sin(x / 9)[..., None]).astype(np.uint8)
    frames = np.repeat(ground[None], len(places), axis=0)
    for frame, place in zip(frames, places, strict=True):
        across, down = 18 + place * (WIDTH - 36), HEIGHT / 2 + 34 * np.sin(2 * np.pi * place)
        frame[(x - across) ** 2 + (y - down) ** 2 < 15**2] = (235, 90, 40)
        frame[6:18, 6:18] = (255 * place, 255 * (1 - place), 200)
    return frames


def features(frames: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
    """[T, D] Block means about the clip's mean, which is what moves."""
    T = len(frames)
    blocks = frames.reshape(T, HEIGHT // 10, 10, WIDTH // 10, 10, 3).mean(axis=(2, 4)).reshape(T, -1)
    return np.asarray(blocks - np.median(blocks, axis=0) + 4)


ALONG = np.arange(J)
COURSES: dict[str, npt.NDArray[np.int64]] = {
    "stalls and skips.mp4": np.concatenate([ALONG[:30], np.full(24, 29), ALONG[30:50], ALONG[70:]]),
    "goes back.mp4": np.concatenate([ALONG[:50], ALONG[50:25:-1], ALONG[25:80:2]]),
}
"""The demo frame that each attempt shows at each of its frames."""


@cache
def make_page() -> PageData:
    demo_frames = draw(ALONG / (J - 1), seed=0)
    demo_features = features(demo_frames)
    attempts = []
    for name, course in COURSES.items():
        frames = draw(course / (J - 1), seed=1)
        cost = context(cosine(features(frames), demo_features), 3)
        told = tell(cost, orca(cost, **ORCA))
        results = {}
        for shown in SHOWN:
            match = matcher(shown)(cost, **(ORCA if shown == "orca" else {}))
            results[shown] = PageResult(match.reward, match.assignment, float(match.reward.sum()), told)
        attempts.append(PageAttempt(name, frames, 30.0, cost, results))
    settings = {
        "encoder": "block means",
        "distance": "cosine",
        "context": "3 frames ahead",
        "orcalign": "0.1.0",
    }
    return PageData(PageClip("demo.mp4", demo_frames, 30.0), tuple(attempts), settings)
