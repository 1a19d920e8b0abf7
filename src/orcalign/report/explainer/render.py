"""What the page shows, as a part with its markup, script and data."""

from __future__ import annotations

import math
from typing import Any

from orcalign.report.explainer.data import PageAttempt, PageClip, PageData, PageResult, StoryLike
from orcalign.report.explainer.document import PagePart, as_text, part_text, render_document
from orcalign.report.explainer.matrices import embed_matrix, followed
from orcalign.report.explainer.pictures import CLIP_BYTES, embed_frames

SCRIPTS = ("frames.js", "heatmap.js", "curve.js", "words.js", "page.js", "controls.js")
PACKAGE = "orcalign.report.explainer"


def render_page(report: PageData) -> str:
    """One self-contained HTML page that opens from the file system and asks no network for anything.

    It has both videos under one slider, the reward curve, the cost and assignment heatmaps and a table of all
    attempts and methods. The same data gives the same text. Needs PyAV, for the pictures.

    Size: at most 3.6 MB for each clip of up to some thousand frames, plus 2.7 bytes for each cell of the cost
    and 1.3 for each cell and method.

    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> from orcalign.matching import orca
    >>> frames, cost = np.zeros((2, 8, 8, 3), np.uint8), np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> story = SimpleNamespace(
    ...     final_coverage=1.0, quarters=(0, 0, 1, 1), longest_stall=0, position=[0, 1], spans=()
    ... )
    >>> match = orca(cost)
    >>> result = PageResult(match.reward, match.assignment, float(match.reward.sum()), story)
    >>> page = render_page(
    ...     PageData(PageClip("demo", frames, 30), (PageAttempt("try", frames, 30, cost, {"orca": result}),))
    ... )
    >>> page[:15], "http://" in page
    ('<!doctype html>', False)
    """
    count = len(report.attempts)
    attempts = "1 attempt" if count == 1 else f"{count} attempts"
    subtitle = f"Demo: {report.demo.name} · {len(report.demo.frames)} frames · {attempts}"
    return render_document(
        report.demo.name, "How well was the demo followed?", subtitle, [explainer_part(report)]
    )


def explainer_part(report: PageData, clip_bytes: int = CLIP_BYTES) -> PagePart:
    """The explainer as a part of a larger page; each clip's pictures take at most `clip_bytes` before base64."""
    return PagePart(
        part_text(PACKAGE, "page.html"),
        "\n".join(part_text(PACKAGE, name) for name in SCRIPTS),
        data={"report": _report(report, clip_bytes)},
    )


def _number(value: float) -> float | None:
    return float(f"{value:.6g}") if math.isfinite(value) else None


def _report(report: PageData, clip_bytes: int) -> dict[str, Any]:
    return {
        "demo": _clip(report.demo, clip_bytes),
        "attempts": [_attempt(attempt, clip_bytes) for attempt in report.attempts],
        "settings": [[as_text(name), as_text(str(value))] for name, value in report.settings.items()],
    }


def _clip(clip: PageClip, clip_bytes: int) -> dict[str, Any]:
    return {
        "name": as_text(clip.name),
        "fps": float(clip.fps),
        "count": len(clip.frames),
        **embed_frames(clip.frames, clip_bytes),
    }


def _attempt(attempt: PageAttempt, clip_bytes: int) -> dict[str, Any]:
    return {
        "clip": _clip(attempt, clip_bytes),
        # The cost is read off cell by cell, the assignment only seen as a colour.
        "cost": embed_matrix(attempt.cost, bits=16),
        "results": [_result(method, result, attempt) for method, result in attempt.results.items()],
    }


def _result(method: str, result: PageResult, attempt: PageAttempt) -> dict[str, Any]:
    return {
        "method": as_text(method),
        "total": _number(result.total),
        "reward": [_number(value) for value in result.reward],
        "assignment": embed_matrix(result.assignment, bits=8),
        "followed": followed(result, attempt.cost).tolist(),
        "story": _story(result.story, len(attempt.frames)),
    }


def _story(story: StoryLike, T: int) -> dict[str, Any]:
    return {
        "coverage": _number(story.final_coverage),
        "quarters": [None if frame is None else int(frame) for frame in story.quarters],
        "stall": int(story.longest_stall),
        "spans": [
            {
                "kind": span.kind,
                "start": min(max(int(span.start), 0), T - 1),
                "stop": min(max(int(span.stop), 0), T),
                "text": as_text(span.text),
            }
            for span in sorted(story.spans, key=lambda span: (span.start, span.stop))
        ],
    }
