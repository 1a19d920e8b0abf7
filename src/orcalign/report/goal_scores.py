"""Attempts beside what was said: goals in words as a demo, or one sentence as a number for every frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orcalign.costs.goals import embed_goals
from orcalign.encoders import Encoder
from orcalign.matching.match import FloatArray
from orcalign.report.clip_scores import STYLE, curve, strip
from orcalign.report.clips import EncodedClip
from orcalign.report.explainer.document import PagePart, render_document, safe
from orcalign.rewards.text.reward import TextReward
from orcalign.rewards.text.settings import TextSettings
from orcalign.video import Demo


def goal_clip(demo: Demo, encoder: Encoder, reader: Any) -> EncodedClip:
    """Goals as a demo that attempts are scored against."""
    features = embed_goals(demo, encoder, reader)
    return EncodedClip(demo.source, demo.frames, demo.fps, sentences=demo.sentences, features=features)


@dataclass(frozen=True, eq=False)
class TextScores:
    """Attempts, and how much each of their frames is like one goal."""

    goal: Demo
    start: str
    attempts: tuple[EncodedClip, ...]
    similarity: tuple[FloatArray, ...]
    """[T] of each."""
    encoder: Encoder


def score_text(
    goal: Demo, attempts: Sequence[EncodedClip], encoder: Encoder, reader: Any, start: str = ""
) -> TextScores:
    """Compare every frame with the goal, from a start sentence if there is one."""
    reward = TextReward([goal], TextSettings(start), (encoder, reader))
    found = tuple(reward.similarities(clip.features) for clip in attempts)
    return TextScores(goal, reward.settings.start, tuple(attempts), found, encoder)


def text_json(scores: TextScores) -> dict[str, Any]:
    """Every number, for `json.dump`."""
    from orcalign import __version__

    return {
        "orcalign": __version__,
        "goal": scores.goal.source,
        "settings": {"recipe": "liv", "encoder": scores.encoder.name, "start": scores.start},
        "rollouts": [
            {"path": clip.path, "frames": len(clip.frames), "fps": clip.fps, "similarity": alike.tolist()}
            for clip, alike in zip(scores.attempts, scores.similarity, strict=True)
        ],
    }


def text_page(scores: TextScores) -> str:
    """A self-contained HTML page: each attempt above a curve, all in one scale."""
    goal, name = scores.goal.source, scores.encoder.name
    said = f"How much each frame is like “{goal}”: the cosine of two embeddings by {name}."
    if scores.start:
        said = f"How far each frame is on the way from “{scores.start}” (0) to “{goal}” (1), by {name}."
    note = f"{said} What a cosine means differs from model to model and from sentence to sentence: compare attempts."
    parts = [PagePart(f'<p class="note">{safe(note)}</p>', style=STYLE)]
    low = min(min(0.0, float(one.min())) for one in scores.similarity)
    high = max(max(0.0, float(one.max())) for one in scores.similarity)
    for clip, alike in zip(scores.attempts, scores.similarity, strict=True):
        below = (
            f"{curve(alike, 'similarity of every frame', (low, high))}"
            f'<p class="note">mean {alike.mean():.3f}, at the end {alike[-1]:.3f}, highest {alike.max():.3f} in frame '
            f"{int(alike.argmax())}</p>"
        )
        parts.append(strip(Path(clip.path).name, Demo(clip.frames), below))
    return render_document(f"attempts at {goal}", "How much do they look like what was said?", goal, parts)
