"""The explainer page in a real Chromium: heatmaps, and the marked stretches."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from report.clips import J, make_page
from report.screen import Screen, T

from orcalign.report.explainer import PageAttempt, PageClip, PageData, PageResult, render_page

PAGE = make_page()


@pytest.mark.parametrize("name", ["cost", "assignment"])
def test_pointing_at_a_cell_shows_its_two_frames(screen: Screen, name: str) -> None:
    screen.point(name, t=70, j=20)
    assert screen("return !document.getElementById('compare').hidden")
    screen.until(lambda: screen.frame("compare-demo") >= 0 and screen.frame("compare-learner") >= 0, "the frames")
    t, j = screen.frame("compare-learner"), screen.frame("compare-demo")
    assert (abs(t - 70) <= 1, abs(j - 20) <= 1) == (True, True)
    attempt = PAGE.attempts[0]
    assert np.abs(screen.pixels("compare-learner") - attempt.frames[t]).mean() < 8
    assert np.abs(screen.pixels("compare-demo") - PAGE.demo.frames[j]).mean() < 8
    assert f"cost {attempt.cost[t, j]:.3f}" in screen.text("compare-text")
    assert screen.data("curve", "marker") == 0
    screen.point(name, t=70, j=20, click=True)
    assert screen.data("curve", "marker") == t
    screen("window.scrollTo(0, 0)")
    from selenium.webdriver import ActionChains

    ActionChains(screen.driver, duration=0).move_to_element(screen.element("theme")).perform()
    assert screen("return document.getElementById('compare').hidden")


def test_the_panel_stays_in_the_window_and_off_the_cell(screen: Screen) -> None:
    for t, j in [(2, 2), *((60, j) for j in range(5, J, 7)), (T - 2, J - 2)]:
        screen.point("cost", t, j)
        left, right, top, bottom, wide, high, pointer = screen(
            """
            const b = document.getElementById('compare').getBoundingClientRect();
            const { clientWidth, clientHeight } = document.documentElement;
            const map = document.getElementById('cost').getBoundingClientRect();
            const pointer = map.left + 50 + (map.width - 62) * arguments[0];
            return [b.left, b.right, b.top, b.bottom, clientWidth, clientHeight, pointer]""",
            (j + 0.5) / J,
        )
        assert (left >= 0, right <= wide, top >= 0, bottom <= high) == (True,) * 4
        assert not left - 5 < pointer < right + 5


def test_cells_can_be_visited_with_the_keys(screen: Screen) -> None:
    from selenium.webdriver import Keys

    screen.slide(10)
    start = screen.data("cost", "column")
    screen("document.getElementById('cost').focus()")
    screen.press(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
    screen.until(lambda: screen.frame("compare-learner") == 12, "learner frame 12")
    screen.until(lambda: screen.frame("compare-demo") == start + 1, "the next demo frame")
    assert f"cost {PAGE.attempts[0].cost[12, start + 1]:.3f}" in screen.text("compare-text")
    assert screen.data("curve", "marker") == 10
    screen.press(Keys.ESCAPE)
    assert screen("return document.getElementById('compare').hidden")


def test_stretches_are_listed_and_lead_there(screen: Screen) -> None:
    spans = PAGE.attempts[0].results["orca"].story.spans
    assert {span.kind for span in spans} == {"stall", "skip"}
    buttons = screen.driver.find_elements("css selector", "#spans button")
    assert len(buttons) == len(spans)
    for button, span in zip(buttons, spans, strict=True):
        assert span.text in button.text
        button.click()
        assert screen.data("curve", "marker") == span.start
        assert button.get_attribute("aria-current") == "true"
    screen.choose("attempt", PAGE.attempts[1].name)
    assert "Backwards" in screen.text("spans")


def test_stretches_are_marked_below_the_curve(screen: Screen) -> None:
    [stall] = [span for span in PAGE.attempts[0].results["orca"].story.spans if span.kind == "stall"]
    row = screen.pixels("curve")[126]
    orange = np.abs(row - (0xE6, 0x9F, 0)).sum(axis=1) < 30
    left, right = 62, len(row) - 12
    frames = (np.flatnonzero(orange) - left) / (right - left) * (T - 1)
    assert frames.min() == pytest.approx(stall.start, abs=1)
    assert frames.max() == pytest.approx(stall.stop - 1, abs=1)


def test_the_heatmap_is_bright_where_frames_are_alike(screen: Screen) -> None:
    screen.slide(T - 1)
    pixels = screen.pixels("cost")
    plot = pixels[6 : pixels.shape[0] - 36, 50 : pixels.shape[1] - 12].sum(axis=2)
    rows = ((np.arange(10, T - 10, 7) + 0.5) / T * plot.shape[0]).astype(int)
    brightest = plot[rows].argmax(axis=1) / plot.shape[1] * J
    assert np.abs(brightest - PAGE.attempts[0].cost[10 : T - 10 : 7].argmin(axis=1)).max() <= 2


def test_a_tap_on_a_phone_shows_the_two_frames(screen: Screen) -> None:
    screen.size(360, 740, touch=True)
    screen("document.getElementById('cost').scrollIntoView({ block: 'center' })")
    box = screen("return document.getElementById('cost').getBoundingClientRect().toJSON()")
    tap = {"x": box["x"] + box["width"] / 2, "y": box["y"] + 100}
    screen.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [tap]})
    screen.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    screen.until(lambda: screen.frame("compare-demo") >= 0, "the demo frame")
    time.sleep(0.1)
    panel = screen("return document.getElementById('compare').getBoundingClientRect().toJSON()")
    assert panel["left"] >= 0
    assert panel["right"] <= 360
    assert panel["bottom"] <= 740
    assert panel["height"] > 100
    assert screen.data("curve", "marker") == 0


def test_a_thinned_heatmap_names_the_frames_that_its_cells_compare(chromium: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    learner, demo = (np.repeat(np.arange(n) % 250, 192).reshape(n, 8, 8, 3).astype(np.uint8) for n in (1501, 700))
    cost = rng.random((1501, 700))
    story = SimpleNamespace(
        final_coverage=0.0, quarters=(None,) * 4, longest_stall=0, position=np.zeros(1501), spans=()
    )
    result = PageResult(cost[:, 0], cost, 0.0, story)
    page = PageData(PageClip("d", demo, 30), (PageAttempt("a", learner, 30, cost, {"nearest": result}),))
    path = tmp_path / "long.html"
    path.write_text(render_page(page), "utf-8")
    screen = Screen(chromium)
    screen.size(1280, 900)
    chromium.get(path.as_uri())
    screen.until(lambda: screen.frame("learner-frame") == 0, "the first frame")
    assert "640 \u00d7 640 of 1501 \u00d7 700 cells" in screen.text("cost-scale")
    for t, j in [(3, 3), (47, 50), (80, 71)]:
        screen.point("cost", t, j)
        captions = screen("return [...document.querySelectorAll('#compare figcaption')].map((c) => c.textContent)")
        shown_j, shown_t = (int(caption.split()[-1]) for caption in captions)
        assert (abs(shown_t / 1501 - t / T) < 0.02, abs(shown_j / 700 - j / J) < 0.02) == (True, True)
        assert f"cost {cost[shown_t, shown_j]:.3f}" in screen.text("compare-text")
