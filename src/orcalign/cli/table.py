"""orcalign table"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

if TYPE_CHECKING:
    from orcalign.experiments.planning import Plan


def table(
    study: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="STUDY")],
    /,
    format: Literal["md", "csv", "latex", "html"] = "md",
    metric: str | None = None,
    only: tuple[str, ...] = (),
    out: Path | None = None,
    preset: str | None = None,
    steps: int | None = None,
    seeds: int | None = None,
    save: Path | None = None,
) -> None:
    """The table of a study, as far as it has been run, with the paper's own values beside ours.

    Args:
        study: One of `orcalign studies`, or a YAML file.
        format: md, csv, latex or html.
        metric: normalised, return, success_rate or coverage; left out, the study's own.
        only: Part of the grid, as axis=value,axis=value.
        out: Folder of the sweep; left out, runs/STUDY.
        preset: Of the sweep; left out, that of the last one in the folder.
        steps: The same.
        seeds: The same.
        save: Write to this file instead of the screen.
    """
    from orcalign.experiments.shipped import find_study
    from orcalign.experiments.table_formats import FORMATS
    from orcalign.experiments.tables import make_table
    from orcalign.video.atomic import require_writable, write_file

    if save is not None:
        require_writable(save)
    chosen = find_study(study)
    if chosen.kind == "latency":
        from orcalign.experiments.latency import latency_table, read_latency

        if format != "md":
            raise ValueError(f"format is {format!r}; the latency table comes as md only.")
        text = latency_table(read_latency(out or Path("runs") / chosen.name))
    else:
        plan, folder = planned(study, only, out, preset, steps, seeds)
        text = FORMATS[format](make_table(plan, folder, metric))
    if save is None:
        print(text, end="")
    else:
        write_file(save, text.encode())
        print(f"table: {save}")


def planned(
    study: str,
    only: tuple[str, ...],
    out: Path | None,
    preset: str | None,
    steps: int | None,
    seeds: int | None,
) -> tuple[Plan, Path]:
    """The plan that was swept in the folder, unless told otherwise."""
    from orcalign.experiments.planning import plan_study
    from orcalign.experiments.shipped import find_study
    from orcalign.experiments.study import parse_only
    from orcalign.experiments.sweep import recall

    chosen = find_study(study)
    folder = out or Path("runs") / chosen.name
    given: dict[str, Any] = {"preset": preset, "steps": steps, "seeds": seeds}
    given = {name: value for name, value in given.items() if value is not None}
    known = recall(folder, chosen.name)
    # Another preset has a budget of its own.
    if "preset" in given and given["preset"] != known.get("preset"):
        known = {}
    return plan_study(chosen, only=parse_only(only), **{**known, **given}), folder
