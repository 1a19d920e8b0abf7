"""Inference in a thread of its own: whatever waits when it becomes free is one batch."""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, final

from orcalign.serving.live import Observation, Session

log = logging.getLogger(__name__)
MOST = 32
"""Observations in a batch: more are not faster, and take memory."""

Judge = Callable[[Sequence[tuple[Session, Observation]]], Sequence[dict[str, Any] | Exception]]


class _Waiting(NamedTuple):
    """One observation, and where its reply goes."""

    session: Session
    observation: Observation
    loop: asyncio.AbstractEventLoop
    reply: asyncio.Future[tuple[dict[str, Any], float]]


@final
class Batches:
    """Calls `judge`, off the event loop, with the observations of all sessions that wait.

    Nothing piles up: a connection waits for its reply before its next message is read.
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._waiting: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self.sizes: dict[int, int] = {}
        """How often there were so many in a batch."""
        self._thread = threading.Thread(target=self._run, name="orcalign-inference", daemon=True)
        self._thread.start()

    async def ask(self, session: Session, observation: Observation) -> tuple[dict[str, Any], float]:
        """The reply, and how many milliseconds its batch took; raises what was wrong with it."""
        loop = asyncio.get_running_loop()
        reply: asyncio.Future[tuple[dict[str, Any], float]] = loop.create_future()
        self._waiting.put(_Waiting(session, observation, loop, reply))
        return await reply

    def close(self) -> None:
        """Stop after the batch of now."""
        self._waiting.put(None)
        self._thread.join(timeout=10)

    def _run(self) -> None:
        while (first := self._waiting.get()) is not None:
            batch, stop = [first], False
            while len(batch) < MOST and not self._waiting.empty():
                more = self._waiting.get()
                if more is None:
                    stop = True
                    break
                batch.append(more)
            self._answer(batch)
            del first, batch  # or the last frames would be kept until the next ones come
            if stop:
                break

    def _answer(self, batch: list[_Waiting]) -> None:
        start = time.perf_counter()
        try:
            replies = self._judge([(one.session, one.observation) for one in batch])
        except Exception as error:
            log.exception("inference failed")
            replies = [error] * len(batch)
        self.sizes[len(batch)] = self.sizes.get(len(batch), 0) + 1
        spent = 1000 * (time.perf_counter() - start)
        for loop in dict.fromkeys(one.loop for one in batch):
            mine = [(one.reply, reply) for one, reply in zip(batch, replies, strict=True) if one.loop is loop]
            if not loop.is_closed():
                loop.call_soon_threadsafe(_deliver, mine, spent)


def _deliver(replies: list[tuple[asyncio.Future[Any], Any]], spent: float) -> None:
    for future, reply in replies:
        if future.done():  # its robot has gone
            continue
        if isinstance(reply, Exception):
            future.set_exception(reply)
        else:
            future.set_result((reply, spent))
