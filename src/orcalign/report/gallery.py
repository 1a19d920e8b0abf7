"""A page with a picture of every task."""

from __future__ import annotations

import html
from collections.abc import Iterable

import numpy as np

from orcalign.envs import TaskSpec, demo_seed, rollout_expert
from orcalign.report.explainer.document import PagePart, render_document
from orcalign.report.explainer.embedding import embed_frames, image_tags

MOMENTS = np.array([0.0, 0.5, 1.0])
STYLE = """
.tasks { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 480px), 1fr)); gap: 1.5rem; }
.tasks div { display: flex; gap: 4px; } .tasks img { width: 33%; height: auto; border-radius: 4px; }
"""


def gallery_page(tasks: Iterable[TaskSpec], render: str = "fast", size: int = 192) -> str:
    """One self-contained HTML page: for each task the beginning, middle and end of an expert's episode."""
    rows = []
    for spec in tasks:
        frames = rollout_expert(spec, demo_seed(0), render, size).frames
        assert frames is not None
        clip = embed_frames(frames[np.round(MOMENTS * (len(frames) - 1)).astype(int)])
        camera = f", camera {spec.camera}" if spec.camera else ""
        facts = f"{spec.suite}, {spec.difficulty}, {spec.agent_steps} agent steps{camera}. Success: {spec.success}."
        name, told = html.escape(spec.name), html.escape(facts)
        pictures = image_tags(clip, [spec.name] * len(MOMENTS))
        rows.append(f'<section><h2>{name}</h2><p class="note">{told}</p><div>{pictures}</div></section>')
    said = f"Beginning, middle and end of an expert's episode, render mode {render}. By orcalign tasks --gallery."
    part = PagePart(f'<div class="tasks">{"".join(rows)}</div>', style=STYLE)
    return render_document("tasks", "Tasks", said, [part])
