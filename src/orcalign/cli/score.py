"""orcalign score"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro
from rich.console import Console
from rich.table import Table

from orcalign.cli.reading import EncoderChoice, Reading, encode_all

if TYPE_CHECKING:
    from orcalign.report.scoring import ScoreSheet


def score(
    demo: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="DEMO")],
    rollouts: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="ROLLOUT ...")],
    /,
    matcher: str = "orca",
    json_file: Annotated[Path | None, tyro.conf.arg(name="json")] = None,
    report: Path | None = None,
    distance: str = "cosine",
    context: int = 3,
    calibrated: bool = False,
    temperature: float = 1.0,
    floor: float = 0.0,
    encoder: Annotated[EncoderChoice, tyro.conf.arg(name="")] = EncoderChoice(),  # noqa: B008
    reading: Annotated[Reading, tyro.conf.arg(name="")] = Reading(),  # noqa: B008
) -> None:
    """Score attempts against a demo video, and show why.

    Prints for each attempt and matcher: the summed reward; the final coverage (ORCA's probability that the whole
    demo was covered in order); the frame at which each quarter of the demo was covered (- for never); and the
    longest stall in frames.

    Args:
        demo: A video, a folder of images, or a saved demo.
        rollouts: The attempts: one or several videos.
        matcher: One or several of `orcalign matchers`, with commas between.
        json_file: Write every per-frame number to this file.
        report: Write a page to this file (.html) that shows both videos, the reward and where it comes from.
        distance: cosine or euclidean.
        context: Frames in step over which distances are averaged; 1 for none.
        calibrated: Take temperature and floor from the demo itself: for demos of more than some 30 frames.
        temperature: Of the matchers that have one (orca, orca_progress, ...); lower is stricter.
        floor: Distance below which a frame counts as reached.
    """
    from orcalign.files import require_writable, write_file
    from orcalign.report.scoring import SHOWN, ScoreSettings, as_json, score_clips

    if not rollouts:
        raise ValueError("no attempt was given; name at least one video after the demo.")
    names = tuple(name.strip() for name in matcher.split(",") if name.strip())
    settings = ScoreSettings(names, distance, context, calibrated, temperature, floor)
    for path in (json_file, report):
        if path is not None:
            require_writable(path)
    model = encoder.make()
    first, *others = encode_all([demo, *rollouts], model, reading.options(longest=SHOWN))
    sheet = score_clips(first, others, settings)
    console = Console()
    console.print(_table(sheet))
    _advise(sheet, console)
    if json_file is not None:
        write_file(json_file, json.dumps(as_json(sheet, model), indent=1, allow_nan=False).encode())
        console.print(f"numbers: {json_file}", soft_wrap=True, highlight=False)
    if report is not None:
        from orcalign.report.score_page import score_page

        write_file(report, score_page(sheet, model).encode())
        console.print(f"open {report}", soft_wrap=True, highlight=False)


def _table(sheet: ScoreSheet) -> Table:
    title = f"attempts at {Path(sheet.demo.path).name} ({len(sheet.demo.frames)} frames)"
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


def _advise(sheet: ScoreSheet, console: Console) -> None:
    """A product of hundreds of occupancies is tiny whatever one does: say so, and what helps."""
    best = max(attempt.story.final_coverage for attempt in sheet.attempts)
    J = len(sheet.demo.frames)
    if best < 1e-3 and J > 30 and not sheet.settings.calibrated:
        console.print(
            f"The coverage is a product over {J} demo frames and therefore tiny; --calibrated or a lower --fps "
            f"makes it readable, and so does --matcher orca_log.",
            highlight=False,
        )
