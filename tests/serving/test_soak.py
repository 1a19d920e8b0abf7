"""Ten thousand frames, a hundred robots that come and go, and clients that send whatever they like."""

from __future__ import annotations

import contextlib
import gc
import random
import socket
import threading
import tracemalloc

import numpy as np
import pytest
from serving.running import DEMO, client, running, video_reward
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from orcalign.serving.messages import MessageError, pack, unpack

KEY = "observation/image"
EXPECTED = video_reward()(DEMO).reward.tolist()
pytestmark = pytest.mark.slow


def play(server, episodes, name=""):
    """Episodes of one robot, which must be paid as if it were alone."""
    with connect(f"ws://127.0.0.1:{server.port}", compression=None, open_timeout=60) as robot:
        robot.recv()
        for _ in range(episodes):
            got = []
            for t, frame in enumerate(DEMO):
                robot.send(pack({KEY: frame, "reset": t == 0, "session": name}))
                got.append(unpack(robot.recv(timeout=60))["reward"])
            assert got == EXPECTED


@pytest.mark.timeout(900)
def test_ten_thousand_frames_and_a_hundred_robots_leave_nothing_behind():
    with running() as server:
        tracemalloc.start()
        sizes = []
        for _ in range(5):
            threads = [threading.Thread(target=play, args=(server, 6, f"robot {k}")) for k in range(24)]
            for start in range(0, len(threads), 4):
                for thread in threads[start : start + 4]:
                    thread.start()
                for thread in threads[start : start + 4]:
                    thread.join()
            gc.collect()
            sizes.append(tracemalloc.get_traced_memory()[0])
        tracemalloc.stop()
        assert sum(size * count for size, count in server.batches.sizes.items()) >= 10_000
        assert len(server.sessions) == 0
        assert server.board._counts == {}
        assert server._open == 0
        # The first round fills caches of Python's own; 75 robots later there is no more.
        assert sizes[-1] - sizes[0] < 100_000, sizes


@pytest.mark.timeout(600)
def test_clients_that_send_anything_or_vanish_harm_nobody_else():
    rng = random.Random(0)
    whole = pack({KEY: DEMO[0], "session": "a", "reset": True})

    def damaged():
        data = bytearray(whole)
        for _ in range(rng.choice([1, 3, 30])):
            data[rng.randrange(min(len(data), 120))] = rng.randrange(256)
        return bytes(data[: rng.choice([len(data), rng.randrange(len(data))])])

    def raw(server):
        """No WebSocket, half a handshake, or half a frame, and gone without a word."""
        with socket.create_connection(("127.0.0.1", server.port)) as peer:
            shake = (
                f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
            ).encode()
            kind = rng.randrange(4)
            if kind == 0:
                peer.sendall(bytes(rng.randrange(256) for _ in range(rng.randrange(1, 300))))
            elif kind == 1:
                peer.sendall(shake[: rng.randrange(1, len(shake))])
            else:
                peer.sendall(shake)
                peer.recv(4096)
                # A frame of 126 kB is announced, and some of it comes.
                announced = b"\x82\xff" + (126_000).to_bytes(8, "big") + b"abcd"
                peer.sendall(announced + b"x" * rng.randrange(1000) if kind == 2 else bytes(rng.randbytes(200)))

    with running() as server:
        calm, failed = threading.Event(), []

        def good():
            try:
                while not calm.is_set():
                    play(server, 1)
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=good) for _ in range(3)]
        for thread in threads:
            thread.start()
        for k in range(400):
            if k % 4 == 0:
                raw(server)
                continue
            with connect(f"ws://127.0.0.1:{server.port}", compression=None) as robot:
                robot.recv()
                try:
                    robot.send(damaged())
                    robot.recv(timeout=60)
                except ConnectionClosed:
                    pass
        calm.set()
        for thread in threads:
            thread.join(60)
        assert failed == []
        assert client(server).infer({KEY: DEMO[0]})["demo_frame"] == 0


def test_a_decoder_that_is_given_anything_says_what_is_wrong():
    rng = np.random.default_rng(0)
    whole = pack({KEY: DEMO[0][:4, :4], "x": [1, {"y": np.float32(2)}], "reset": True})
    for _ in range(20_000):
        data = bytearray(whole)
        for _ in range(int(rng.choice([1, 2, 8]))):
            data[rng.integers(len(data))] = rng.integers(256)
        with contextlib.suppress(MessageError):
            assert isinstance(unpack(bytes(data)), dict)
