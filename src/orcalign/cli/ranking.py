"""A score sheet on the screen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from orcalign.report.scoring import ScoreSheet


def show_ranking(console: Console, sheet: ScoreSheet) -> None:
    """The best first: score, verdict, and what was corrected; and the totals of matchers that were asked for."""
    more = [name for name in sheet.settings.matchers if name != "bottleneck"]
    words = any(attempt.words for attempt in sheet.attempts)
    table = Table("", "attempt", title=_title(sheet))
    table.add_column("score", justify="right")
    table.add_column("verdict", no_wrap=True)
    if words:
        table.add_column("camera and light")
    for name in more:
        table.add_column(f"total of {name}", justify="right")
    for place, (name, attempt) in enumerate(zip(_names(sheet), sheet.ranking, strict=True), start=1):
        verdict = attempt.verdict
        assert verdict is not None, "the ranking is of verdicts"
        mark = "[green]✓[/] " if verdict.done else "[red]✗[/] "
        told = [Text("; ".join(attempt.words))] if words else []
        totals = [f"{attempt.matches[name].reward.sum():.4g}" for name in more]
        table.add_row(str(place), Text(name), f"{verdict.score:.2f}", mark + verdict.text, *told, *totals)
    console.print(table)


def paper_table(sheet: ScoreSheet) -> Table:
    """Of each attempt and matcher the total, and of ordered coverage the end, the quarters and the longest stall."""
    table = Table("attempt", "matcher", title=_title(sheet))
    for heading in ("total", "final coverage", "quarters covered at frame", "longest stall"):
        table.add_column(heading, justify="right")
    for name, attempt in zip(_names(sheet), sheet.ranking, strict=True):
        story = attempt.story
        quarters = " ".join("-" if frame is None else str(frame) for frame in story.quarters)
        for matcher, match in attempt.matches.items():
            coverage, stall = f"{story.final_coverage:.3g}", str(story.longest_stall)
            table.add_row(Text(name), matcher, f"{match.reward.sum():.4g}", coverage, quarters, stall)
    return table


def _title(sheet: ScoreSheet) -> str:
    if sheet.demo.sentences is not None:
        return f"attempts at {len(sheet.demo.frames)} goals: {sheet.demo.path}"
    return f"attempts at {Path(sheet.demo.path).name} ({len(sheet.demo.frames)} frames)"


def _names(sheet: ScoreSheet) -> list[str]:
    """File names, or whole paths where two have one name."""
    paths = [attempt.clip.path for attempt in sheet.ranking]
    names = [Path(path).name for path in paths]
    return names if len(set(names)) == len(names) else paths
