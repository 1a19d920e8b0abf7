"""A page that shows, frame by frame, why a score is what it is; one file, no network."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from orcalign.report.explainer.document import PagePart, as_text, part_text, render_document
from orcalign.report.explainer.embedding import CLIP_BYTES, FloatArray, embed_frames, embed_matrix
from orcalign.rewards import Story

SCRIPTS = ("frames.js", "heatmap.js", "curve.js", "words.js", "page.js", "controls.js")


@dataclass(frozen=True, eq=False)
class PageClip:
    """A video to show."""

    name: str
    frames: npt.NDArray[np.uint8]
    """[T, H, W, 3]"""
    fps: float
    sentences: tuple[str, ...] | None = field(default=None, kw_only=True)
    """[T] What a demo's frames stand for, if they are goals in words; "" for a picture among them."""


@dataclass(frozen=True, eq=False)
class PageResult:
    """What one matcher made of one attempt."""

    reward: FloatArray
    """[T]"""
    assignment: FloatArray
    """[T, J] As in `matching.Match`."""
    total: float
    story: Story
    """What happened, by ordered coverage, whatever the matcher."""


@dataclass(frozen=True)
class PageVerdict:
    """What an attempt amounts to."""

    score: float
    """From 0 to 1."""
    done: bool
    text: str
    """Such as "stopped at 60%"."""
    words: tuple[str, ...] = ()
    """What of camera and light was corrected."""


@dataclass(frozen=True, eq=False)
class PageAttempt(PageClip):
    """A learner's video with its costs and one result for each matcher."""

    cost: FloatArray
    """[T, J] Distance of learner frame t to demo frame j."""
    results: Mapping[str, PageResult]
    wanted: npt.NDArray[np.int64] | None = None
    """[T] The demo frame that the learner goes for, where it is told one."""
    verdict: PageVerdict | None = None


@dataclass(frozen=True, eq=False)
class PageData:
    """Everything that the page shows."""

    demo: PageClip
    attempts: tuple[PageAttempt, ...]
    settings: Mapping[str, str] = field(default_factory=dict)
    """Shown at the end: encoder, distance, versions, …"""


def render_page(report: PageData) -> str:
    """One self-contained HTML page that opens from the file system and asks no network for anything.

    It has both videos under one slider, the reward curve, the cost and assignment heatmaps and a table of all
    attempts and matchers. The same data gives the same text. Needs PyAV, for the pictures.

    Size: at most 3.6 MB for each clip of up to some thousand frames, plus 2.7 bytes for each cell of the cost
    and 1.3 for each cell and matcher.

    >>> from orcalign.matching import orca
    >>> from orcalign.rewards import tell
    >>> frames, cost = np.zeros((2, 8, 8, 3), np.uint8), np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> match = orca(cost)
    >>> result = PageResult(match.reward, match.assignment, float(match.reward.sum()), tell(cost, match))
    >>> page = render_page(
    ...     PageData(PageClip("demo", frames, 30), (PageAttempt("try", frames, 30, cost, {"orca": result}),))
    ... )
    >>> page[:15], "http://" in page
    ('<!doctype html>', False)
    """
    count = len(report.attempts)
    attempts = "1 attempt" if count == 1 else f"{count} attempts"
    of = "goals" if report.demo.sentences else "frames"
    subtitle = f"Demo: {report.demo.name} · {len(report.demo.frames)} {of} · {attempts}"
    return render_document(report.demo.name, "How well was the demo followed?", subtitle, [explainer_part(report)])


def explainer_part(report: PageData, clip_bytes: int = CLIP_BYTES) -> PagePart:
    """The explainer as a part of a larger page; each clip's pictures take at most `clip_bytes` before base64."""
    shown = {
        "demo": _clip(report.demo, clip_bytes),
        "attempts": [_attempt(attempt, clip_bytes) for attempt in report.attempts],
        "settings": [[as_text(name), as_text(str(value))] for name, value in report.settings.items()],
    }
    script = "\n".join(part_text(__name__, name) for name in SCRIPTS)
    return PagePart(part_text(__name__, "page.html"), script, data={"report": shown})


def followed(result: PageResult, cost: FloatArray) -> npt.NDArray[np.int64]:
    """[T] The demo frame to show beside each learner frame.

    It is the one that the matcher matches most with t, and of several equally matched the one at the least
    cost. Ordered coverage names none, its rows only fall (C[t, 0] is always the greatest): the position that
    the story tells is taken then.
    """
    assignment = result.assignment
    if (np.diff(assignment, axis=1) <= 0).all():
        return np.asarray(np.clip(result.story.position, 0, assignment.shape[1] - 1), np.int64)
    best = assignment >= assignment.max(axis=1, keepdims=True)
    return np.asarray(np.where(best, cost, np.inf).argmin(axis=1), np.int64)


def _number(value: float) -> float | None:
    return float(f"{value:.6g}") if math.isfinite(value) else None


def _clip(clip: PageClip, clip_bytes: int) -> dict[str, Any]:
    pictures = embed_frames(clip.frames, clip_bytes)
    said = None if clip.sentences is None else [as_text(one) or "a picture" for one in clip.sentences]
    about = {"name": as_text(clip.name), "fps": float(clip.fps), "count": len(clip.frames)}
    return {**about, **({} if said is None else {"sentences": said}), **pictures}


def _attempt(attempt: PageAttempt, clip_bytes: int) -> dict[str, Any]:
    return {
        "clip": _clip(attempt, clip_bytes),
        # The cost is read off cell by cell, the assignment only seen as a colour.
        "cost": embed_matrix(attempt.cost, bits=16),
        "results": [_result(matcher, result, attempt) for matcher, result in attempt.results.items()],
        "wanted": None if attempt.wanted is None else attempt.wanted.tolist(),
        "verdict": None if attempt.verdict is None else _verdict(attempt.verdict),
    }


def _verdict(verdict: PageVerdict) -> dict[str, Any]:
    words = [as_text(word) for word in verdict.words]
    return {"score": f"{verdict.score:.2f}", "done": verdict.done, "text": as_text(verdict.text), "words": words}


def _result(matcher: str, result: PageResult, attempt: PageAttempt) -> dict[str, Any]:
    story = result.story
    return {
        "matcher": as_text(matcher),
        "total": _number(result.total),
        "reward": [_number(value) for value in result.reward],
        "assignment": embed_matrix(result.assignment, bits=8),
        "followed": followed(result, attempt.cost).tolist(),
        "story": {
            "coverage": _number(story.final_coverage),
            "quarters": story.quarters,
            "stall": story.longest_stall,
            "spans": [
                {"kind": span.kind, "start": span.start, "stop": span.stop, "text": as_text(span.text)}
                for span in sorted(story.spans, key=lambda span: (span.start, span.stop))
            ],
        },
    }
