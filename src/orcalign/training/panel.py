"""What a person sees while a run is going: a panel that redraws itself, or in a log a line now and then."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel as Box
from rich.progress_bar import ProgressBar
from rich.table import Column, Table

from orcalign.checks import require
from orcalign.training.episode import unreported

PARTS = ("simulate", "render", "observe", "update", "wait")
REDRAWS = 2
"""A second: each takes some 10 ms, of which the learner would rather make use."""
LINE_SECONDS = 30.0
"""Between two lines of a log; the speed looks back as far."""
RECENT_EPISODES = 50
"""How far back the shares of time look."""
HISTORY = 5
"""Evaluations that are listed."""
BLOCKS = "▁▂▃▄▅▆▇█"


class Panel:
    """Shows a run on stderr. It is told every record of the metrics.

    On a terminal it draws a panel, from a thread of its own, so that telling it something costs microseconds.
    Elsewhere it prints one plain line at every evaluation and note, and otherwise every half a minute.

    >>> import io
    >>> from rich.console import Console
    >>> log = io.StringIO()
    >>> with Panel(1000, "nav2d", Console(file=log, width=120)) as panel:
    ...     panel.write({"kind": "evaluation", "step": 500, "return": 12.0, "normalised": 0.8, "success_rate": 0.9})
    >>> print(log.getvalue().strip())
    nav2d: evaluation at step 500 of 1,000: return 12, normalised 0.8, success 90%
    """

    def __init__(
        self,
        total_steps: int,
        title: str,
        console: Console | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        require("total_steps", total_steps, at_least=1)
        self.total_steps, self.title = total_steps, title
        self._console, self._clock = console or Console(stderr=True), clock
        self._live: Any = None
        self._lock = threading.Lock()
        self._began = self._said = clock()
        self._step = 0
        self._last: Mapping[str, Any] = {}
        self._pace: deque[tuple[float, int]] = deque()
        self._timing: deque[Mapping[str, Any]] = deque(maxlen=RECENT_EPISODES)
        self._evaluations: list[Mapping[str, Any]] = []

    def __enter__(self) -> Panel:
        if self._console.is_terminal:
            # Only what is printed through the console may scroll by; streams stay as they are.
            self._live = Live(
                get_renderable=self._draw,
                console=self._console,
                refresh_per_second=REDRAWS,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def write(self, record: Mapping[str, Any]) -> None:
        """A record of the metrics, of any kind."""
        if record["kind"] == "episode":
            self._episode(record)
        elif record["kind"] == "evaluation":
            with self._lock:
                self._evaluations.append(record)
            if self._live is None:
                best = ", the best so far" if record.get("best") else ""
                names = {**EVALUATION, **OWN} if unreported(record) else EVALUATION
                silent = "; the environment reports no success" if unreported(record) else ""
                self._say(f"evaluation at {self._place(record)}: {_facts(record, names)}{best}{silent}")
        elif record["kind"] == "note":
            # It stays on the screen above the panel.
            self._say(f"step {record['step']:,}: {record['text']}")

    def _episode(self, record: Mapping[str, Any]) -> None:
        now = self._clock()
        with self._lock:
            self._step, self._last = int(record["step"]), record
            self._pace.append((now, self._step))
            while len(self._pace) > 2 and now - self._pace[0][0] > LINE_SECONDS:
                self._pace.popleft()
            if record.get("timing"):
                self._timing.append(record["timing"])
        if self._live is None and now - self._said >= LINE_SECONDS:
            self._said = now
            self._say(f"{self._place(record)}{self._speed_text()}: {_facts(record, TRAINING)}")

    def steps_per_second(self) -> float | None:
        """Over the last half a minute; None until two episodes have ended."""
        if len(self._pace) < 2:
            return None
        (start, first), (end, last) = self._pace[0], self._pace[-1]
        return (last - first) / (end - start) if end > start and last > first else None

    def shares(self) -> dict[str, float]:
        """The share of each part of the work in the time of the last episodes; parts without any are left out."""
        sums = {part: sum(timing.get(part) or 0.0 for timing in self._timing) for part in PARTS}
        whole = sum(sums.values())
        return {part: seconds / whole for part, seconds in sums.items() if seconds > 0}

    def _say(self, text: str) -> None:
        self._console.print(f"{self.title}: {text}", markup=False, highlight=False, soft_wrap=True)

    def _place(self, record: Mapping[str, Any]) -> str:
        return f"step {int(record['step']):,} of {self.total_steps:,}"

    def _speed_text(self) -> str:
        speed = self.steps_per_second()
        if speed is None:
            return ""
        left = max(0, self.total_steps - self._step) / speed
        rate = f"{speed:,.0f}" if speed >= 10 else f"{speed:.2g}"
        return f", {rate} steps/s, {clock_text(left)} left"

    def _draw(self) -> RenderableType:
        bar = Table.grid(Column(no_wrap=True), Column(ratio=1), Column(no_wrap=True), padding=(0, 2), expand=True)
        with self._lock:
            done = min(self._step, self.total_steps)
            drawn = ProgressBar(total=self.total_steps, completed=done)
            bar.add_row(f"step {self._step:,} / {self.total_steps:,}", drawn, f"{done / self.total_steps:.0%}")
            rows = [bar, self._numbers(), *([self._history()] if self._evaluations else [])]
        return Box(Group(*rows), title=self.title, title_align="left", border_style="blue")

    def _numbers(self) -> Table:
        rows = Table.grid(Column(style="dim", no_wrap=True), "", padding=(0, 2))
        rows.add_row("time", f"{clock_text(self._clock() - self._began)} so far{self._speed_text()}")
        if self._last:
            doing = " (random actions)" if self._last.get("random") else ""
            rows.add_row("last episode", _facts(self._last, TRAINING) + doing)
            if losses := _facts(self._last, LOSSES):
                rows.add_row("learning", losses)
        if self._timing:
            rows.add_row("goes to", "  ".join(f"{part} {share:.0%}" for part, share in self.shares().items()))
        return rows

    def _history(self) -> Table:
        last = self._evaluations[-1]
        name = next((name for name in ("normalised", "return", "progress") if last.get(name) is not None), "env_return")
        columns = {**EVALUATION, **OWN} if unreported(last) else EVALUATION
        curve = sparkline([one.get(name) for one in self._evaluations[-40:]])
        table = Table("evaluations", *columns.values(), box=None, padding=(0, 1), pad_edge=False, header_style="dim")
        for column in table.columns[1:]:
            column.justify = "right"
        for record in self._evaluations[-HISTORY:]:
            values = (value_text(key, record.get(key)) for key in columns)
            table.add_row(f"step {int(record['step']):,}{' *' if record.get('best') else ''}", *values)
        silent = "   the environment reports no success" if unreported(last) else ""
        table.caption, table.caption_justify = f"{name} {curve}   * best so far{silent}", "left"
        return table


TRAINING = {
    "reward": "reward",
    "progress": "progress",
    "coverage": "coverage",
    "success_steps": "solved steps",
    "noise": "noise",
}
LOSSES = {"critic_loss": "critic loss", "actor_loss": "actor loss", "q_mean": "mean Q", "updates": "updates"}
EVALUATION = {
    "return": "return",
    "normalised": "normalised",
    "success_rate": "success",
    "progress": "progress",
    "coverage": "coverage",
}
"""Entries of the records and what they are called, in the order in which they are shown."""
OWN = {"env_return": "environment's own return"}
"""And this one where the environment reports no success."""


def _facts(record: Mapping[str, Any], names: Mapping[str, str]) -> str:
    known = {name: key for key, name in names.items() if record.get(key) is not None}
    return ", ".join(f"{name} {value_text(key, record[key])}" for name, key in known.items())


def value_text(key: str, value: Any) -> str:
    """A number of a record in a few letters.

    >>> value_text("success_rate", 0.8), value_text("return", 12.345), value_text("updates", 12000)
    ('80%', '12.3', '12,000')
    """
    if value is None:
        return "-"
    if key == "success_rate":
        return f"{value:.0%}"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}"


def clock_text(seconds: float) -> str:
    """Time as on a clock.

    >>> clock_text(62), clock_text(3725)
    ('1:02', '1:02:05')
    """
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def sparkline(values: list[float | None]) -> str:
    """A curve of one line, from 0 (or the least) to the greatest value.

    >>> sparkline([0.0, 0.5, None, 1.0])
    '▁▅ █'
    """
    known = [value for value in values if value is not None]
    low, high = min([0.0, *known]), max([0.0, *known])
    span = (high - low) or 1.0
    return "".join(" " if value is None else BLOCKS[min(7, int((value - low) / span * 8))] for value in values)
