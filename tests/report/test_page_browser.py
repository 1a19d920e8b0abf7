"""The explainer page in a real Chromium: one slider, its keys, and what can be chosen."""

from __future__ import annotations

import time

import numpy as np
import pytest
from report.clips import COURSES, SHOWN, J, make_page
from report.screen import Screen, T

PAGE = make_page()
MINUS = "\u2212"


def nearest_frame(pixels: np.ndarray, frames: np.ndarray) -> int:
    return int(np.abs(frames - pixels[None]).mean(axis=(1, 2, 3)).argmin())


@pytest.mark.parametrize("t", [0, 17, 60, T - 1])
def test_the_slider_moves_everything(screen: Screen, t: int) -> None:
    screen.slide(t)
    attempt = PAGE.attempts[0]
    expected = int(np.asarray(attempt.results["orca"].story.position)[t])
    screen.until(lambda: screen.frame("demo-frame") == expected, f"demo frame {expected}")
    shown = screen.pixels("learner-frame")
    assert np.abs(shown - attempt.frames[t]).mean() < 8
    assert (attempt.frames[nearest_frame(shown, attempt.frames)] == attempt.frames[t]).all()
    assert nearest_frame(screen.pixels("demo-frame"), PAGE.demo.frames) == expected
    assert screen.data("curve", "marker") == t
    for name in ("cost", "assignment"):
        assert (screen.data(name, "row"), screen.data(name, "column")) == (t, expected)
    assert f"frame {t} / {T - 1}" in screen.text("learner-caption")
    assert f"frame {expected} / {J - 1}" in screen.text("demo-caption")


def test_a_dragged_thumb_and_the_marker_stay_in_line(screen: Screen) -> None:
    from selenium.webdriver import ActionChains

    slider = screen.element("time")
    screen("arguments[0].scrollIntoView({ block: 'center' })", slider)
    ActionChains(screen.driver, duration=0).move_to_element(slider).click().perform()
    screen.until(lambda: screen.frame("learner-frame") == round((T - 1) / 2), "the middle")
    curve = screen.element("curve")
    # A click on the curve below the thumb must lead to the same frame.
    left = screen("return arguments[0].getBoundingClientRect().left", curve)
    middle = screen("const b = arguments[0].getBoundingClientRect(); return b.left + b.width / 2", slider)
    width = screen("return arguments[0].getBoundingClientRect().width", curve)
    screen.press("\ue011")
    offset = round(middle - left - width / 2)
    ActionChains(screen.driver, duration=0).move_to_element_with_offset(curve, offset, 0).click().perform()
    assert abs(screen.data("curve", "marker") - (T - 1) / 2) <= 1


def test_the_keys(screen: Screen) -> None:
    from selenium.webdriver import Keys

    def now() -> int:
        return screen.data("curve", "marker")

    screen.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert now() == 3
    screen.press(Keys.ARROW_LEFT)
    assert now() == 2
    screen.press(Keys.END)
    assert now() == T - 1
    screen.press(Keys.ARROW_RIGHT)
    assert now() == T - 1
    screen.press(Keys.HOME)
    assert now() == 0
    screen("document.getElementById('time').focus()")  # a focused slider has keys of its own: once is enough
    screen.press(Keys.ARROW_RIGHT)
    assert now() == 1
    screen.press(Keys.SPACE)
    assert screen.text("play") == "Pause"
    screen.until(lambda: now() > 5, "playing")
    screen.press(Keys.SPACE)
    stopped = now()
    assert screen.text("play") == "Play"
    time.sleep(0.2)
    assert now() == stopped < T - 1


def test_playing_ends_at_the_end_and_begins_again(screen: Screen) -> None:
    screen.choose("speed", "4\u00d7")
    screen.slide(T - 8)
    screen.element("play").click()
    screen.until(lambda: screen.text("play") == "Play", "the end")
    assert screen.data("curve", "marker") == T - 1
    screen.element("play").click()
    screen.until(lambda: 0 < screen.data("curve", "marker") < T - 1, "the beginning")
    screen.element("play").click()


def test_buttons_go_one_frame(screen: Screen) -> None:
    screen.element("forward").click()
    screen.element("forward").click()
    screen.element("back").click()
    assert screen.data("curve", "marker") == 1


def test_matchers_and_attempts_can_be_switched(screen: Screen) -> None:
    screen.slide(60)
    screen.choose("matcher", "dtw")
    first, second = PAGE.attempts
    path = first.results["dtw"].assignment[60]
    assert path[screen.data("cost", "column")] > 0
    assert screen.text("assignment-name") == "Warping path"
    assert f"{first.results['dtw'].reward[60]:.3f}".replace("-", MINUS) in screen.text("readout")
    screen.choose("attempt", second.name)
    assert screen("return document.getElementById('matcher').selectedOptions[0].text") == "dtw"
    screen.until(lambda: screen.frame("learner-frame") == 60, "frame 60")
    screen.until(lambda: np.abs(screen.pixels("learner-frame") - second.frames[60]).mean() < 8, "the other clip")
    assert f"/ {len(second.frames) - 1}" in screen.text("learner-caption")
    chosen = "return [...document.querySelectorAll('#scores tr[aria-current=true]')].map((r) => r.innerText)"
    [row] = screen(chosen)
    assert second.name in row
    assert "dtw" in row


def test_an_attempt_that_is_shorter_keeps_the_slider_inside(screen: Screen) -> None:
    lengths = [len(attempt.frames) for attempt in PAGE.attempts]
    longer, shorter = int(np.argmax(lengths)), int(np.argmin(lengths))
    screen.choose("attempt", PAGE.attempts[longer].name)
    screen.slide(lengths[longer] - 1)
    screen.choose("attempt", PAGE.attempts[shorter].name)
    screen.until(lambda: screen.frame("learner-frame") == lengths[shorter] - 1, "the last frame")


def test_the_table_holds_every_score_and_chooses(screen: Screen) -> None:
    rows = screen(
        "return [...document.querySelectorAll('#scores tbody tr')].map((r) => [...r.cells].map((c) => c.innerText))"
    )
    assert [row[:2] for row in rows] == [[name, matcher] for name in COURSES for matcher in SHOWN]
    for row, (attempt, matcher) in zip(rows, ((a, m) for a in PAGE.attempts for m in SHOWN), strict=True):
        result = attempt.results[matcher]
        number = float(row[2].replace(MINUS, "-"))
        assert number == pytest.approx(result.total, rel=0.06)
        quarters = ["never" if frame is None else str(frame) for frame in result.story.quarters]
        assert row[4:8] == quarters
        assert row[8].split()[0] == str(result.story.longest_stall)
    screen.driver.find_elements("css selector", "#scores tbody button")[4].click()
    assert screen("return document.getElementById('attempt').value + document.getElementById('matcher').value") == "11"


def test_the_demo_can_run_at_the_same_share_of_time(screen: Screen) -> None:
    screen.slide(45)
    screen.driver.find_element("css selector", "input[value=share]").click()
    expected = int(np.floor(45 / (T - 1) * (J - 1) + 0.5))
    screen.until(lambda: screen.frame("demo-frame") == expected, f"demo frame {expected}")
    screen.driver.find_element("css selector", "input[value=followed]").click()
    followed = int(np.asarray(PAGE.attempts[0].results["orca"].story.position)[45])
    assert followed != expected
    screen.until(lambda: screen.frame("demo-frame") == followed, f"demo frame {followed}")
