"""A page with a picture of every task."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence

import numpy as np

from orcalign.envs import TaskSpec, demo_seed, rollout_expert
from orcalign.report.explainer.embedding import embed_frames

MOMENTS = (0.0, 0.5, 1.0)


def gallery_page(
    tasks: Sequence[TaskSpec],
    render: str = "fast",
    size: int = 192,
    progress: Callable[[], None] | None = None,
) -> str:
    """One self-contained HTML page: for each task the beginning, middle and end of an expert's episode."""
    rows = []
    for spec in tasks:
        frames = rollout_expert(spec, demo_seed(0), render, size).frames
        assert frames is not None
        shown = embed_frames(frames[np.round(np.array(MOMENTS) * (len(frames) - 1)).astype(int)])
        source = [f"data:{shown['type']};base64,{shown['pictures'][i]}" for i in shown["order"]]
        name = html.escape(spec.name)
        pictures = "".join(f'<img alt="{name}" src="{text}">' for text in source)
        rows.append(
            f"<section><h2>{name}</h2><p>{html.escape(_facts(spec))}</p><div>{pictures}</div></section>"
        )
        if progress is not None:
            progress()
    return _PAGE.replace("ROWS", "\n".join(rows)).replace("RENDER", render)


def _facts(spec: TaskSpec) -> str:
    camera = f", camera {spec.camera}" if spec.camera else ""
    return (
        f"{spec.suite}, {spec.difficulty}, {spec.agent_steps} agent steps{camera}. Success: {spec.success}."
    )


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>orcalign: tasks</title><style>
:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:1100px;margin:2rem auto;padding:0 1rem}
main{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,480px),1fr));gap:1.5rem}
div{display:flex;gap:4px}img{width:33%;height:auto;border-radius:4px}h2{margin:0;font-size:1.1rem}
p{margin:.2rem 0 .5rem;opacity:.75}</style></head><body>
<h1>Tasks</h1><p>Beginning, middle and end of an expert's episode, render mode RENDER. Made by
<code>orcalign tasks --gallery</code>.</p><main>
ROWS
</main></body></html>
"""
