"""orcalign report"""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Annotated

import tyro


def report(
    run: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="RUN|STUDY")],
    /,
    metric: str | None = None,
    only: tuple[str, ...] = (),
    out: Path | None = None,
    preset: str | None = None,
    steps: int | None = None,
    seeds: int | None = None,
    save: Path | None = None,
) -> None:
    """Write the page of a run, or of a study: one file to open or to send. Works while things are going.

    Of a run, RUN/report.html: curves, the policy beside the video, settings.
    Of a study: tables with the paper's values beside ours, learning curves, the demo and every recipe's behaviour.

    Args:
        run: Folder of a run of `orcalign train`; or one of `orcalign studies`, a YAML file, or a file of
            `orcalign table --results`. The options are for studies only.
        metric: normalised, return, success_rate or coverage; left out, the study's own.
        only: Part of the grid, as axis=value,axis=value.
        out: Folder of the sweep; left out, runs/STUDY.
        preset: Of the sweep; left out, that of the last one in the folder.
        steps: The same.
        seeds: The same.
        save: File of the page; left out, STUDY.html in the folder of the sweep or of the file of results.
    """
    if is_run(run):
        given = {"metric": metric, "only": only or None, "out": out, "preset": preset, "steps": steps,
                 "seeds": seeds, "save": save}  # fmt: skip
        for name, value in given.items():
            if value is not None:
                raise ValueError(f"{run!r} is a run, and --{name} is for studies; leave it out.")
        _report_run(run)
        return
    from orcalign.cli.table import gathered, trains
    from orcalign.report.study_page import write_study_page

    if not trains(run):
        raise ValueError(f"the study {run!r} has a table only: orcalign table {run}.")
    print(f"open {write_study_page(gathered(run, only, out, preset, steps, seeds), save, metric)}")


def is_run(name: str) -> bool:
    """Whether a folder is meant; refuses what is neither that nor a study."""
    from orcalign.experiments.study import STUDIES

    path = Path(name)
    if (path / "config.yaml").is_file():
        return True
    if name in STUDIES or name.endswith((".yaml", ".yml", ".json")):
        return False
    if path.is_dir():
        return True
    near = difflib.get_close_matches(name, STUDIES, n=1)
    hint = f" did you mean the study {near[0]!r}?" if near else ""
    raise FileNotFoundError(
        f"{name!r} is neither the folder of a run nor a study;{hint} Studies: {', '.join(STUDIES)}."
    )


def _report_run(run: str) -> None:
    from orcalign.cli.train import find_own_modules
    from orcalign.report.run_page import write_report
    from orcalign.training import RunFolder

    find_own_modules()
    print(f"open {write_report(RunFolder(run).path)}")
