"""orcalign sweep"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from orcalign.cli.interrupt import stop_on_interrupt

if TYPE_CHECKING:
    from orcalign.experiments.sweep import Progress

STOPPING = "stopping: every run ends its episode and saves; Ctrl-C again stops at once."


def sweep(
    study: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="STUDY")],
    /,
    only: tuple[str, ...] = (),
    preset: Literal["laptop", "paper"] = "laptop",
    steps: int | None = None,
    seeds: int | None = None,
    out: Path | None = None,
    backend: Literal["local", "ray"] = "local",
    jobs: int = 1,
    workers: int | None = None,
    device: str = "auto",
    retries: int = 2,
    checkpoint_minutes: float = 2.0,
    wait: bool = False,
    encoder: str | None = None,
    encoder_size: int | None = None,
    dry_run: bool = False,
) -> None:
    """Run a study: what is missing, nothing twice. Stop it and start it again as you like.

    orcalign sweep misaligned --only task=door-close,recipe=orca_progress

    Args:
        study: One of `orcalign studies`, or a YAML file.
        only: Part of the grid, as axis=value,axis=value; several values of an axis add up.
        preset: laptop, or paper (its exact protocol, with its budget).
        steps: Agent steps of every run, in the place of the budget's.
        seeds: Runs of every cell, in the place of the budget's.
        out: Folder; left out, runs/STUDY. Studies that share a folder share runs.
        backend: Where runs take place: local, or ray (the cluster at RAY_ADDRESS, or one on this machine).
        jobs: Runs at the same time; with ray 0 means as many as the cluster has CPUs for.
        workers: Collector processes of each run; left out, 2 if there is one job at a time, else 0.
        device: Of the learners: auto, cpu, cuda or mps.
        retries: How often a run that failed is tried again.
        checkpoint_minutes: Time between checkpoints of a run.
        wait: Wait for another sweep in the same folder to end.
        encoder: Of the study latency: whose time is measured; left out, the default one.
        encoder_size: Of the study latency: side in pixels of what it sees; left out, its own.
        dry_run: Say what would be done, and do nothing.
    """
    from orcalign.checks import require
    from orcalign.experiments.live import SweepView, summary
    from orcalign.experiments.planning import plan_study
    from orcalign.experiments.study import find_study, parse_only
    from orcalign.experiments.sweep import SweepSettings, read_progress, sweep_study

    chosen = find_study(study)
    folder = out or Path("runs") / chosen.name
    if chosen.kind == "latency":
        from orcalign.experiments.latency import measure_latency, write_latency

        if dry_run:
            print("1 measurement: the latency of every matcher, with and without encoding")
        else:
            found = measure_latency(encoder=encoder, encoder_size=encoder_size)
            print(f"numbers: {write_latency(folder, found)}; see: orcalign table latency")
        return
    if encoder is not None or encoder_size is not None:
        raise ValueError(
            f"--encoder and --encoder-size are for the study latency; runs of {chosen.name!r} have theirs from an axis "
            "of the study: encoder.encoder."
        )
    require("jobs", jobs, at_least=0 if backend == "ray" else 1)
    plan = plan_study(chosen, preset, steps, seeds, parse_only(only))
    if dry_run:
        _show_plan(read_progress(plan, folder))
        return
    per_run = workers if workers is not None else 2 * (backend == "local" and jobs == 1)
    settings = SweepSettings(retries, per_run, device, checkpoint_minutes, wait)

    def place() -> Any:
        if backend == "ray":
            from orcalign.experiments.ray_backend import RayBackend

            return RayBackend(folder, jobs, cpus=1 + per_run, gpus=1 if device == "cuda" else 0)
        from orcalign.experiments.worker import LocalBackend

        return LocalBackend(folder, jobs)

    with SweepView() as view, stop_on_interrupt(STOPPING) as stop:
        progress = sweep_study(plan, folder, place, settings, view, stop)
    for key, error in progress.failed.items():
        log = folder / "cells" / key / "log.txt"
        print(f"failed: {plan.jobs[key].values}: {error} ({log})", file=sys.stderr)
    print(summary(progress))
    again = f"orcalign {shlex.join(sys.argv[1:])}"
    if progress.stopped:
        print(f"stopped and saved; go on with: {again}", file=sys.stderr)
        sys.exit(130)
    if not progress.complete:
        print(f"try those that failed again with: {again}", file=sys.stderr)
        sys.exit(1)
    print(f"see: orcalign table {study}" + (f" --out {shlex.quote(str(out))}" if out else ""))


def _show_plan(progress: Progress) -> None:
    from rich.console import Console
    from rich.table import Table

    from orcalign.experiments.cells import CellFolder
    from orcalign.experiments.live import name_of, summary

    table = Table("cell", "state", "steps", "run", box=None, padding=(0, 2, 0, 0))
    table.columns[0].no_wrap, table.columns[2].justify = True, "right"
    left = 0
    for key, cell in progress.plan.jobs.items():
        folder, state = CellFolder(progress.out, key), "done"
        if key not in progress.done:
            left += cell.config.steps
            state = f"at step {folder.steps():,}" if folder.started() else "missing"
            state += ", failed before" if folder.failed_file.is_file() else ""
        table.add_row(key, state, f"{cell.config.steps:,}", name_of(cell))
    console = Console()
    console.print(table)
    console.print(f"{summary(progress)}: {left:,} agent steps", highlight=False)
