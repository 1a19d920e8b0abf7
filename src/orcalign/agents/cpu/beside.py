"""Two halves of a job at once, where a core is free: the same operations on the same numbers either way."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import cache
from queue import SimpleQueue

import torch

from orcalign.matching.threads import cores

Job = Callable[[], object]


def beside(here: Job, there: Job) -> None:
    """Do both, at once where this process may use two cores and torch does not share its products out already.

    One must not write what the other reads; so the results are the same to the bit, whoever does what when.

    >>> found = []
    >>> beside(lambda: found.append(1), lambda: found.append(2))
    >>> sorted(found)
    [1, 2]
    """
    if _cores() < 2 or torch.get_num_threads() > 1:
        here()
        there()
    else:
        _helper().both(here, there)


class Beside:
    """A thread that does the other half of a job, if it gets to it in time.

    Who asks does the first half, and then the second as well if nobody has begun it: while collectors have all
    cores, the thread is not woken in time, and nobody waits for it.
    """

    def __init__(self) -> None:
        self._offers: SimpleQueue[list[Job]] = SimpleQueue()
        self._done: SimpleQueue[BaseException | None] = SimpleQueue()
        threading.Thread(target=self._work, name="orcalign-beside", daemon=True).start()

    def both(self, here: Job, there: Job) -> None:
        """Do both; an error of either is raised here, when both have ended."""
        offer = [there]
        self._offers.put(offer)
        errors = [_error_of(here)]
        mine = _take(offer)
        errors.append(_error_of(mine) if mine else self._done.get())
        for error in errors:
            if error is not None:
                raise error

    @torch.no_grad()
    def _work(self) -> None:
        while True:
            job = _take(self._offers.get())
            if job:
                self._done.put(_error_of(job))


def _take(offer: list[Job]) -> Job | None:
    """The job, for the first who asks: a pop is atomic."""
    try:
        return offer.pop()
    except IndexError:
        return None


def _error_of(job: Job) -> BaseException | None:
    try:
        job()
    except BaseException as error:
        return error
    return None


@cache
def _helper() -> Beside:
    return Beside()


_cores = cache(cores)

if hasattr(os, "register_at_fork"):
    # A forked child has the object but not the thread.
    os.register_at_fork(after_in_child=_helper.cache_clear)
