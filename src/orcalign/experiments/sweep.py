"""A sweep: run what is missing of a study, survive what goes wrong, and say how it went."""

from __future__ import annotations

import json
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orcalign import __version__
from orcalign.checks import require
from orcalign.experiments.cells import CellFolder, check_version
from orcalign.experiments.planning import Plan
from orcalign.experiments.worker import Backend, JobOrder
from orcalign.files import write_file
from orcalign.locks import folder_lock


@dataclass(frozen=True)
class SweepSettings:
    """How a sweep is carried out; nothing here changes a number."""

    retries: int = 2
    """How often a job that failed is tried again."""
    workers: int = 0
    """Collector processes of each run."""
    device: str = "auto"
    checkpoint_minutes: float = 2.0
    wait: bool = False
    """Wait for another sweep in the same folder to end."""

    def __post_init__(self) -> None:
        require("retries", self.retries, at_least=0)
        require("workers", self.workers, at_least=0)
        require("checkpoint_minutes", self.checkpoint_minutes, at_least=0)


@dataclass
class Progress:
    """Where a sweep stands; the live table reads it."""

    plan: Plan
    out: Path
    done: set[str] = field(default_factory=set)
    """Keys of cells."""
    running: dict[str, float] = field(default_factory=dict)
    """Key to when it was begun."""
    failed: dict[str, str] = field(default_factory=dict)
    """Key to the error, of those that are given up."""
    retried: int = 0
    stopped: bool = False

    @property
    def complete(self) -> bool:
        """Whether everything is done."""
        return len(self.done) == len(self.plan.jobs)


def sweep_study(
    plan: Plan,
    out: Path,
    backend: Callable[[], Backend],
    settings: SweepSettings | None = None,
    tell: Callable[[Progress], None] = lambda progress: None,
    stop: Callable[[], bool] = lambda: False,
) -> Progress:
    """Run the jobs of a plan that are not done; those in progress go on from their checkpoint.

    Args:
        plan: of `plan_study`.
        out: folder of the sweep; several studies may share one, and then share runs.
        backend: makes the place where jobs run; called only if there is something to do.
        settings: how.
        tell: is told of progress, whenever something changed, and every second or so.
        stop: asks for a halt; everything that runs saves first.
    """
    settings = settings or SweepSettings()
    wait = 365 * 86400.0 if settings.wait else 0.0
    way_out = ", let this one wait with --wait, or choose another --out"
    with folder_lock(out / "sweep.lock", f"the sweep {str(out)!r}", wait, way_out):
        remember(plan, out)
        progress = read_progress(plan, out)
        tell(progress)
        if not progress.complete:
            with closing(backend()) as place:
                for _ in _drive(progress, place, settings, stop):
                    tell(progress)
        tell(progress)
    return progress


def read_progress(plan: Plan, out: Path) -> Progress:
    """What is done already; refuses results of another version."""
    progress = Progress(plan, out)
    cells = out / "cells"
    there = {entry.name for entry in cells.iterdir()} if cells.is_dir() else set()
    for key in plan.jobs:
        folder = CellFolder(out, key)
        result = folder.done() if key in there else None
        if result is not None:
            check_version(folder.path, result.get("orcalign"))
            progress.done.add(key)
    return progress


def remember(plan: Plan, out: Path) -> None:
    """Keep what the plan was made of, so that a table needs to be told the name alone."""
    name, budget = plan.study.name, plan.budget
    about = {"format": 1, "orcalign": __version__, "study": name, "preset": plan.preset}
    about |= {"steps": budget.steps, "seeds": budget.seeds}
    write_file(out / f"{name}.json", (json.dumps(about, indent=1) + "\n").encode())


def recall(out: Path, study: str) -> dict[str, Any]:
    """What `remember` kept; empty if there is nothing."""
    path = out / f"{study}.json"
    if not path.is_file():
        return {}
    try:
        found = json.loads(path.read_text("utf-8"))
        return {name: found[name] for name in ("preset", "steps", "seeds")}
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{str(path)!r} cannot be read ({error!r}); run the sweep again, which writes it.") from None


def _drive(progress: Progress, backend: Backend, settings: SweepSettings, stop: Callable[[], bool]) -> Iterator[None]:
    """Run what is left; comes back whenever something may have changed."""
    jobs = progress.plan.jobs
    waiting = deque(key for key in jobs if key not in progress.done)
    attempts: Counter[str] = Counter()
    while waiting or progress.running:
        if stop() and not progress.stopped:
            progress.stopped = True
            backend.stop()
        if progress.stopped and not progress.running:
            return
        while waiting and not progress.stopped and len(progress.running) < backend.slots:
            key = waiting.popleft()
            progress.running[key] = time.monotonic()
            how = (settings.workers, settings.device, settings.checkpoint_minutes)
            backend.submit(JobOrder.of(jobs[key], *how))
        answer = backend.answer(1.0)
        if answer is not None:
            key = answer.key
            del progress.running[key]
            if answer.done:
                progress.done.add(key)
            elif answer.error is not None:
                attempts[key] += 1
                CellFolder(progress.out, key).write_failure(answer.error, attempts[key])
                if attempts[key] <= settings.retries and not progress.stopped:
                    progress.retried += 1
                    # At the end of the line: what is broken for the moment may be whole by then.
                    waiting.append(key)
                else:
                    progress.failed[key] = answer.error
        yield
