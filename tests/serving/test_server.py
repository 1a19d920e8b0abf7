"""The server, asked by openpi's own client from PyPI."""

from __future__ import annotations

import re
import threading
import urllib.error
import urllib.request

import msgpack
import numpy as np
import pytest
from serving.running import DEMO, SETTINGS, client, live, running, video_reward
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from orcalign.rewards import VideoReward
from orcalign.serving.access import Access
from orcalign.serving.messages import pack, unpack

KEY = "observation/image"


@pytest.fixture(scope="module")
def server():
    with running() as started:
        yield started


def address(server, path="/"):
    return f"ws://127.0.0.1:{server.port}{path}"


def get(server, path, **headers):
    request = urllib.request.Request(f"http://127.0.0.1:{server.port}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_openpi_s_client_gets_the_rewards_of_the_whole_episode(server):
    robot = client(server)
    about = robot.get_server_metadata()
    assert about["server"] == "orcalign"
    assert about["cameras"] == [{"image_key": KEY, "demos": [{"name": "memory", "frames": len(DEMO)}]}]
    match = video_reward()(DEMO)
    for t, frame in enumerate(DEMO):
        reply = robot.infer({KEY: frame, "prompt": "close the door", "observation/state": np.zeros(8)})
        assert reply["reward"] == match.reward[t]
        assert reply["progress"] == match.match.progress[t]
        assert reply["coverage"] == match.match.assignment[t, -1]
        assert reply["demo_frame"] == t
        assert reply["server_timing"]["infer_ms"] > 0
        assert ("prev_total_ms" in reply["server_timing"]) == (t > 0)
    assert reply["done"] is True
    again = robot.infer({KEY: DEMO[0], "reset": True})
    assert (again["reward"], again["done"], again["demo_frame"]) == (match.reward[0], False, 0)
    assert robot.infer({"reset": True})["progress"] == 0


def test_sessions_of_one_connection_and_of_several_are_apart(server):
    one, other = client(server), client(server)
    match = video_reward()(DEMO)
    for t in range(5):
        for robot, name in ((one, "left"), (one, "right"), (other, "left"), (other, 7)):
            assert robot.infer({KEY: DEMO[t], "session": name})["reward"] == match.reward[t]
    assert one.infer({KEY: DEMO[0], "session": "left", "reset": True})["reward"] == match.reward[0]
    assert one.infer({KEY: DEMO[5], "session": "right"})["reward"] == match.reward[5]


def test_frames_of_several_robots_are_encoded_in_one_go():
    slow, calls = threading.Event(), []
    reward = video_reward()
    encode = reward.encoder

    def encoder(frames):
        calls.append(len(frames))
        slow.wait(0.2)
        return encode(frames)

    encoder.name = "slow pixels"
    reward.model.encoder = encoder
    with running(live(reward)) as server:
        robots = [client(server) for _ in range(4)]
        expected = video_reward()(DEMO).reward
        del calls[:]
        got = [[] for _ in robots]

        def play(k):
            got[k] += [robots[k].infer({KEY: frame})["reward"] for frame in DEMO[:6]]

        threads = [threading.Thread(target=play, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert all(one == expected[:6].tolist() for one in got)
    assert sum(calls) == 24
    assert max(calls) >= 3
    assert max(server.batches.sizes) >= 3


def test_several_cameras_have_a_demo_each():
    wrist = DEMO[:, :, ::-1].copy()
    made = live(video_reward(), video_reward(wrist), keys=(KEY, "observation/wrist_image"))
    with running(made) as server:
        robot = client(server)
        assert [one["image_key"] for one in robot.get_server_metadata()["cameras"]] == list(made.keys)
        expected = (video_reward()(DEMO).reward + video_reward(wrist)(wrist).reward) / 2
        for t, frame in enumerate(DEMO):
            nested = {"observation": {"image": frame, "wrist_image": np.moveaxis(wrist[t], 2, 0)}}
            reply = robot.infer(nested)
            assert reply["reward"] == pytest.approx(expected[t])
            assert reply["demo_frames"] == [t, t]
        assert reply["done"]
        # One camera alone sees it done: the robot has not done it.
        robot.infer({"reset": True})
        for frame in DEMO:
            reply = robot.infer({KEY: frame, "observation/wrist_image": wrist[0]})
        assert (reply["done"], reply["progress"] < 0.3) == (False, True)
        with pytest.raises(RuntimeError, match=r"no 'observation/wrist_image'; did you mean"):
            robot.infer({KEY: DEMO[0], "observation/wrist_imag": DEMO[0]})


def ndarray(data=b"\0" * 12, dtype="|u1", shape=(2, 2, 3)):
    return {KEY: {b"__ndarray__": True, b"data": data, b"dtype": dtype, b"shape": shape}}


BAD = {
    "text": ("hello", "text message"),
    "garbage": (b"\xc1\xff\x00", "not one msgpack map"),
    "half": (pack({KEY: DEMO[0]})[:500], "not one msgpack map"),
    "no map": (msgpack.packb([1, 2]), "of type list"),
    "no image": (pack({"observation/imag": DEMO[0]}), "did you mean 'observation/imag'"),
    "floats": (pack({KEY: DEMO[0] / 255}), r"is float64.*\(255 \* image\)"),
    "several frames": (pack({KEY: DEMO[:2]}), "one picture"),
    "another shape": (pack({KEY: DEMO[0, :20]}), "different shape"),
    "objects": (msgpack.packb(ndarray(dtype="|O")), "only integers, floats and booleans"),
    "records": (msgpack.packb(ndarray(dtype="i4,i4")), "only integers, floats and booleans"),
    "times": (msgpack.packb(ndarray(dtype="<M8[ns]")), "only integers, floats and booleans"),
    "too little": (msgpack.packb(ndarray(shape=(2, 2, 4))), "cannot have 12 bytes"),
    "too large": (msgpack.packb(ndarray(shape=(2**40, 2**40, 3))), "cannot have 12 bytes"),
    "negative": (msgpack.packb(ndarray(shape=(-1, -4, 3))), "shape"),
    "many lists": (msgpack.packb({"x": [[[]] * 200] * 200}), "entries"),
    "reset": (pack({KEY: DEMO[0], "reset": "yes"}), "reset is 'yes'"),
    "session": (pack({KEY: DEMO[0], "session": "x" * 65}), "at most 64 letters"),
}


@pytest.mark.parametrize("bad", BAD)
def test_a_bad_message_is_told_what_is_wrong_and_closes_that_connection_alone(server, bad):
    message, words = BAD[bad]
    other = client(server)
    expected = video_reward()(DEMO).reward
    assert other.infer({KEY: DEMO[0]})["reward"] == expected[0]
    with connect(address(server), compression=None) as robot:
        unpack(robot.recv())
        robot.send(message)
        said = robot.recv(timeout=10)
        assert isinstance(said, str)
        assert "\n" not in said
        assert re.search(words, said), said
        with pytest.raises(ConnectionClosed):
            robot.recv(timeout=10)
    assert other.infer({KEY: DEMO[1]})["reward"] == expected[1]


def test_health_and_other_paths(server):
    assert get(server, "/healthz") == (200, "OK\n")
    assert get(server, "/etc/passwd")[0] == 404
    status, page = get(server, "/")
    assert status == 200
    assert page.startswith("<!doctype html>")


def test_other_people_s_pages_do_not_reach_a_server_on_this_machine(server):
    with pytest.raises(InvalidStatus):
        connect(address(server), origin="http://evil.example").__enter__()
    with pytest.raises(InvalidStatus):
        connect(address(server, "/live"), origin="null").__enter__()
    assert get(server, "/", Host="evil.example:8000")[0] == 403
    with connect(address(server), origin=f"http://127.0.0.1:{server.port}") as own:
        own.recv()


def test_from_other_machines_a_token_is_needed():
    with pytest.raises(ValueError, match="give a token of 16 letters or more"):
        Access("0.0.0.0", None)
    with pytest.raises(ValueError, match="has 3 letters"):
        Access("0.0.0.0", "abc")
    token = "a token of some length"
    with running(access=Access("0.0.0.0", token)) as server:
        assert client(server, api_key=token).infer({KEY: DEMO[0]})["demo_frame"] == 0
        for key in (None, "another token of some length"):
            with pytest.raises(InvalidStatus):
                client(server, api_key=key)
        assert get(server, "/healthz")[0] == 200
        assert get(server, "/")[0] == 403
        assert get(server, "/?token=a+token+of+some+length")[0] == 200


def test_a_robot_that_does_not_listen_is_slowed_down_and_kept():
    """It sends without reading: the server reads as fast as it is heard, keeps little, and throws nobody out."""
    with running(ping=0.05) as server:
        robot = client(server)
        message = pack({KEY: DEMO[0], "session": "x" * 60})
        for _ in range(300):
            robot._ws.send(message)
        other = client(server)
        assert other.infer({KEY: DEMO[0]})["demo_frame"] == 0
        assert len([robot._ws.recv(timeout=30) for _ in range(300)]) == 300


def test_too_many_connections_and_sessions_are_refused_in_words():
    with running(most_connections=2) as server:
        first, _second = client(server), client(server)
        with connect(address(server), compression=None) as third:
            assert "2 connections" in third.recv(timeout=10)
        server.sessions._most = 1
        first.infer({KEY: DEMO[0]})
        with pytest.raises(RuntimeError, match="1 sessions"):
            first.infer({KEY: DEMO[0], "session": "another"})


def test_a_silent_connection_is_closed_in_words():
    with running(silence=0.1) as server, connect(address(server), compression=None) as robot:
        robot.recv()
        assert "nothing came or was taken" in robot.recv(timeout=10)


def test_what_cannot_stream_cannot_be_served():
    with pytest.raises(ValueError, match="looks 2 frames ahead"):
        live(VideoReward(DEMO, "pixels"))
    with pytest.raises(ValueError, match="each camera needs a key"):
        live(video_reward(), keys=("a", "b"))
    assert SETTINGS["direction"] == "past"
