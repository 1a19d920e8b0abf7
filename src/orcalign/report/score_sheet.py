"""A score sheet as JSON, and as a page."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from orcalign.encoders import Encoder
from orcalign.report.explainer import PageAttempt, PageClip, PageData, PageResult, PageVerdict, render_page
from orcalign.report.scoring import Attempt, ScoreSheet


def as_json(sheet: ScoreSheet, encoder: Encoder) -> dict[str, Any]:
    """Every per-frame number of a sheet, for `json.dump`: the best attempt first."""
    from orcalign import __version__

    rollouts = [_rollout(attempt, matcher) for attempt in sheet.ranking for matcher in attempt.matches]
    settings, demo = sheet.settings, sheet.demo
    said = {} if demo.sentences is None else {"sentences": list(demo.sentences)}
    return {
        "orcalign": __version__,
        "demo": {"path": demo.path, "frames": len(demo.frames), "fps": demo.fps, **said},
        "settings": {
            "paper": settings.paper,
            "encoder": encoder.name,
            "encoder_size": encoder.size,
            "distance": settings.of_paper("distance") if settings.paper else "worst places",
            "context": settings.of_paper("context") if settings.paper else 1,
            "calibrated": sheet.calibrated,
            "temperature": sheet.temperature,
            "floor": sheet.floor,
        },
        "rollouts": rollouts,
    }


def _rollout(attempt: Attempt, matcher: str) -> dict[str, Any]:
    story, clip, verdict, match = attempt.story, attempt.clip, attempt.verdict, attempt.matches[matcher]
    nearest = attempt.cost.argmin(axis=1)
    return {
        "path": clip.path,
        "matcher": matcher,
        "score": verdict.score if verdict else None,
        "done": verdict.done if verdict else None,
        "verdict": verdict.text if verdict else None,
        "camera_and_light": list(attempt.words),
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
        "worst": verdict.worst.tolist() if verdict else None,
        "spans": [asdict(span) for span in story.spans],
    }


def names_of(attempts: tuple[Attempt, ...]) -> list[str]:
    """File names; those that are the same are numbered."""
    names = [Path(attempt.clip.path).name for attempt in attempts]
    return [f"{name} ({k + 1})" if names.count(name) > 1 else name for k, name in enumerate(names)]


def score_page(sheet: ScoreSheet, encoder: Encoder) -> str:
    """A self-contained HTML page of the demo and every attempt, by every matcher: the best first."""
    from orcalign import __version__

    settings = sheet.settings
    attempts = []
    for name, attempt in zip(names_of(sheet.ranking), sheet.ranking, strict=True):
        results = {
            matcher: PageResult(match.reward, match.assignment, float(match.reward.sum()), attempt.story)
            for matcher, match in attempt.matches.items()
        }
        told = attempt.verdict
        verdict = None if told is None else PageVerdict(told.score, told.done, told.text, attempt.words)
        clip = attempt.clip
        attempts.append(PageAttempt(name, clip.frames, clip.fps, attempt.cost, results, verdict=verdict))
    said = {"encoder": f"{encoder.name} at {encoder.size} px"}
    if settings.paper:
        said["distance"] = f"{settings.of_paper('distance')}, context {settings.of_paper('context')}"
        said["temperature"] = f"{sheet.temperature:.4g}{' (calibrated)' if sheet.calibrated else ''}"
        said["floor"] = f"{sheet.floor:.4g}"
    else:
        said["distance"] = "worst places, in units of the demo"
    said["orcalign"] = __version__
    first = sheet.demo
    title = Path(first.path).name if first.sentences is None else first.path
    demo = PageClip(title, first.frames, first.fps, sentences=first.sentences)
    return render_page(PageData(demo, tuple(attempts), said))
