"""Who has which session: bounded in number, and gone with its connection."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import final

from orcalign.serving.live import Session
from orcalign.serving.messages import MessageError

MOST = 1024
IDLE = 60.0
"""Seconds after which a session may make room for a new one where all places are taken."""


@final
class Sessions:
    """Sessions by connection and name; two connections that use one name do not share it.

    >>> sessions = Sessions(begin=object, most=1)
    >>> sessions.of(1, "left") is sessions.of(1, "left"), len(sessions)
    (True, 1)
    >>> sessions.forget(1)
    ['1/left']
    """

    def __init__(
        self, begin: Callable[[], Session], most: int = MOST, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._begin, self._most, self._clock = begin, most, clock
        self._kept: OrderedDict[tuple[int, str], tuple[Session, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def of(self, connection: int, name: str) -> Session:
        """The session of that name, begun if it is not there."""
        key = connection, name
        kept = self._kept.pop(key, None)
        if kept is None:
            self._make_room()
        session = self._begin() if kept is None else kept[0]
        self._kept[key] = session, self._clock()
        return session

    def forget(self, connection: int) -> list[str]:
        """Let go of what a connection had; their labels."""
        gone = [key for key in self._kept if key[0] == connection]
        for key in gone:
            del self._kept[key]
        return [label(*key) for key in gone]

    def _make_room(self) -> None:
        if len(self._kept) < self._most:
            return
        oldest, (_, used) = next(iter(self._kept.items()))
        if self._clock() - used < IDLE:
            raise MessageError(
                f"there are {self._most} sessions, as many as this server keeps; reset one that is there instead of "
                "naming a new one."
            )
        del self._kept[oldest]


def label(connection: int, name: str) -> str:
    """How a session is called on the page."""
    return f"{connection}/{name}" if name else str(connection)
