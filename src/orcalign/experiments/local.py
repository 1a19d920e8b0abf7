"""Jobs in processes of this machine, each running one after the other: imports and compiling are paid once."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Protocol

from orcalign.experiments.worker import Answer, JobOrder

STOP_SECONDS = 120.0
"""For ending an episode and saving, when a sweep is stopped."""


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
    """Worker processes on this machine.

    Args:
        out: folder of the sweep.
        jobs: how many.
    """

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
    def __init__(
        self, out: Path, answers: queue.SimpleQueue[tuple[_Worker, str | None]], share_cores: bool
    ) -> None:
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
