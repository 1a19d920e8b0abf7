"""The page: template, style, script and data in one text."""

from __future__ import annotations

import html
import json
import math
import re
from importlib.resources import files
from typing import Any

from orcalign.report.explainer.data import PageAttempt, PageClip, PageData, PageResult, StoryLike
from orcalign.report.explainer.matrices import embed_matrix, followed
from orcalign.report.explainer.pictures import embed_frames

SCRIPTS = ("frames.js", "heatmap.js", "curve.js", "words.js", "page.js", "controls.js")
_SLOT = re.compile(r"\{\{(\w+)\}\}")


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
    slots = {
        # A file name may hold bytes that are no text; they must not keep the page from being written.
        "title": html.escape(_text(report.demo.name)),
        "style": _part("page.css"),
        "script": "\n".join(_part(name) for name in SCRIPTS),
        "data": _json(_report(report)),
    }
    # One pass: a slot's name inside the data is left as it is.
    return _SLOT.sub(lambda slot: slots[slot[1]], _part("page.html"))


def _part(name: str) -> str:
    return files("orcalign.report.explainer").joinpath(name).read_text("utf-8")


def _text(value: str) -> str:
    return value.encode("utf-8", "replace").decode("utf-8")


def _json(value: Any) -> str:
    """JSON that no HTML parser can mistake for the end of its script element."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _number(value: float) -> float | None:
    return float(f"{value:.6g}") if math.isfinite(value) else None


def _report(report: PageData) -> dict[str, Any]:
    return {
        "demo": _clip(report.demo),
        "attempts": [_attempt(attempt) for attempt in report.attempts],
        "settings": [[_text(name), _text(str(value))] for name, value in report.settings.items()],
    }


def _clip(clip: PageClip) -> dict[str, Any]:
    return {
        "name": _text(clip.name),
        "fps": float(clip.fps),
        "count": len(clip.frames),
        **embed_frames(clip.frames),
    }


def _attempt(attempt: PageAttempt) -> dict[str, Any]:
    return {
        "clip": _clip(attempt),
        # The cost is read off cell by cell, the assignment only seen as a colour.
        "cost": embed_matrix(attempt.cost, bits=16),
        "results": [_result(method, result, attempt) for method, result in attempt.results.items()],
    }


def _result(method: str, result: PageResult, attempt: PageAttempt) -> dict[str, Any]:
    return {
        "method": _text(method),
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
                "text": _text(span.text),
            }
            for span in sorted(story.spans, key=lambda span: (span.start, span.stop))
        ],
    }
