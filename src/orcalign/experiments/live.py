"""What a sweep shows while it runs: a table in a terminal, elsewhere a line an event and one now and then."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from orcalign.experiments.cells import CellFolder
from orcalign.experiments.planning import Cell
from orcalign.experiments.results import label
from orcalign.experiments.study import SEEDED
from orcalign.experiments.sweep import Progress

LINE_SECONDS = 120.0
"""Between two lines of a log that say how far the runs are."""
SHOWN = 4
"""Runs in such a line, at most."""
STATES = ("done", "running", "failed")
"""Of a run, as `Progress` has them; others are left."""


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

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, progress: Progress) -> None:
        """Show it."""
        jobs = progress.plan.jobs
        playing = {key: CellFolder(progress.out, key).steps() for key in progress.running}
        far = [f"{name_of(jobs[key])}  {at:,}/{jobs[key].config.steps:,}" for key, at in playing.items()]
        # The pace is measured from when a job is first seen, so it is looked at each time.
        now = summary(progress) + self._pace(progress, playing)
        if self._live is not None:
            lines = (Text(line) for line in (*far, now))
            self._live.update(Group(_table(progress), *lines), refresh=True)
            return
        if self._said is None:
            # What was there before is one line, however much it is.
            self._said = set(progress.done)
            self._line(summary(progress))
        events = {key: f"failed: {error}" for key, error in progress.failed.items()}
        for key, text in {**dict.fromkeys(progress.done, "done"), **events}.items():
            if key not in self._said:
                self._said.add(key)
                self._line(f"{len(progress.done)}/{len(jobs)} {name_of(jobs[key])}: {text}")
        if progress.retried > self._retried:
            self._retried = progress.retried
            self._line("a run failed and will be tried again")
        if far and self._clock() - self._spoke >= LINE_SECONDS:
            self._spoke = self._clock()
            more = [f"and {len(far) - SHOWN} more"] if len(far) > SHOWN else []
            self._line("; ".join([*far[:SHOWN], *more, now]))

    def _pace(self, progress: Progress, playing: dict[str, int]) -> str:
        """Speed and time left; what a run had done before it was taken up again is not this sweep's."""
        steps = {key: progress.plan.jobs[key].config.steps for key in progress.done} | playing
        for key, count in steps.items():
            self._steps_before.setdefault(key, count)
        now = sum(steps.values())
        total = sum(cell.config.steps for cell in progress.plan.jobs.values())
        before = sum(self._steps_before[key] for key in steps)
        return pace(now - before, total - now, self._clock() - self._began)

    def _line(self, text: str) -> None:
        self.console.print(text, highlight=False, soft_wrap=True, markup=False)


def _table(progress: Progress) -> Table:
    columns = progress.plan.study.columns
    counts: dict[str, Counter[str]] = {}
    for key, cell in progress.plan.jobs.items():
        state = next((name for name in STATES if key in getattr(progress, name)), "left")
        counts.setdefault(label(cell.values, columns), Counter())[state] += 1
    table = Table(columns.replace("+", ", "), box=None, padding=(0, 2, 0, 0))
    for name in (*STATES, "left"):
        table.add_column(name, justify="right")
    for column, count in counts.items():
        table.add_row(column, *(str(count[name] or "·") for name in (*STATES, "left")))
    return table


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


def name_of(cell: Cell) -> str:
    """A cell in words."""
    return " ".join(value if name not in SEEDED else f"{name} {value}" for name, value in cell.values.items())


def summary(progress: Progress) -> str:
    """Where the sweep stands, in a line."""
    done, failed = len(progress.done), len(progress.failed)
    left = len(progress.plan.jobs) - done - failed
    words = f"{done} of {len(progress.plan.jobs)} runs done, {left} to do"
    return f"{words}, {failed} failed" if failed else words
