"""The page of `orcalign score`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from orcalign.encoders import Encoder
from orcalign.report.explainer import PageAttempt, PageClip, PageData, PageResult, render_page
from orcalign.report.scoring import ScoreSheet


def score_page(sheet: ScoreSheet, encoder: Encoder) -> str:
    """A self-contained HTML page of the demo and every attempt, by every method."""
    from orcalign import __version__

    attempts = []
    for attempt in sheet.attempts:
        results = {
            method: PageResult(match.reward, match.assignment, float(match.reward.sum()), attempt.story)
            for method, match in attempt.matches.items()
        }
        clip = attempt.clip
        attempts.append(PageAttempt(Path(clip.path).name, clip.frames, clip.fps, attempt.cost, results))
    settings = {
        "encoder": f"{encoder.name} at {encoder.size} px",
        "distance": f"{sheet.settings.distance}, context {sheet.settings.context}",
        "temperature": f"{sheet.temperature:.4g}{' (calibrated)' if sheet.settings.calibrated else ''}",
        "floor": f"{sheet.floor:.4g}",
        "orcalign": __version__,
    }
    demo = PageClip(Path(sheet.demo.path).name, sheet.demo.frames, sheet.demo.fps)
    return render_page(PageData(demo, tuple(_named_apart(attempts)), settings))


def _named_apart(attempts: list[PageAttempt]) -> list[PageAttempt]:
    """Number the attempts whose files have the same name."""
    names = [attempt.name for attempt in attempts]
    return [
        replace(attempt, name=f"{attempt.name} ({i + 1})") if names.count(attempt.name) > 1 else attempt
        for i, attempt in enumerate(attempts)
    ]
