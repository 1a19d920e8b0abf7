"""A process that runs jobs for a sweep: `python -m orcalign.experiments.worker OUT`.

Orders come in as lines of JSON, answers go out as lines of JSON. When the input ends, the sweep is gone: the worker
ends its episode, saves, and goes too. What libraries print goes to the log of the cell.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import sys
import threading
import traceback
from pathlib import Path
from typing import Any, TextIO

from orcalign.experiments.cell_folder import CellFolder
from orcalign.experiments.cell_run import JobOrder, run_job


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
        answer = attempt(out, JobOrder(**message), stop)
        try:
            print(json.dumps(answer), file=answers, flush=True)
        except BrokenPipeError:
            return


def attempt(out: Path, order: JobOrder, stop: threading.Event) -> dict[str, Any]:
    """Run a job; whatever goes wrong in it is an answer, too."""
    folder = CellFolder(out, order.key)
    try:
        folder.path.mkdir(parents=True, exist_ok=True)
        _print_to(folder.log_file)
        return {"id": order.id, "done": run_job(out, order, stop.is_set)}
    except Exception as error:
        traceback.print_exc()
        known = isinstance(error, (ValueError, OSError)) and str(error)
        return {"id": order.id, "error": str(error) if known else f"{type(error).__name__}: {error}"}


def _print_to(path: Path) -> None:
    with path.open("ab") as log:
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
