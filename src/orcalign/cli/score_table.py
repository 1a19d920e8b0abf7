"""Attempts and matchers as a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

if TYPE_CHECKING:
    from orcalign.report.scoring import ScoreSheet


def score_table(sheet: ScoreSheet) -> Table:
    """A row for each attempt and matcher."""
    title = f"attempts at {Path(sheet.demo.path).name} ({len(sheet.demo.frames)} frames)"
    if sheet.demo.sentences is not None:
        title = f"attempts at {len(sheet.demo.frames)} goals: {sheet.demo.path}"
    names = [Path(attempt.clip.path).name for attempt in sheet.attempts]
    short = len(set(names)) == len(names)
    table = Table("attempt", "matcher", title=title)
    for heading in ("total", "final coverage", "quarters covered at frame", "longest stall"):
        table.add_column(heading, justify="right")
    for attempt in sheet.attempts:
        story = attempt.story
        quarters = " ".join("-" if frame is None else str(frame) for frame in story.quarters)
        for name, match in attempt.matches.items():
            table.add_row(
                Path(attempt.clip.path).name if short else attempt.clip.path,
                name,
                f"{match.reward.sum():.4g}",
                f"{story.final_coverage:.3g}",
                quarters,
                str(story.longest_stall),
            )
    return table
