"""The explainer page in a real Chromium: every width, both themes, no network, hostile names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from report.clips import make_page
from report.screen import Screen

from orcalign.report.explainer import PageAttempt, PageClip, PageData, render_page

PAGE = make_page()


def background(screen: Screen) -> str:
    return screen("return getComputedStyle(document.body).backgroundColor")


def test_dark_and_light(screen: Screen) -> None:
    light = background(screen)
    screen.prefer("dark")
    dark = background(screen)
    assert light != dark
    # The page hears of it a moment later than the style sheet.
    screen.until(lambda: screen.text("theme") == "Light", "the script to hear of it")
    curve_dark = screen.pixels("curve")
    screen.element("theme").click()
    assert background(screen) == light
    assert (screen.pixels("curve") != curve_dark).any()
    screen.element("theme").click()
    assert background(screen) == dark
    screen.prefer("light")
    assert background(screen) == dark  # what was chosen by hand stays


@pytest.mark.parametrize("width", [320, 360, 699, 700, 1280])
def test_nothing_is_wider_than_the_screen(screen: Screen, width: int) -> None:
    screen.size(width, 740, touch=width < 600)
    outside = """
        const wide = document.documentElement.clientWidth;
        return [...document.querySelectorAll('body *')]
            .filter((e) => e.getClientRects().length && !e.closest('thead'))
            .filter((e) => e.getBoundingClientRect().right > wide + 1 || e.getBoundingClientRect().left < -1)
            .map((e) => e.tagName + '#' + e.id)"""
    assert screen("return document.documentElement.scrollWidth") <= width
    assert screen(outside) == []
    small = "return [...document.querySelectorAll('button, select')].filter((e) => e.offsetHeight < 28).length"
    assert screen(small) == 0


def test_everything_has_a_name_and_shows_its_focus(screen: Screen) -> None:
    from selenium.webdriver import Keys

    nameless = """
        return [...document.querySelectorAll('button, select, input, canvas')]
            .filter((e) => !(e.ariaLabel || e.textContent.trim() || (e.labels && e.labels.length)))
            .map((e) => e.id)"""
    assert screen(nameless) == []
    screen.press(Keys.TAB)
    seen = []
    for _ in range(30):
        name, style = screen(
            "const e = document.activeElement; return [e.id || e.tagName, getComputedStyle(e).outlineStyle]"
        )
        if name == "BODY":
            break
        assert style == "solid", name
        seen.append(name)
        screen.press(Keys.TAB)
    assert {"theme", "attempt", "matcher", "play", "back", "forward", "time", "cost", "assignment"} <= set(seen)


def test_no_request_leaves_the_page(screen: Screen, page_file: Path) -> None:
    screen.driver.get_log("performance")
    screen.driver.get(page_file.as_uri())
    screen.until(lambda: screen.frame("learner-frame") == 0, "the first frame")
    screen.slide(50)
    screen.point("cost", 30, 30)
    messages = [json.loads(entry["message"])["message"] for entry in screen.driver.get_log("performance")]
    asked = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    assert page_file.as_uri() in asked
    assert [url for url in asked if url != page_file.as_uri() and not url.startswith("data:")] == []


def test_the_policy_stops_what_tries(screen: Screen) -> None:
    blocked = screen.driver.execute_async_script(
        """
        const done = arguments[arguments.length - 1];
        const blocked = [];
        document.addEventListener("securitypolicyviolation", (event) => {
          blocked.push(event.effectiveDirective);
          if (blocked.length === 2) done(blocked.sort());
        });
        new Image().src = "http://127.0.0.1:9/x.png";
        fetch("http://127.0.0.1:9/").catch(() => {});"""
    )
    assert blocked == ["connect-src", "img-src"]
    assert len(screen.errors()) >= 2  # the browser tells of both; none is left for the check after the test


def test_markup_in_names_is_shown_as_letters(chromium: Any, tmp_path: Path) -> None:
    attack = "</script><img src=x onerror=\"document.title='owned'\">"
    first = PAGE.attempts[0]
    results = {attack: first.results["orca"]}
    path = tmp_path / "attack.html"
    demo = PageClip(attack, PAGE.demo.frames, 30)
    attempt = PageAttempt(attack, first.frames, 30, first.cost, results)
    path.write_text(render_page(PageData(demo, (attempt,), {attack: attack})), "utf-8")
    screen = Screen(chromium)
    screen.errors()
    chromium.get(path.as_uri())
    screen.until(lambda: screen.frame("learner-frame") == 0, "the first frame")
    assert screen("return document.images.length") == 0
    assert chromium.title == f"orcalign: {attack}"
    assert attack in screen.text("subtitle")
    assert screen("return document.querySelector('#scores button').textContent") == attack
    for width in (360, 1280):
        screen.size(width, 740)
        assert screen("return document.documentElement.scrollWidth") <= width
    assert screen.errors() == []


def test_one_frame_each_and_a_reward_of_nothing(chromium: Any, tmp_path: Path) -> None:
    from types import SimpleNamespace

    from orcalign.report.explainer import PageResult

    frames = PAGE.demo.frames[:1]
    story = SimpleNamespace(final_coverage=0.0, quarters=(None,) * 4, longest_stall=0, position=[0], spans=())
    attempt = PageAttempt(
        "one", frames, 30, np.zeros((1, 1)), {"orca": PageResult(np.zeros(1), np.zeros((1, 1)), 0.0, story)}
    )
    path = tmp_path / "one.html"
    path.write_text(render_page(PageData(PageClip("one", frames, 30), (attempt,))), "utf-8")
    screen = Screen(chromium)
    screen.errors()
    chromium.get(path.as_uri())
    screen.until(lambda: screen.frame("learner-frame") == 0, "the only frame")
    screen.press("\ue014", " ", "\ue010")
    screen.driver.find_element("css selector", "input[value=share]").click()
    assert screen.frame("demo-frame") == 0
    assert "never" in screen.text("scores")
    assert screen.errors() == []
