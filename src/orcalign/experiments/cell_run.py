"""Runs one job where it is called: begin or go on, to the end or up to a step, and keep the result."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from orcalign.experiments.cell_folder import CellFolder, check_version
from orcalign.experiments.folder_lock import FolderLock
from orcalign.experiments.planning import Job, Start
from orcalign.training.config import TrainConfig
from orcalign.training.config_mapping import from_mapping, to_mapping

LOCK_SECONDS = 300.0
"""A worker whose sweep was killed ends its episode and saves; its successor waits for that."""


@dataclass(frozen=True)
class JobOrder:
    """A job as plain values: it travels to other processes and machines as JSON."""

    id: str
    key: str
    values: dict[str, str]
    config: dict[str, Any]
    until: int | None
    start: tuple[str, int] | None
    workers: int = 0
    device: str = "auto"
    checkpoint_minutes: float = 2.0

    @classmethod
    def of(
        cls, job: Job, workers: int = 0, device: str = "auto", checkpoint_minutes: float = 2.0
    ) -> JobOrder:
        """The order for a job."""
        cell = job.cell
        start = None if cell.start is None else (cell.start.key, cell.start.step)
        return cls(
            job.id, cell.key, cell.values, to_mapping(cell.config), job.until, start, workers, device,
            checkpoint_minutes,
        )  # fmt: skip


def job_is_done(out: Path, job: Job) -> bool:
    """Whether there is nothing left to do for it."""
    folder = CellFolder(out, job.cell.key)
    return folder.halfway(job.until).is_dir() if job.until is not None else folder.done_file.is_file()


def run_job(out: Path, order: JobOrder, stop: Callable[[], bool] = lambda: False) -> bool:
    """True if the job came to its end, False if `stop` asked for a halt; both leave a checkpoint.

    Whoever is killed here has done nothing wrong: the next one goes on from the last checkpoint.
    """
    cell = CellFolder(out, order.key)
    cell.path.mkdir(parents=True, exist_ok=True)
    with FolderLock(cell.lock_file, f"the cell {str(cell.path)!r}", LOCK_SECONDS):
        if order.until is not None and cell.halfway(order.until).is_dir():
            return True
        if order.until is None and cell.done_file.is_file():
            return True
        from orcalign.training.run_folder import RunFolder

        if cell.started():
            run = RunFolder(cell.run)
            check_version(cell.path, run.facts.get("versions", {}).get("orcalign"))
        else:
            # A folder without a config was never a run: its maker was killed.
            shutil.rmtree(cell.run, ignore_errors=True)
            run = _begin(out, cell, order)
        if not _train(run, order, stop):
            return False
        if order.until is not None:
            _keep_halfway(cell, order.until)
        else:
            cell.write_done(summarise_run(run, order))
    return True


def _begin(out: Path, cell: CellFolder, order: JobOrder) -> Any:
    from orcalign.training.start import start_run

    config = from_mapping(order.config)
    if order.start is not None:
        config = _starting_from(config, CellFolder(out, order.start[0]).halfway(order.start[1]))
    return start_run(config, cell.run, f"orcalign sweep: cell {order.key}")


def _starting_from(config: TrainConfig, place: Path) -> TrainConfig:
    plain = to_mapping(config)
    plain["reward"]["start_from"] = str(place.resolve())
    return from_mapping(plain)


def _train(run: Any, order: JobOrder, stop: Callable[[], bool]) -> bool:
    from orcalign.training.loop import Training

    training = Training(run, order.workers, order.device, (), order.checkpoint_minutes)
    try:
        until = order.until
        if until is None:
            return training.go(stop)
        if training.learner.steps >= until + training.players.world.agent_steps:
            raise ValueError(
                f"the run {str(run.path)!r} has gone beyond step {until}, and nothing was kept there for others to "
                "start from; delete its folder, and it is played again."
            )
        if training.learner.steps >= until:
            return True
        training.go(lambda: training.learner.steps >= until or stop())
        return training.learner.steps >= until
    finally:
        training.close()


def _keep_halfway(cell: CellFolder, step: int) -> None:
    """Put the checkpoint of now aside: the run itself keeps only its last ones."""
    from orcalign.files import atomic_folder
    from orcalign.training.checkpoint import Checkpoints

    found = Checkpoints(cell.run / "checkpoints")
    name = f"{found.steps()[-1]:010d}"
    with atomic_folder(cell.halfway(step)) as part:
        target = part / "checkpoints" / name
        shutil.copytree(found.folder / name, target)
        for file in target.iterdir():
            with file.open("rb") as handle:
                os.fsync(handle.fileno())


def summarise_run(run: Any, order: JobOrder) -> dict[str, Any]:
    """What tables and plots need of a run that came to its end."""
    evaluations = list(run.records("evaluation"))
    seconds = sum(record.get("timing", {}).get("total", 0.0) for record in run.records())
    # As the run itself chose the policy that it kept: by the video, never by success.
    best = next((record for record in reversed(evaluations) if record["best"]), None)
    offset = 0 if order.start is None else Start(*order.start).step
    return {
        "key": order.key,
        "values": order.values,
        "steps": run.config.steps,
        "offset": offset,
        "expert_return": run.facts.get("expert_return"),
        "demo_hash": run.facts["demo_hash"],
        "versions": run.facts["versions"],
        "seconds": round(seconds, 3),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "last": _plain(evaluations[-1]),
        "best": None if best is None else _plain(best),
        "curve": [
            [
                offset + record["step"],
                record["normalised"],
                record["return"],
                record["success_rate"],
                record["coverage"],
            ]
            for record in evaluations
        ],
    }


def _plain(evaluation: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in evaluation.items() if name not in ("timing", "kind", "best")}
