"""What those see who watch: of one session the newest picture and all numbers since the last look."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Iterable
from typing import Any, Protocol, final

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from orcalign.report.explainer.embedding import embed_frames
from orcalign.serving.live import Observation

PAUSE = 0.08
"""Seconds between two looks, at least."""
MOST_POINTS = 2000
MOST_LABELS = 1024


class Watcher(Protocol):
    """Is shown every frame of every session and its reply; must be quick."""

    def show(self, session: str, observation: Observation, reply: dict[str, Any]) -> None:
        """Take note."""


@final
class _Viewer:
    """One open page. What it has not taken yet is replaced by what is newer: a slow page sees fewer pictures."""

    def __init__(self) -> None:
        self.chosen: str | None = None
        self.news = asyncio.Event()
        self.latest: tuple[Observation, dict[str, Any]] | None = None
        self.points: deque[list[Any]] = deque(maxlen=MOST_POINTS)

    def choose(self, session: str | None) -> None:
        self.chosen, self.latest = session, None
        self.points.clear()
        self.news.set()


@final
class Board:
    """Knows which sessions there are, and who watches which of them. Pictures are kept only while somebody does."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._viewers: set[_Viewer] = set()
        self.watchers: list[Watcher] = []

    def show(self, session: str, observation: Observation, reply: dict[str, Any]) -> None:
        """A frame of a session has been answered."""
        for watcher in self.watchers:
            watcher.show(session, observation, reply)
        if len(self._counts) >= MOST_LABELS and session not in self._counts:
            return
        begins = observation.reset or session not in self._counts
        self._counts[session] = count = 0 if begins else self._counts[session] + 1
        for viewer in self._viewers:
            if viewer.chosen is None:
                viewer.choose(session)
            if begins:
                viewer.news.set()
            if viewer.chosen == session:
                if begins:
                    viewer.points.clear()
                viewer.latest = observation, reply
                viewer.points.append([count, reply["reward"], reply["progress"], reply["demo_frame"]])
                viewer.news.set()

    def forget(self, sessions: Iterable[str]) -> None:
        """Sessions have gone."""
        for session in sessions:
            self._counts.pop(session, None)
        for viewer in self._viewers:
            if viewer.chosen not in self._counts:
                viewer.chosen = None
            viewer.news.set()

    async def watched_by(self, connection: ServerConnection) -> None:
        """Show a page what happens until it is closed."""
        viewer = _Viewer()
        self._viewers.add(viewer)
        viewer.news.set()
        listening = asyncio.create_task(self._listen(connection, viewer))
        try:
            while True:
                await viewer.news.wait()
                viewer.news.clear()
                latest, viewer.latest = viewer.latest, None
                points = list(viewer.points)
                viewer.points.clear()
                shown: dict[str, Any] = {"sessions": list(self._counts), "session": viewer.chosen, "points": points}
                if latest is not None:
                    observation, reply = latest
                    pictures = [await asyncio.to_thread(_picture, one) for one in observation.pictures]
                    shown |= {"reply": reply, "pictures": pictures}
                await connection.send(json.dumps(shown))
                del latest, points, shown
                await asyncio.sleep(PAUSE)
        finally:
            listening.cancel()
            self._viewers.discard(viewer)

    async def _listen(self, connection: ServerConnection, viewer: _Viewer) -> None:
        try:
            async for message in connection:
                if isinstance(message, str) and message in self._counts:
                    viewer.choose(message)
        except ConnectionClosed:
            pass
        viewer.news.set()  # so that the other task finds out


def _picture(picture: Any) -> str:
    shown = embed_frames(picture[None])
    return f"data:{shown['type']};base64,{shown['pictures'][0]}"
