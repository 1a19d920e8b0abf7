"""The live page in a real Chromium."""

from __future__ import annotations

import numpy as np
import pytest
from report.screen import Screen
from serving.running import DEMO, client, live, running, video_reward

KEY = "observation/image"


@pytest.fixture
def opened(chromium):
    """A server, and a page that is open on it."""
    with running() as server:
        screen = Screen(chromium)
        screen.size(1280, 900)
        screen.prefer("light")
        screen.errors()
        chromium.get(f"http://127.0.0.1:{server.port}/")
        screen.until(lambda: screen.text("state") == "waiting for a robot", "the connection")
        yield server, screen
        chromium.get("about:blank")
        assert screen.errors() == []


def pixels(screen, name):
    """[H, W, 3] of a picture of the page."""
    screen(
        "const i = document.getElementById(arguments[0]), c = document.createElement('canvas');"
        "c.id = 'copied'; c.width = i.naturalWidth; c.height = i.naturalHeight;"
        "document.getElementById('copied')?.remove(); document.body.append(c); c.getContext('2d').drawImage(i, 0, 0)",
        name,
    )
    return screen.pixels("copied")


def test_camera_demo_frame_reward_and_progress_are_shown_live(opened):
    server, screen = opened
    robot = client(server)
    match = video_reward()(DEMO)
    for t, frame in enumerate(DEMO):
        reply = robot.infer({KEY: frame})
        screen.until(lambda t=t: screen.text("followed-words-0") == f"{t + 1} of {len(DEMO)}", f"frame {t}")
        assert float(screen.text("reward").replace("\u2212", "-")) == pytest.approx(reply["reward"], rel=0.1, abs=1e-3)
    screen.until(lambda: screen.data("live-curve", "points") == len(DEMO), "all points")
    for picture in ("camera-0", "followed-0"):
        screen.until(
            lambda name=picture: screen("return document.getElementById(arguments[0]).complete", name), picture
        )
        assert abs(pixels(screen, picture) - DEMO[-1].astype(int)).mean() < 6, picture
    assert screen.text("done") == "yes"
    assert float(screen.text("total")) == pytest.approx(match.total, abs=0.01)
    assert screen("return document.getElementById('bar').value") == pytest.approx(1, abs=0.01)
    curve = screen.pixels("live-curve")
    assert len(np.unique(curve.reshape(-1, 3), axis=0)) > 20, "something is drawn"
    robot.infer({KEY: DEMO[0], "reset": True})
    screen.until(lambda: screen.data("live-curve", "points") == 1, "a new episode")


def test_one_robot_of_several_is_chosen_and_the_page_outlives_them(opened):
    server, screen = opened
    first, second = client(server), client(server)
    first.infer({KEY: DEMO[3]})
    screen.until(lambda: screen.text("followed-words-0") == f"4 of {len(DEMO)}", "the first robot")
    second.infer({KEY: DEMO[9], "session": "left"})
    screen.until(lambda: screen.text("state") == "2 connected", "the second robot")
    assert screen.text("followed-words-0") == f"4 of {len(DEMO)}", "the page stays with the first"
    screen.choose("session", "2/left")
    second.infer({KEY: DEMO[9], "session": "left"})
    screen.until(lambda: screen.text("followed-words-0") == f"10 of {len(DEMO)}", "the chosen robot")
    second._ws.close()
    screen.until(lambda: screen.text("state") == "1 connected", "that it has gone")
    at = first.infer({KEY: DEMO[5], "reset": True})["demo_frame"]
    screen.until(lambda: screen.text("followed-words-0") == f"{at + 1} of {len(DEMO)}", "the one that is left")


def test_every_camera_has_its_row(chromium):
    made = live(video_reward(), video_reward(DEMO[::-1]), keys=(KEY, "observation/<wrist>"))
    with running(made) as server:
        screen = Screen(chromium)
        screen.errors()
        chromium.get(f"http://127.0.0.1:{server.port}/")
        screen.until(lambda: screen.text("state") == "waiting for a robot", "the connection")
        client(server).infer({KEY: DEMO[2], "observation/<wrist>": DEMO[-3]})
        screen.until(lambda: screen.text("followed-words-1") == f"3 of {len(DEMO)}", "the second camera")
        assert "observation/<wrist>" in screen("return document.body.textContent")
        chromium.get("about:blank")
        assert screen.errors() == []
