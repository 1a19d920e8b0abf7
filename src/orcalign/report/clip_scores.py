"""Whole clips compared with a demo's: one number each, and a page with one bar each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from orcalign.encoders.clips.protocol import ClipEncoder
from orcalign.report.clips import SHOWN
from orcalign.report.explainer.document import PagePart, render_document, safe
from orcalign.report.explainer.embedding import embed_frames, image_tags
from orcalign.rewards import Evidence, Rollout
from orcalign.rewards.clip.reward import ClipReward
from orcalign.video import Demo, VideoOptions, is_demo, load_demo

STRIP, STRIP_BYTES = 10, 400_000
"""Frames that are shown of each clip, and what they may take of the page."""
STYLE = """.clip > div:first-of-type { display: flex; gap: 3px; }
.clip svg { display: block; width: 100%; height: 110px; color: var(--accent); }
.clip img { flex: 1 1 0; min-width: 0; height: auto; align-self: flex-start; border-radius: 3px; }
.one-bar { height: 22px; background: var(--panel); border-radius: 4px; margin: 6px 0; }
.one-bar i { display: block; height: 100%; background: var(--accent); border-radius: 4px; }"""


@dataclass(frozen=True, eq=False)
class ClipScores:
    """A demo, attempts, and how much each is like the demo."""

    demo: Demo
    attempts: tuple[Demo, ...]
    similarity: tuple[float, ...]
    """Cosine of the embeddings of demo and attempt."""
    encoder: ClipEncoder


def score_whole(
    demo: Path,
    attempts: Sequence[Path],
    encoder: ClipEncoder,
    options: VideoOptions | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> ClipScores:
    """Embed each clip once, and compare it with the demo's; `tell` is told what is being looked at."""
    shown = _read(demo, options)
    tell(f"looking at {demo}")
    reward = ClipReward([shown], encoder=encoder)
    found, told = [], []
    for path in attempts:
        clip = _read(path, options)
        tell(f"looking at {path}")
        found.append(clip)
        kept = reward.observe(Rollout(len(clip), clip.frames))
        told.append(reward.similarity(Evidence(len(clip), kept)))
    return ClipScores(shown, tuple(found), tuple(told), encoder)


def _read(path: Path, options: VideoOptions | None) -> Demo:
    return load_demo(path) if is_demo(path) else Demo.from_video(path, options or VideoOptions(longest=SHOWN))


def clip_json(scores: ClipScores) -> dict[str, Any]:
    """Every number, for `json.dump`."""
    from orcalign import __version__

    def about(clip: Demo) -> dict[str, Any]:
        return {"path": clip.source, "frames": len(clip), "fps": clip.fps}

    encoder = scores.encoder
    return {
        "orcalign": __version__,
        "demo": about(scores.demo),
        "settings": {
            "recipe": "roboclip", "network": encoder.name, "frames": encoder.frames, "substitute": encoder.substitute
        },
        "rollouts": [
            {**about(clip), "similarity": value} for clip, value in zip(scores.attempts, scores.similarity, strict=True)
        ],
    }  # fmt: skip


def clip_page(scores: ClipScores) -> str:
    """A self-contained HTML page: the demo, and each attempt above one bar."""
    encoder = scores.encoder
    said = f"RoboCLIP: one number for a whole clip, the cosine of two embeddings by {encoder.name}"
    if encoder.substitute:
        said += f", {encoder.substitute}"
    parts = [PagePart(f'<p class="note">{safe(said)}. It says nothing of any single frame.</p>', style=STYLE)]
    parts.append(strip(f"demo: {Path(scores.demo.source).name}", scores.demo, ""))
    for clip, value in zip(scores.attempts, scores.similarity, strict=True):
        below = f'{bar(value)}<p class="note">{value:.3f}</p>'
        parts.append(strip(Path(clip.source).name, clip, below))
    name = Path(scores.demo.source).name
    return render_document(f"attempts at {name}", "How much are they like the video?", name, parts)


def curve(values: npt.ArrayLike, label: str, ends: tuple[float, float] | None = None) -> str:
    """A number for each frame [T] as a line, with a grey one at 0; from lowest to highest, or between those ends.

    >>> curve([0.0, 1.0], "reward")[:42]
    '<svg viewBox="0 0 1000 120" preserveAspect'
    """
    drawn = np.asarray(values, np.float64)
    low, high = ends or (min(0.0, float(drawn.min())), max(0.0, float(drawn.max())))
    zero, *heights = (118 - 116 * (value - low) / ((high - low) or 1.0) for value in (0.0, *drawn))
    points = " ".join(f"{1000 * (t + 0.5) / len(drawn):.1f},{height:.1f}" for t, height in enumerate(heights))
    return (
        f'<svg viewBox="0 0 1000 120" preserveAspectRatio="none" role="img" aria-label="{safe(label)}">'
        f'<path d="M0 {zero:.1f}H1000" stroke="var(--line)" vector-effect="non-scaling-stroke"/>'
        f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="2" '
        f'vector-effect="non-scaling-stroke"/></svg>'
    )


def strip(name: str, clip: Demo, below: str) -> PagePart:
    """Some frames of a clip, and what stands below them."""
    chosen = np.linspace(0, len(clip) - 1, min(STRIP, len(clip))).round().astype(int)
    pictures = image_tags(embed_frames(clip.frames[chosen], STRIP_BYTES), [f"frame {t}" for t in chosen])
    return PagePart(f'<section class="clip"><h3>{safe(name)}</h3><div>{pictures}</div>{below}</section>')


def bar(value: float) -> str:
    """One bar, from 0 to the value; the whole width is 1.

    >>> bar(0.5)[:60]
    '<div class="one-bar" role="img" aria-label="0.500 of 1"><i s'
    """
    share = 100 * min(1.0, max(0.0, value))
    return f'<div class="one-bar" role="img" aria-label="{value:.3f} of 1"><i style="width:{share:.1f}%"></i></div>'
