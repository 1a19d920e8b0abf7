"""Jobs in any process, and in processes of this machine that a sweep starts, each running one after the other: imports
and compiling are paid once.

Such a process, `python -m orcalign.experiments.worker OUT`, takes orders as lines of JSON and answers in lines of JSON.
When its input ends, the sweep is gone: it ends its episode, saves, and goes too. What libraries print goes to the log
of the cell.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol, TextIO

from orcalign.experiments.cells import CellFolder, check_version
from orcalign.experiments.planning import Cell
from orcalign.experiments.results import CURVE
from orcalign.locks import folder_lock
from orcalign.training.config_mapping import from_mapping, to_mapping

LOCK_SECONDS = 300.0
"""A worker whose sweep was killed ends its episode and saves; its successor waits for that."""
STOP_SECONDS = 120.0
"""For ending an episode and saving, when a sweep is stopped."""


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

    def log(self, out: Path) -> TextIO:
        """The log of the cell, to be written on; makes the cell's folder."""
        cell = CellFolder(out, self.key)
        cell.path.mkdir(parents=True, exist_ok=True)
        return cell.log_file.open("a")


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
    with folder_lock(cell.lock_file, f"the cell {str(cell.path)!r}", LOCK_SECONDS):
        if cell.done_file.is_file():
            return True
        from orcalign.training import RunFolder, Training, start_run
        from orcalign.training.scalars import TensorBoardLog

        if cell.started():
            run = RunFolder(cell.run)
            check_version(cell.path, run.facts.get("versions", {}).get("orcalign"))
        else:
            # A folder without a config was never a run: its maker was killed.
            shutil.rmtree(cell.run, ignore_errors=True)
            run = start_run(from_mapping(order.config), cell.run, f"orcalign sweep: cell {order.key}")
        with contextlib.closing(TensorBoardLog.of_run(run.path)) as log:
            training = Training(run, order.workers, order.device, (log,), order.checkpoint_minutes)
            try:
                finished = training.go(stop)
            finally:
                training.close()
        if finished:
            cell.write_done(summarise_run(run, order))
    return finished


def summarise_run(run: Any, order: JobOrder) -> dict[str, Any]:
    """What tables and plots need of a run that came to its end."""

    def plain(evaluation: dict[str, Any]) -> dict[str, Any]:
        left_out = ("timing", "kind", "best", "each")
        kept = {name: value for name, value in evaluation.items() if name not in left_out}
        return {**kept, "coverages": evaluation["each"].get("coverage", [])}

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
        "last": plain(evaluations[-1]),
        "best": None if best is None else plain(best),
        "curve": [[record.get(name) for name in CURVE] for record in evaluations],
    }


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
        with order.log(out) as log:
            for number in (1, 2):
                os.dup2(log.fileno(), number)
        answer = attempt(out, order, stop.is_set)
        try:
            print(json.dumps(asdict(answer)), file=answers, flush=True)
        except BrokenPipeError:
            return


class Backend(Protocol):
    """Where jobs run."""

    slots: int
    """Jobs at the same time."""

    def submit(self, order: JobOrder) -> None:
        """Run this; there are never more than `slots` under way."""

    def answer(self, timeout: float) -> Answer | None:
        """The next one that ended, or None after that many seconds."""

    def stop(self) -> None:
        """Let every job save and end."""

    def close(self) -> None:
        """End at once what still runs."""


class LocalBackend:
    """Worker processes on this machine, at most so many, for the sweep in a folder."""

    def __init__(self, out: Path, jobs: int) -> None:
        self.slots, self._out = jobs, out
        self._answers: queue.SimpleQueue[tuple[_Worker, str | None]] = queue.SimpleQueue()
        self._idle: list[_Worker] = []
        self._busy: dict[str, _Worker] = {}

    def submit(self, order: JobOrder) -> None:
        """To a worker that is free, or to a new one."""
        worker = self._idle.pop() if self._idle else _Worker(self._out, self._answers, self.slots > 1)
        self._busy[order.key] = worker
        worker.send(asdict(order))

    def answer(self, timeout: float) -> Answer | None:
        """From whichever worker is first; one that died is an answer, too."""
        try:
            worker, line = self._answers.get(timeout=timeout)
        except queue.Empty:
            return None
        key = next((key for key, one in self._busy.items() if one is worker), None)
        if line is None:
            if worker in self._idle:
                self._idle.remove(worker)
            if key is None:
                return None
            del self._busy[key]
            return Answer(key, error=worker.how_it_ended())
        found = Answer(**json.loads(line))
        del self._busy[found.key]
        self._idle.append(worker)
        return found

    def stop(self) -> None:
        """Ask all workers to save."""
        for worker in (*self._busy.values(), *self._idle):
            worker.send("stop")

    def close(self) -> None:
        """Workers that are idle end by themselves; others are given no time."""
        for worker in self._idle:
            worker.end(STOP_SECONDS)
        for worker in self._busy.values():
            worker.end(0)


class _Worker:
    def __init__(self, out: Path, answers: queue.SimpleQueue[tuple[_Worker, str | None]], share_cores: bool) -> None:
        environment = dict(os.environ)
        if share_cores:
            # Numerical libraries would take all cores, each for itself.
            for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
                environment.setdefault(name, "1")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "orcalign.experiments.worker", str(out)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True,
        )  # fmt: skip
        self._answers = answers
        threading.Thread(target=self._listen, daemon=True).start()

    def send(self, message: object) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):  # it is gone, which its silence will tell
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()

    def how_it_ended(self) -> str:
        self.end(STOP_SECONDS)
        code = self.process.returncode
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
        return f"the worker process {how}; the cell's log.txt may say why."

    def end(self, seconds: float) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                self._answers.put((self, line))
        self._answers.put((self, None))


if __name__ == "__main__":
    # Ctrl-C is for the sweep, which tells its workers to save.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What was standard output is for answers alone.
    serve(Path(sys.argv[1]), sys.stdin, os.fdopen(os.dup(1), "w"))
