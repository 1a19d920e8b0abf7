"""orcalign plot"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import tyro


def plot(
    study: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="STUDY")],
    /,
    kind: tuple[Literal["curves", "bars", "profiles"], ...] = ("curves", "bars", "profiles"),
    metric: str | None = None,
    only: tuple[str, ...] = (),
    out: Path | None = None,
    preset: str | None = None,
    steps: int | None = None,
    seeds: int | None = None,
    save: Path | None = None,
    ending: Literal["png", "svg", "pdf"] = "png",
) -> None:
    """Pictures of a study, as far as it has been run.

    Args:
        study: One of `orcalign studies`, a YAML file, or a file of `orcalign table --results`.
        kind: curves (with bands), bars (with the paper's own values), profiles (share of runs above a score).
        metric: normalised, return, success_rate or coverage; left out, the study's own.
        only: Part of the grid, as axis=value,axis=value.
        out: Folder of the sweep; left out, runs/STUDY.
        preset: Of the sweep; left out, that of the last one in the folder.
        steps: The same.
        seeds: The same.
        save: Folder for the pictures; left out, that of the sweep or of the file.
        ending: Kind of file.
    """
    from orcalign.cli.table import gathered, trains
    from orcalign.files import require_writable
    from orcalign.report.study_plots import plot_study

    if not trains(study):
        raise ValueError("the study 'latency' has a table only: orcalign table latency.")
    runs = gathered(study, only, out, preset, steps, seeds)
    for one in kind:
        path = (save or runs.folder) / f"{runs.study.name}-{one}.{ending}"
        require_writable(path)
        plot_study(runs, one, path, metric)
        print(f"open {path}")
