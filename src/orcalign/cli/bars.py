"""Bars for what takes a while and is no run: posing, looking, learning."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console

if TYPE_CHECKING:
    from orcalign.training.posed_eyes import Told


@contextmanager
def bars() -> Iterator[Told]:
    """A bar on stderr for each thing that is done, with its speed and the time left."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[speed]}"),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as shown:
        bars = {}

        def tell(what: str, done: int, total: int) -> None:
            if what not in bars:
                bars[what] = shown.add_task(what, total=total, completed=done, speed="")
            bar = shown.tasks[bars[what]]
            speed = "" if bar.finished or not bar.speed else f"{bar.speed:.0f}/s"
            shown.update(bars[what], completed=done, total=total, speed=speed)

        yield tell
