"""orcalign table and plot: what came of a study"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

if TYPE_CHECKING:
    from orcalign.experiments.results import StudyResults

StudyName = Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="STUDY")]


@dataclass(frozen=True)
class Swept:
    """Which runs of a study: those of the last sweep in its folder, unless told otherwise."""

    only: tuple[str, ...] = ()
    """Part of the grid, as axis=value,axis=value."""
    out: Path | None = None
    """Folder of the sweep; left out, runs/STUDY."""
    preset: str | None = None
    """Of the sweep; left out, that of the last one in the folder."""
    steps: int | None = None
    """The same."""
    seeds: int | None = None
    """The same."""

    def of(self, study: str) -> StudyResults:
        """What came of them; `study` is a name, a YAML file or a file of results."""
        from orcalign.experiments.planning import plan_study
        from orcalign.experiments.results import read_results
        from orcalign.experiments.results_file import is_results_file, load_results
        from orcalign.experiments.study import find_study, parse_only
        from orcalign.experiments.sweep import recall

        only = parse_only(self.only)
        given: dict[str, Any] = {name: getattr(self, name) for name in ("out", "preset", "steps", "seeds")}
        given = {name: value for name, value in given.items() if value is not None}
        if is_results_file(study):
            if given:
                raise ValueError(f"{study!r} says itself what was run; leave out --{next(iter(given))}.")
            return load_results(Path(study)).narrowed(only)
        chosen = find_study(study)
        if chosen.kind != "training":
            raise ValueError(f"the study {study!r} has a table only: orcalign table {study}.")
        folder = given.pop("out", Path("runs") / chosen.name)
        known = recall(folder, chosen.name)
        # Another preset has a budget of its own.
        if "preset" in given and given["preset"] != known.get("preset"):
            known = {}
        return read_results(plan_study(chosen, only=only, **{**known, **given}), folder)


SweptChoice = Annotated[Swept, tyro.conf.arg(name="")]


def table(
    study: StudyName,
    /,
    format: Literal["md", "csv", "latex", "html"] = "md",
    metric: str | None = None,
    checkpoint: Literal["last", "coverage"] = "last",
    swept: SweptChoice = Swept(),  # noqa: B008
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
        join: Files that --results wrote, of the same study: their runs are added. For runs of several machines.
        save: Write to this file instead of the screen.
        results: Also write the numbers of all runs to this small .json file, which works in the place of STUDY.
    """
    from orcalign.experiments.results_file import is_results_file, join_results, load_results, save_results
    from orcalign.experiments.study import find_study
    from orcalign.experiments.table_formats import FORMATS
    from orcalign.experiments.tables import make_table
    from orcalign.files import require_writable, write_file

    if results is not None and not is_results_file(str(results)):
        raise ValueError(f"--results is {str(results)!r}; it is JSON, so give a name that ends in .json.")
    for path in (save, results):
        if path is not None:
            require_writable(path)
    if is_results_file(study) or find_study(study).kind == "training":
        runs = swept.of(study)
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
        text = latency_table(read_latency(swept.out or Path("runs") / study))
    if save is None:
        print(text, end="")
    else:
        write_file(save, text.encode())
        print(f"table: {save}")


def plot(
    study: StudyName,
    /,
    kind: tuple[Literal["curves", "bars", "profiles"], ...] = ("curves", "bars", "profiles"),
    metric: str | None = None,
    swept: SweptChoice = Swept(),  # noqa: B008
    save: Path | None = None,
    ending: Literal["png", "svg", "pdf"] = "png",
) -> None:
    """Pictures of a study, as far as it has been run.

    Args:
        study: One of `orcalign studies`, a YAML file, or a file of `orcalign table --results`.
        kind: curves (with bands), bars (with the paper's own values), profiles (share of runs above a score).
        metric: normalised, return, success_rate or coverage; left out, the study's own.
        save: Folder for the pictures; left out, that of the sweep or of the file.
        ending: Kind of file.
    """
    from orcalign.files import require_writable
    from orcalign.report.study_plots import plot_study

    runs = swept.of(study)
    for one in kind:
        path = (save or runs.folder) / f"{runs.study.name}-{one}.{ending}"
        require_writable(path)
        plot_study(runs, one, path, metric)
        print(f"open {path}")
