"""Runs cells: in any process, and as a process of its own for a sweep, `python -m orcalign.experiments.worker OUT`.

Such a process takes orders as lines of JSON and answers in lines of JSON. When the input ends, the sweep is gone: the
worker ends its episode, saves, and goes too. What libraries print goes to the log of the cell.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from orcalign.experiments.cells import CellFolder, FolderLock, check_version
from orcalign.experiments.planning import Cell
from orcalign.training.config_mapping import from_mapping, to_mapping

LOCK_SECONDS = 300.0
"""A worker whose sweep was killed ends its episode and saves; its successor waits for that."""


@dataclass(frozen=True)
class JobOrder:
    """A cell to run, as plain values: it travels to other processes and machines as JSON."""

    key: str
    values: dict[str, str]
    config: dict[str, Any]
    workers: int = 0
    device: str = "auto"
    checkpoint_minutes: float = 2.0

    @classmethod
    def of(cls, cell: Cell, *how: Any) -> JobOrder:
        """The order for a cell; workers, device and minutes between checkpoints may follow."""
        return cls(cell.key, cell.values, to_mapping(cell.config), *how)


@dataclass(frozen=True)
class Answer:
    """What became of a job."""

    key: str
    done: bool = False
    """False without an error: stopped before its end."""
    error: str | None = None


def run_job(out: Path, order: JobOrder, stop: Callable[[], bool] = lambda: False) -> bool:
    """True if the run came to its end, False if `stop` asked for a halt; both leave a checkpoint.

    Whoever is killed here has done nothing wrong: the next one goes on from the last checkpoint.
    """
    cell = CellFolder(out, order.key)
    cell.path.mkdir(parents=True, exist_ok=True)
    with FolderLock(cell.lock_file, f"the cell {str(cell.path)!r}", LOCK_SECONDS):
        if cell.done_file.is_file():
            return True
        from orcalign.training import RunFolder, Training, start_run

        if cell.started():
            run = RunFolder(cell.run)
            check_version(cell.path, run.facts.get("versions", {}).get("orcalign"))
        else:
            # A folder without a config was never a run: its maker was killed.
            shutil.rmtree(cell.run, ignore_errors=True)
            run = start_run(from_mapping(order.config), cell.run, f"orcalign sweep: cell {order.key}")
        training = Training(run, order.workers, order.device, (), order.checkpoint_minutes)
        try:
            finished = training.go(stop)
        finally:
            training.close()
        if finished:
            cell.write_done(summarise_run(run, order))
    return finished


def summarise_run(run: Any, order: JobOrder) -> dict[str, Any]:
    """What tables and plots need of a run that came to its end."""
    evaluations = list(run.records("evaluation"))
    seconds = sum(record.get("timing", {}).get("total", 0.0) for record in run.records())
    # As the run itself chose the policy that it kept: by the video, never by success.
    best = next((record for record in reversed(evaluations) if record["best"]), None)
    return {
        "key": order.key,
        "values": order.values,
        "steps": run.config.steps,
        "expert_return": run.facts.get("expert_return"),
        "demo_hash": run.facts["demo_hash"],
        "versions": run.facts["versions"],
        "seconds": round(seconds, 3),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "last": _plain(evaluations[-1]),
        "best": None if best is None else _plain(best),
        "curve": [
            [
                record["step"],
                record["normalised"],
                record["return"],
                record["success_rate"],
                record.get("coverage"),
            ]
            for record in evaluations
        ],
    }


def _plain(evaluation: dict[str, Any]) -> dict[str, Any]:
    left_out = ("timing", "kind", "best", "each")
    kept = {name: value for name, value in evaluation.items() if name not in left_out}
    return {**kept, "coverages": evaluation["each"].get("coverage", [])}


def attempt(out: Path, order: JobOrder, stop: Callable[[], bool]) -> Answer:
    """Run a job; whatever goes wrong in it is an answer, too, and is told in full on standard error."""
    try:
        return Answer(order.key, run_job(out, order, stop))
    except Exception as error:
        traceback.print_exc()
        known = isinstance(error, (ValueError, OSError)) and str(error)
        return Answer(order.key, error=str(error) if known else f"{type(error).__name__}: {error}")


def serve(out: Path, orders: TextIO, answers: TextIO) -> None:
    """Run jobs until there are no more."""
    waiting: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
    stop = threading.Event()

    def listen() -> None:
        for line in orders:
            message = json.loads(line)
            if message == "stop":
                break
            waiting.put(message)
        stop.set()
        waiting.put(None)

    threading.Thread(target=listen, daemon=True).start()
    while (message := waiting.get()) is not None:
        order = JobOrder(**message)
        _print_to(CellFolder(out, order.key))
        answer = attempt(out, order, stop.is_set)
        try:
            print(json.dumps(answer.__dict__), file=answers, flush=True)
        except BrokenPipeError:
            return


def _print_to(cell: CellFolder) -> None:
    cell.path.mkdir(parents=True, exist_ok=True)
    with cell.log_file.open("ab") as log:
        for number in (1, 2):
            os.dup2(log.fileno(), number)


def main() -> None:
    """Talk over what were standard input and output."""
    # Ctrl-C is for the sweep, which tells its workers to save.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "w")
    serve(Path(sys.argv[1]), sys.stdin, answers)


if __name__ == "__main__":
    main()
