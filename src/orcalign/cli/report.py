"""orcalign report, strip and toy: pages and pictures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console
from rich.table import Table

from orcalign.cli.table import Swept, SweptChoice

_MARKS = {"right": "[green]✔ right[/]", "tie": "[red]✘ tie[/]", "wrong": "[red]✘ wrong[/]"}


def report(
    run: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="RUN|STUDY")],
    /,
    metric: str | None = None,
    swept: SweptChoice = Swept(),  # noqa: B008
    save: Path | None = None,
) -> None:
    """Write the page of a run, or of a study: one file to open or to send. Works while things are going.

    Of a run, RUN/report.html: curves, the policy beside the video, settings.
    Of a study: tables with the paper's values beside ours, learning curves, the demo and every recipe's behaviour.

    Args:
        run: Folder of a run of `orcalign train`; or one of `orcalign studies`, a YAML file, or a file of
            `orcalign table --results`. The options are for studies only.
        metric: normalised, return, success_rate or coverage; left out, the study's own.
        save: File of the page; left out, STUDY.html in the folder of the sweep or of the file of results.
    """
    if is_run(run):
        for name, value in {"metric": metric, **vars(swept), "save": save}.items():
            if value not in (None, ()):
                raise ValueError(f"{run!r} is a run, and --{name} is for studies; leave it out.")
        from orcalign.cli.train import find_own_modules
        from orcalign.report.training_run import write_report
        from orcalign.training import RunFolder

        find_own_modules()
        print(f"open {write_report(RunFolder(run).path)}")
        return
    from orcalign.report.study import write_study_page

    print(f"open {write_study_page(swept.of(run), save, metric)}")


def is_run(name: str) -> bool:
    """Whether a folder is meant; refuses what is neither that nor a study."""
    from orcalign.checks import near_miss
    from orcalign.experiments.study import STUDIES

    study = name in STUDIES or name.endswith((".yaml", ".yml", ".json"))
    if study or Path(name).is_dir():
        return not study or (Path(name) / "config.yaml").is_file()
    raise FileNotFoundError(
        f"{name!r} is neither the folder of a run nor a study;{near_miss(name, STUDIES)} Studies: {', '.join(STUDIES)}."
    )


def strip(
    sources: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="VIDEO|DEMO|RUN")],
    /,
    out: Path = Path("strip.png"),
    frames: int = 8,
    names: tuple[str, ...] = (),
    episode: int = 0,
) -> None:
    """Draw videos under one another, a row of frames each: one picture to look at, or for a page.

    orcalign strip runs/a runs/b --names demo "seed 0" "seed 1"

    Args:
        sources: Videos, folders of images, saved demos, or folders of runs. A run gives its demo (once, if the next
            run has the same) and below it what its policy does in the last evaluation.
        out: File to write (.png, .svg or .pdf).
        frames: How many of each, evenly from the first to the last; below each stands its number.
        names: Of all rows, from top to bottom; left out, those of the files and folders.
        episode: Which film of a run's last evaluation, from 0 on.
    """
    from orcalign.checks import require
    from orcalign.files import require_writable
    from orcalign.report.plots import draw_strip, require_kind, strip_rows

    if not sources:
        raise ValueError("there is nothing to draw; give at least one video, saved demo or folder of a run.")
    require("frames", frames, at_least=1)
    require_kind(out)
    require_writable(out)
    rows = strip_rows(sources, episode)
    if names and len(names) != len(rows):
        have = ", ".join(row.name for row in rows)
        raise ValueError(f"there are {len(names)} names for {len(rows)} rows ({have}); give one for each.")
    if names:
        rows = [replace(row, name=name) for row, name in zip(rows, names, strict=True)]
    draw_strip(rows, out, frames)
    print(f"open {out}")


def toy(out: Path = Path("runs/toy")) -> None:
    """Draw the paper's three counterexamples: which matcher rewards the right learner?

    Writes one picture a case as PNG and SVG, and a page that shows all three.

    Args:
        out: Folder to write to; it is made if it is not there.
    """
    from orcalign.matching.counterexamples import COUNTEREXAMPLES
    from orcalign.report.toy import SHOWN, render_toy, totals, verdict

    console = Console()
    table = Table("case", *SHOWN.values(), title="summed reward of the good / the bad learner")
    for case in COUNTEREXAMPLES.values():
        cells = []
        for matcher in SHOWN:
            good, bad = totals(case, matcher)
            cells.append(f"{good:.2f} / {bad:.2f}\n{_MARKS[verdict(good, bad)]}")
        table.add_row(case.name, *cells)
    with console.status("drawing"):
        page, *pictures = render_toy(out)
    console.print(table)
    console.print(f"{len(pictures)} pictures in {out}; open {page}", soft_wrap=True, highlight=False)
