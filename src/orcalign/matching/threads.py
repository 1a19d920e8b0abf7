"""Batches on all cores: kernels hold no GIL, so plain threads are enough.

Threads rather than numba's parallel loops, because those abort a process that forks after their first
use or calls them from two threads, and both happen in training.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

R = TypeVar("R")

MIN_WORK = 30_000
"""Cell updates that a thread must have to be worth waking up: a guess, not a measured optimum."""

_pool: ThreadPoolExecutor | None = None


def cores() -> int:
    """How many cores this process may use; `ORCALIGN_THREADS` sets another number."""
    asked = os.environ.get("ORCALIGN_THREADS", "")
    if asked.isdigit() and int(asked) > 0:
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def for_chunks(count: int, work: int, call: Callable[..., R], *arguments: Any) -> list[R]:
    """Run call(*arguments, start, stop) over 0..count in as many threads as `work` cell updates are worth.

    Returns what the calls returned, in order; an error in one of them is raised here.

    >>> for_chunks(3, 0, lambda start, stop: (start, stop))
    [(0, 3)]
    """
    parts = 1 if count == 1 or work < 2 * MIN_WORK else min(count, cores(), work // MIN_WORK)
    if parts == 1:
        return [call(*arguments, 0, count)]
    bounds = [count * i // parts for i in range(parts + 1)]
    futures = [_threads().submit(call, *arguments, bounds[i], bounds[i + 1]) for i in range(1, parts)]
    first = call(*arguments, bounds[0], bounds[1])
    return [first, *(future.result() for future in futures)]


def _threads() -> ThreadPoolExecutor:
    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(max_workers=cores(), thread_name_prefix="orcalign")
    return _pool


def _forget_threads() -> None:
    """A forked child has the object but not the threads."""
    global _pool
    _pool = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
