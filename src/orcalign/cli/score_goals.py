"""orcalign score --goal: attempts beside what was said."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console
from rich.table import Table

from orcalign.cli.ranking import paper_table
from orcalign.cli.reading import EncoderChoice, Reading, encode_all

USUAL = "liv"
"""The encoder, if none was named."""


def score_goals(
    attempts: tuple[Path, ...],
    goal: tuple[str, ...],
    start: str,
    beside: tuple[Path, ...],
    matcher: str | None,
    choice: EncoderChoice,
    reading: Reading,
    json_file: Path | None,
    report: Path | None,
) -> None:
    """A number for every frame for one goal; the ordered story for several."""
    from orcalign.encoders import make_text_encoder
    from orcalign.files import require_writable, write_file
    from orcalign.report.clips import SHOWN
    from orcalign.report.goal_scores import goal_clip, score_text, text_json, text_page
    from orcalign.report.score_sheet import as_json, score_page
    from orcalign.report.scoring import ScoreSettings, score_clips
    from orcalign.video import goals

    if not goal:
        raise ValueError("--goal names nothing; say what is to be seen, in one sentence or in several.")
    if start and len(goal) > 1:
        raise ValueError(f"--start belongs to one goal, and {len(goal)} were given; put it first among them instead.")
    if beside and len(goal) == 1:
        raise ValueError("--beside calibrates several goals, and one was given; leave it out.")
    names = tuple(name.strip() for name in ("orca" if matcher is None else matcher).split(",") if name.strip())
    settings = ScoreSettings(names, paper=True, context=1)
    demo = goals(goal)
    for path in (json_file, report):
        if path is not None:
            require_writable(path)
    reader = make_text_encoder(choice.encoder or USUAL, weights=choice.weights)
    # Words that the model does not know are refused before any video is read.
    reader([text for text in (*(demo.sentences or ()), start) if text.strip()] or ["a"])
    model = choice.make(USUAL, pooled=True)
    clips = encode_all([*attempts, *beside], model, reading.options(longest=SHOWN))
    console = Console()
    if len(goal) == 1:
        scores = score_text(demo, clips, model, reader, start)
        table = Table("attempt", title=f"attempts at: {demo.source}, by {model.name}")
        for heading in ("frames", "mean", "at the end", "highest", "at frame"):
            table.add_column(heading, justify="right")
        for clip, alike in zip(clips, scores.similarity, strict=True):
            numbers = (f"{value:.3f}" for value in (alike.mean(), alike[-1], alike.max()))
            table.add_row(Path(clip.path).name, str(len(alike)), *numbers, str(int(alike.argmax())))
        told = text_json(scores)
        shown = text_page(scores) if report is not None else ""
    else:
        sheet = score_clips(goal_clip(demo, model, reader), clips[: len(attempts)], settings, clips[len(attempts) :])
        table, told = paper_table(sheet), as_json(sheet, model)
        shown = score_page(sheet, model) if report is not None else ""
    console.print(table)
    if json_file is not None:
        write_file(json_file, json.dumps(told, indent=1, allow_nan=False).encode())
        console.print(f"numbers: {json_file}", soft_wrap=True, highlight=False)
    if report is not None:
        write_file(report, shown.encode())
        console.print(f"open {report}", soft_wrap=True, highlight=False)
