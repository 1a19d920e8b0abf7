"""What a sweep shows while it runs: a table in a terminal, elsewhere a line an event and one now and then."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from orcalign.experiments.cell_folder import CellFolder
from orcalign.experiments.planning import Job
from orcalign.experiments.study import parts
from orcalign.experiments.sweep import Progress

LINE_SECONDS = 120.0
"""Between two lines of a log that say how far the runs are."""
SHOWN = 4
"""Runs in such a line, at most."""


class SweepView:
    """Is told of progress, and shows it."""

    def __init__(self, console: Console | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self.console = console or Console(stderr=True)
        self._live = Live(console=self.console, auto_refresh=False) if self.console.is_terminal else None
        self._clock = clock
        self._began = self._spoke = clock()
        self._said: set[str] | None = None
        self._retried = 0
        self._steps_before: dict[str, int] = {}

    def __enter__(self) -> SweepView:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, progress: Progress) -> None:
        """Show it."""
        if self._live is not None:
            self._live.update(Group(*self._picture(progress)), refresh=True)
        else:
            self._say(progress)

    def _say(self, progress: Progress) -> None:
        events = {
            **dict.fromkeys(progress.done, "done"),
            **{id: f"failed: {error}" for id, error in progress.failed.items()},
        }
        if self._said is None:
            # What was there before is one line, however much it is.
            self._said = set(progress.done)
            self._line(summary(progress))
        for id, text in events.items():
            if id not in self._said:
                self._said.add(id)
                self._line(
                    f"{len(progress.done)}/{len(progress.plan.jobs)} {name_of(progress.plan.jobs[id])}: {text}"
                )
        if progress.retried > self._retried:
            self._retried = progress.retried
            self._line("a run failed and will be tried again")
        # The pace is measured from when a job is first seen, so it is looked at each time.
        pace = self._pace(progress)
        if progress.running and self._clock() - self._spoke >= LINE_SECONDS:
            self._spoke = self._clock()
            shown = [how_far(progress, id) for id in list(progress.running)[:SHOWN]]
            more = len(progress.running) - len(shown)
            self._line("; ".join([*shown, *([f"and {more} more"] if more else []), summary(progress) + pace]))

    def _pace(self, progress: Progress) -> str:
        """Speed and time left; what a run had done before it was taken up again is not this sweep's."""
        steps = steps_now(progress)
        for id, count in steps.items():
            self._steps_before.setdefault(id, count)
        now = sum(steps.values())
        total = sum(job_steps(job) for job in progress.plan.jobs.values())
        before = sum(self._steps_before[id] for id in steps)
        return pace(now - before, total - now, self._clock() - self._began)

    def _line(self, text: str) -> None:
        self.console.print(text, highlight=False, soft_wrap=True, markup=False)

    def _picture(self, progress: Progress) -> list[Table | Text]:
        table = Table(box=None, padding=(0, 2, 0, 0))
        for heading in (progress.plan.study.columns.replace("+", ", "), "done", "running", "failed", "left"):
            table.add_column(heading, justify="left" if not table.columns else "right")
        counts: dict[str, Counter[str]] = {}
        for id, job in progress.plan.jobs.items():
            column = " ".join(job.cell.values.get(name, "") for name in parts(progress.plan.study.columns))
            counts.setdefault(column, Counter())[state_of(progress, id)] += 1
        for column, count in counts.items():
            table.add_row(
                column, *(str(count[name] or "·") for name in ("done", "running", "failed", "left"))
            )
        lines = [Text(how_far(progress, id)) for id in progress.running]
        return [table, *lines, Text(f"{summary(progress)}{self._pace(progress)}")]


def state_of(progress: Progress, id: str) -> str:
    """done, running, failed or left."""
    if id in progress.done:
        return "done"
    if id in progress.running:
        return "running"
    return "failed" if id in progress.failed or id in progress.blocked else "left"


def job_steps(job: Job) -> int:
    """Steps that are the job's own: of a run that is left halfway, the other half."""
    half = int(job.needs.partition("@")[2]) if job.needs and job.needs.startswith(job.cell.key) else 0
    return job.steps - half


def steps_now(progress: Progress) -> dict[str, int]:
    """Steps of every job that is done or runs."""
    steps = {id: job_steps(progress.plan.jobs[id]) for id in progress.done}
    for id in progress.running:
        job = progress.plan.jobs[id]
        own = CellFolder(progress.out, job.cell.key).steps() - (job.steps - job_steps(job))
        steps[id] = max(0, own)
    return steps


def how_far(progress: Progress, id: str) -> str:
    """A job that runs, with its steps."""
    job = progress.plan.jobs[id]
    return f"{name_of(job)}  {CellFolder(progress.out, job.cell.key).steps():,}/{job.steps:,}"


def pace(done: int, left: int, seconds: float) -> str:
    """Speed and time left in words, once there is something to go by.

    >>> pace(1000, 2000, 60.0)
    ', 17 steps/s, about 2 min left'
    """
    if done <= 0 or seconds < 1:
        return ""
    minutes = left / done * seconds / 60
    time_left = f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.1f} h"
    speed = f"{done / seconds:,.0f}" if done >= 10 * seconds else f"{done / seconds:.2g}"
    return f", {speed} steps/s, about {time_left} left"


def name_of(job: Job) -> str:
    """A job in words."""
    words = " ".join(
        value if name not in ("seed", "demo_number") else f"{name} {value}"
        for name, value in job.cell.values.items()
    )
    return words if job.until is None else f"{words} (first half, for others to start from)"


def summary(progress: Progress) -> str:
    """Where the sweep stands, in a line."""
    jobs = progress.plan.jobs
    left = len(jobs) - len(progress.done) - len(progress.failed) - len(progress.blocked)
    words = [f"{len(progress.done)} of {len(jobs)} jobs done", f"{left} to do"]
    if progress.failed:
        words.append(f"{len(progress.failed)} failed")
    if progress.blocked:
        words.append(f"{len(progress.blocked)} need one that failed")
    return ", ".join(words)
