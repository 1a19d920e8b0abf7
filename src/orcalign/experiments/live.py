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

from orcalign.experiments.cells import CellFolder
from orcalign.experiments.planning import Cell
from orcalign.experiments.results import label
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
            **{key: f"failed: {error}" for key, error in progress.failed.items()},
        }
        if self._said is None:
            # What was there before is one line, however much it is.
            self._said = set(progress.done)
            self._line(summary(progress))
        for key, text in events.items():
            if key not in self._said:
                self._said.add(key)
                self._line(
                    f"{len(progress.done)}/{len(progress.plan.jobs)} {name_of(progress.plan.jobs[key])}: {text}"
                )
        if progress.retried > self._retried:
            self._retried = progress.retried
            self._line("a run failed and will be tried again")
        # The pace is measured from when a job is first seen, so it is looked at each time.
        pace = self._pace(progress)
        if progress.running and self._clock() - self._spoke >= LINE_SECONDS:
            self._spoke = self._clock()
            shown = [how_far(progress, key) for key in list(progress.running)[:SHOWN]]
            more = len(progress.running) - len(shown)
            self._line("; ".join([*shown, *([f"and {more} more"] if more else []), summary(progress) + pace]))

    def _pace(self, progress: Progress) -> str:
        """Speed and time left; what a run had done before it was taken up again is not this sweep's."""
        steps = steps_now(progress)
        for key, count in steps.items():
            self._steps_before.setdefault(key, count)
        now = sum(steps.values())
        total = sum(cell.config.steps for cell in progress.plan.jobs.values())
        before = sum(self._steps_before[key] for key in steps)
        return pace(now - before, total - now, self._clock() - self._began)

    def _line(self, text: str) -> None:
        self.console.print(text, highlight=False, soft_wrap=True, markup=False)

    def _picture(self, progress: Progress) -> list[Table | Text]:
        table = Table(box=None, padding=(0, 2, 0, 0))
        for heading in (progress.plan.study.columns.replace("+", ", "), "done", "running", "failed", "left"):
            table.add_column(heading, justify="left" if not table.columns else "right")
        counts: dict[str, Counter[str]] = {}
        for key, cell in progress.plan.jobs.items():
            counts.setdefault(label(cell.values, progress.plan.study.columns), Counter())[
                state_of(progress, key)
            ] += 1
        for column, count in counts.items():
            table.add_row(
                column, *(str(count[name] or "·") for name in ("done", "running", "failed", "left"))
            )
        lines = [Text(how_far(progress, key)) for key in progress.running]
        return [table, *lines, Text(f"{summary(progress)}{self._pace(progress)}")]


def state_of(progress: Progress, key: str) -> str:
    """done, running, failed or left."""
    for state in ("done", "running", "failed"):
        if key in getattr(progress, state):
            return state
    return "left"


def steps_now(progress: Progress) -> dict[str, int]:
    """Steps of every run that is done or goes on."""
    steps = {key: progress.plan.jobs[key].config.steps for key in progress.done}
    return steps | {key: CellFolder(progress.out, key).steps() for key in progress.running}


def how_far(progress: Progress, key: str) -> str:
    """A run that goes on, with its steps."""
    cell = progress.plan.jobs[key]
    return f"{name_of(cell)}  {CellFolder(progress.out, key).steps():,}/{cell.config.steps:,}"


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
    return " ".join(
        value if name not in ("seed", "demo_number") else f"{name} {value}"
        for name, value in cell.values.items()
    )


def summary(progress: Progress) -> str:
    """Where the sweep stands, in a line."""
    done, failed = len(progress.done), len(progress.failed)
    left = len(progress.plan.jobs) - done - failed
    words = f"{done} of {len(progress.plan.jobs)} runs done, {left} to do"
    return f"{words}, {failed} failed" if failed else words
