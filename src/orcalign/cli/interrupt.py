"""Ctrl-C for work that saves before it stops."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def stop_on_interrupt(saying: str) -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed, as a function; the first time ``saying`` is said, a second one stops at once.

    >>> with stop_on_interrupt("stopping after this episode.") as asked:
    ...     before = asked()
    ...     signal.raise_signal(signal.SIGINT)
    ...     before, asked()
    (False, True)
    """
    asked: list[int] = []

    def interrupted(number: int, frame: Any) -> None:
        asked.append(number)
        if len(asked) > 1:
            raise KeyboardInterrupt
        print(saying, file=sys.stderr, flush=True)

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield lambda: bool(asked)
    finally:
        signal.signal(signal.SIGINT, before)
