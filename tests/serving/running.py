"""A server in a thread of its own, for clients of any kind."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import warnings

import numpy as np
from rewards.clips import clip

from orcalign.rewards import VideoReward
from orcalign.serving import LiveReward, RewardServer
from orcalign.serving.live import KEY

DEMO = clip(np.linspace(0, 1, 15))
CLIENTS = []
SETTINGS = {"context": 2, "direction": "past", "matcher": "bottleneck", "calibrated": True}


def video_reward(demo=DEMO, **more):
    return VideoReward(demo, "pixels", **{**SETTINGS, **more})


def live(*rewards, keys=(KEY,), **more):
    return LiveReward(rewards or [video_reward()], keys, **more)


@contextlib.contextmanager
def running(made=None, **settings):
    """The server, listening on a free port."""
    server = RewardServer(made or live(), port=0, **settings)
    ready, stopping = threading.Event(), []
    failed = []

    async def run():
        stop = asyncio.Event()
        stopping.append(lambda: loop.call_soon_threadsafe(stop.set))
        loop = asyncio.get_running_loop()
        async with server.running():
            ready.set()
            await stop.wait()

    def work():
        try:
            asyncio.run(run())
        except BaseException as error:
            failed.append(error)
            ready.set()

    thread = threading.Thread(target=work)
    thread.start()
    assert ready.wait(30)
    if failed:
        raise failed[0]
    try:
        yield server
    finally:
        while CLIENTS:
            CLIENTS.pop()._ws.close()
        stopping[0]()
        thread.join(30)
        assert not thread.is_alive()


def client(server, **more):
    """The field's own client."""
    from openpi_client.websocket_client_policy import WebsocketClientPolicy

    with warnings.catch_warnings():
        # It opens its connection in a way that websockets no longer likes.
        warnings.simplefilter("ignore", DeprecationWarning)
        made = WebsocketClientPolicy("127.0.0.1", server.port, **more)
    CLIENTS.append(made)
    return made
