"""orcalign table"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

if TYPE_CHECKING:
    from orcalign.experiments.results import StudyResults


def table(
    study: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="STUDY")],
    /,
    format: Literal["md", "csv", "latex", "html"] = "md",
    metric: str | None = None,
    checkpoint: Literal["last", "coverage"] = "last",
    only: tuple[str, ...] = (),
    out: Path | None = None,
    preset: str | None = None,
    steps: int | None = None,
    seeds: int | None = None,
    join: tuple[Path, ...] = (),
    save: Path | None = None,
    results: Path | None = None,
) -> None:
    """The table of a study, as far as it has been run, with the paper's own values beside ours.

    Args:
        study: One of `orcalign studies`, a YAML file, or a file that --results wrote.
        format: md, csv, latex or html.
        metric: normalised, return, success_rate or coverage; left out, the study's own.
        checkpoint: Which one of every run: last, or the one that covered the video best.
        only: Part of the grid, as axis=value,axis=value.
        out: Folder of the sweep; left out, runs/STUDY.
        preset: Of the sweep; left out, that of the last one in the folder.
        steps: The same.
        seeds: The same.
        join: Files that --results wrote, of the same study: their runs are added. For runs of several machines.
        save: Write to this file instead of the screen.
        results: Also write the numbers of all runs to this small .json file, which works in the place of STUDY.
    """
    from orcalign.experiments.results_file import is_results_file, join_results, load_results, save_results
    from orcalign.experiments.table_formats import FORMATS
    from orcalign.experiments.tables import make_table
    from orcalign.files import require_writable, write_file

    if results is not None and not is_results_file(str(results)):
        raise ValueError(f"--results is {str(results)!r}; it is JSON, so give a name that ends in .json.")
    for path in (save, results):
        if path is not None:
            require_writable(path)
    if trains(study):
        runs = gathered(study, only, out, preset, steps, seeds)
        if join:
            runs = join_results(runs, [load_results(path) for path in join])
        text = FORMATS[format](make_table(runs, metric, checkpoint))
        if results is not None:
            save_results(runs, results)
            print(f"results: {results}", file=sys.stderr)
    else:
        from orcalign.experiments.latency import latency_table, read_latency

        if format != "md" or results is not None or join:
            raise ValueError("the latency table comes as md only; leave out --format, --join and --results.")
        text = latency_table(read_latency(out or Path("runs") / study))
    if save is None:
        print(text, end="")
    else:
        write_file(save, text.encode())
        print(f"table: {save}")


def trains(study: str) -> bool:
    """Whether the study is a grid of runs; refuses names that are none."""
    from orcalign.experiments.results_file import is_results_file
    from orcalign.experiments.study import find_study

    return is_results_file(study) or find_study(study).kind == "training"


def gathered(
    study: str,
    only: tuple[str, ...],
    out: Path | None,
    preset: str | None,
    steps: int | None,
    seeds: int | None,
) -> StudyResults:
    """What was swept in the folder, unless told otherwise; or what a file of results holds."""
    from orcalign.experiments.planning import plan_study
    from orcalign.experiments.results import read_results
    from orcalign.experiments.results_file import is_results_file, load_results
    from orcalign.experiments.study import find_study, parse_only
    from orcalign.experiments.sweep import recall

    given: dict[str, Any] = {"preset": preset, "steps": steps, "seeds": seeds}
    given = {name: value for name, value in given.items() if value is not None}
    if is_results_file(study):
        needless = [*(["out"] if out is not None else []), *given]
        if needless:
            raise ValueError(f"{study!r} says itself what was run; leave out --{needless[0]}.")
        return load_results(Path(study)).narrowed(parse_only(only))
    chosen = find_study(study)
    folder = out or Path("runs") / chosen.name
    known = recall(folder, chosen.name)
    # Another preset has a budget of its own.
    if "preset" in given and given["preset"] != known.get("preset"):
        known = {}
    return read_results(plan_study(chosen, only=parse_only(only), **{**known, **given}), folder)
