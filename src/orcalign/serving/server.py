"""The network: openpi's WebSocket protocol for robots, and pages for those who watch."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import socket
import time
from collections.abc import AsyncIterator, Iterator
from http import HTTPStatus
from typing import Any, final
from urllib.parse import urlsplit

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from orcalign import __version__
from orcalign.serving.access import Access
from orcalign.serving.batches import Batches
from orcalign.serving.board import Board
from orcalign.serving.live import LiveReward, Picture
from orcalign.serving.messages import LARGEST, MessageError, pack, unpack
from orcalign.serving.page import live_page
from orcalign.serving.sessions import Sessions, label

log = logging.getLogger(__name__)
CLOSING = 5.0
"""Seconds that a client has to take the last words."""
SILENCE = 3600.0
"""Seconds without a message after which a connection is closed."""
_KEEPALIVE = (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 4))


@final
class RewardServer:
    """Gives every robot that connects its reward, frame by frame.

    A connection is served one message after another: the next is read when the last has been answered, so a robot that
    sends faster than that is slowed down by the network, and nothing piles up here. A ping every 20 s keeps what is
    between them from forgetting the connection, but nobody is thrown out for answering it late: a robot that is gone is
    noticed by TCP.

    Args:
        live: the reward.
        access: who may come in.
        port: 0 for a free one; `port` says which.
        most_connections: robots and pages at once.
        ping: seconds between two pings.
        silence: seconds without a message, or without taking a reply, after which a connection is closed.
    """

    def __init__(
        self,
        live: LiveReward,
        access: Access | None = None,
        port: int = 8000,
        most_connections: int = 256,
        ping: float = 20.0,
        silence: float = SILENCE,
    ) -> None:
        if not 0 <= port <= 65535:
            raise ValueError(f"port is {port}; it must be from 0, any that is free, to 65535.")
        self.live, self.access, self.port = live, access or Access("127.0.0.1", None), port
        self.batches, self.board = Batches(live.judge), Board()
        self.sessions = Sessions(live.begin)
        self._most, self._ping, self._silence = most_connections, ping, silence
        self._numbers, self._open, self._page = itertools.count(1), 0, b""

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[Server]:
        """Serves while the block runs."""
        try:
            async with serve(
                self._connected,
                self.access.host,
                self.port,
                process_request=self._request,
                compression=None,
                max_size=2 * LARGEST,
                max_queue=1,
                ping_interval=self._ping,
                ping_timeout=None,
                close_timeout=CLOSING,
                server_header=f"orcalign/{__version__}",
                logger=logging.getLogger("orcalign.serving.websockets"),
            ) as server:
                self.port = next(iter(server.sockets)).getsockname()[1]
                yield server
        finally:
            self.batches.close()

    async def follow(self, pictures: Iterator[Picture], name: str = "camera") -> dict[str, Any] | None:
        """Play pictures [H,W,3] of this machine as one episode; the last reply, with `frames` and the `total`."""
        session, told, total, count = self.live.begin(), None, 0.0, 0
        while (picture := await asyncio.to_thread(next, pictures, None)) is not None:
            observation = self.live.read({self.live.keys[0]: picture, "reset": count == 0})
            told, _ = await self.batches.ask(session, observation)
            self.board.show(name, observation, told)
            total, count = total + told["reward"], count + 1
        return None if told is None else {**told, "frames": count, "total": total}

    async def _request(self, connection: ServerConnection, request: Request) -> Response | None:
        """Before the handshake: what is no WebSocket is answered here."""
        path = urlsplit(request.path).path
        if path == "/healthz":
            return connection.respond(HTTPStatus.OK, "OK\n")
        refusal = self.access.refusal(request)
        if refusal is not None:
            return connection.respond(HTTPStatus.FORBIDDEN, f"{refusal}\n")
        upgrade = request.headers.get("Upgrade", "").lower() == "websocket"
        if path not in ("/", "/live") or (path == "/live" and not upgrade):
            return connection.respond(HTTPStatus.NOT_FOUND, "there is /, /live and /healthz here.\n")
        if upgrade:
            return None
        if not self._page:
            self._page = (await asyncio.to_thread(live_page, self.live)).encode()
        headers = Headers({"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(self._page))})
        headers["Cache-Control"], headers["X-Content-Type-Options"] = "no-store", "nosniff"
        return Response(HTTPStatus.OK, "OK", headers, self._page)

    async def _connected(self, connection: ServerConnection) -> None:
        keep_alive(connection)
        self._open += 1
        try:
            if self._open > self._most:
                raise MessageError(f"there are {self._most} connections, all that this server takes; try again later.")
            watching = connection.request is not None and urlsplit(connection.request.path).path == "/live"
            await (self.board.watched_by(connection) if watching else self._robot(connection))
        except ConnectionClosed:
            pass  # however it went: nobody else has to know
        except TimeoutError:
            await _farewell(connection, f"nothing came or was taken for {self._silence:.0f} s; connect again.", 1001)
        except ValueError as error:
            await _farewell(connection, " ".join(str(error).split()), 1008)
        except Exception as error:
            log.exception("a connection failed")
            await _farewell(connection, f"internal error: {type(error).__name__}; the server's log has more.", 1011)
        finally:
            self._open -= 1

    async def _robot(self, connection: ServerConnection) -> None:
        number, before = next(self._numbers), None
        await connection.send(pack({"server": "orcalign", "version": __version__, **self.live.about}))
        try:
            while True:
                async with asyncio.timeout(self._silence):
                    message = await connection.recv()
                start = time.perf_counter()
                if isinstance(message, str):
                    raise MessageError(
                        "a text message came; observations are binary msgpack maps, as openpi-client sends."
                    )
                observation = self.live.read(unpack(message))
                session = self.sessions.of(number, observation.session)
                reply, spent = await self.batches.ask(session, observation)
                timing = {"infer_ms": spent} if before is None else {"infer_ms": spent, "prev_total_ms": before}
                async with asyncio.timeout(self._silence):
                    await connection.send(pack({**reply, "server_timing": timing}))
                self.board.show(label(number, observation.session), observation, reply)
                before = 1000 * (time.perf_counter() - start)
                del message, observation
        finally:
            self.board.forget(self.sessions.forget(number))


def keep_alive(connection: ServerConnection) -> None:
    """Let the system notice peers that vanished without a word."""
    peer: Any = connection.transport.get_extra_info("socket")
    if peer is None or peer.family not in (socket.AF_INET, socket.AF_INET6):
        return
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE:
        if hasattr(socket, name):  # Linux has all three
            peer.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


async def _farewell(connection: ServerConnection, words: str, code: int) -> None:
    """Say what was wrong in a text frame, as openpi's server does, and close this connection."""
    with contextlib.suppress(ConnectionClosed, TimeoutError):
        async with asyncio.timeout(CLOSING):
            await connection.send(words)
            # A reason has room for 123 bytes.
            await connection.close(code, words.encode()[:120].decode(errors="ignore"))
