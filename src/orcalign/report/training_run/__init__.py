"""The page of a training run."""

from __future__ import annotations

from pathlib import Path

from orcalign.files import write_file
from orcalign.report.explainer.document import PagePart, part_text, render_document
from orcalign.report.training_run.curves import charts, marks
from orcalign.report.training_run.reading import read_run
from orcalign.report.training_run.shown import behaviour
from orcalign.report.training_run.words import (
    details,
    evaluation_table,
    follows_video,
    headline,
    task_name,
    time_bar,
    videos,
)
from orcalign.video import DemoSet


def run_page(run: Path) -> str:
    """One self-contained HTML page of a run's folder: how it ended, its curves, its behaviour beside the video.

    A run that is still going, or was killed, has a page too: of what its folder holds so far. The behaviour is
    shown if the run kept an evaluation with videos. Below 10 MB. The same folder gives the same text.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "metrics.jsonl").write_text('{"kind": "episode", "step": 63, "reward": 1.5}\\n')
    ...     page = run_page(Path(folder))
    >>> page[:15], "It has not been evaluated yet" in page
    ('<!doctype html>', True)
    """
    records = read_run(run)
    # A run that has just begun may not have saved them yet.
    demos = DemoSet.load(run / "demo").demos if (run / "demo").is_dir() else ()
    shown, problems = behaviour(records)
    drawn = charts(records)
    # An axis of no length cannot be drawn.
    learning = {"charts": drawn, "marks": marks(records), "last": max(records.steps, 1)}
    words, script = (part_text(__name__, name) for name in ("curves.html", "curves.js"))
    parts = [
        PagePart(headline(records, demos), style=part_text(__name__, "run.css")),
        *([PagePart(words, script, data={"learning": learning})] if drawn else []),
        PagePart(evaluation_table(records) + time_bar(records)),
        *shown,
        PagePart(details(records, demos, problems)),
    ]
    task = task_name(records)
    source, given = (" from the video", f" · {videos(demos)}") if follows_video(records) else ("", "")
    if demos and demos[0].sentences is not None:
        source = " from what was said"
    subtitle = f"{task}{given} · {records.steps:,} steps"
    return render_document(f"training on {task}", f"What did it learn{source}?", subtitle, parts)


def write_report(run: Path) -> Path:
    """Write the page to report.html in the run's folder, whole or not at all; returns the file."""
    path = Path(run) / "report.html"
    write_file(path, run_page(Path(run)).encode())
    return path
