"""The page of a training run in a real Chromium: curves that can be read off, above the explainer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from report.run_folders import OWN, make_run, real_records
from report.screen import Screen

from orcalign.report.training_run import write_report

EVALUATIONS = real_records("evaluation")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    return {
        "whole": write_report(make_run(folder / "whole")),
        "bare": write_report(make_run(folder / "bare", videos=False)),
        "own": write_report(make_run(folder / "own", **OWN)),
    }


def visit(chromium: Any, path: Path) -> Screen:
    screen = Screen(chromium)
    screen.size(1280, 900)
    screen.prefer("light")
    screen.errors()
    chromium.get(path.as_uri())
    screen.until(lambda: screen("return document.querySelector('.chart').dataset.step"), "the curves")
    return screen


@pytest.fixture
def whole(chromium: Any, pages: dict[str, Path]) -> Iterator[Screen]:
    screen = visit(chromium, pages["whole"])
    yield screen
    assert screen.errors() == []


def readouts(screen: Screen) -> list[str]:
    return screen("return [...document.querySelectorAll('.readout')].map((e) => e.textContent)")


def hover(screen: Screen, chart: int, share: float) -> None:
    """Point at a place along a chart, by the margins that it is drawn with."""
    from selenium.webdriver import ActionChains

    canvas = screen.driver.find_elements("css selector", ".chart")[chart]
    screen("arguments[0].scrollIntoView({ block: 'center' })", canvas)
    width = canvas.size["width"]
    across = round(56 + share * (width - 70) - width / 2)
    ActionChains(screen.driver, duration=0).move_to_element_with_offset(canvas, across, 0).perform()


def test_curves_are_drawn_and_end_with_the_last_values(whole: Screen) -> None:
    assert whole("return document.querySelectorAll('.chart').length") == 6
    last = EVALUATIONS[-1]
    assert f"step {last['step']:,}" in readouts(whole)[0]
    assert f"normalised return {last['normalised']:.3f}" in readouts(whole)[0]
    painted = """
        return [...document.querySelectorAll('.chart')].map((c) => {
          const data = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
          const seen = new Set();
          for (let k = 0; k < data.length; k += 4) {
            if (data[k + 3] === 255) seen.add(`${data[k]},${data[k + 1]},${data[k + 2]}`);
          }
          return seen.has('0,96,160'); // the accent of the light theme
        })"""
    assert whole(painted) == [True] * 6


@pytest.mark.parametrize("k", [0, 1, 2])
def test_pointing_reads_the_nearest_evaluation_off_all_curves(whole: Screen, k: int) -> None:
    before = whole.driver.find_elements("css selector", ".chart")[0].screenshot_as_base64
    total = max(record["step"] for record in real_records())
    record = EVALUATIONS[k]
    hover(whole, 0, (record["step"] + 20) / total)
    texts = readouts(whole)
    assert f"step {record['step']:,}" in texts[0]
    shown = float(texts[0].split("normalised return ")[1].split()[0])
    assert shown == pytest.approx(record["normalised"], abs=1e-3)
    assert f"at the last step {record['success_rate']:.3f}".replace("0.000", "0") in texts[1]
    assert whole.driver.find_elements("css selector", ".chart")[0].screenshot_as_base64 != before
    hover(whole, 3, 0.5)  # a chart of training episodes has more of them
    assert "mean of 5" in readouts(whole)[3]


def test_the_keys_read_a_focused_curve_off(whole: Screen) -> None:
    from selenium.webdriver import Keys

    whole("document.querySelector('.chart').focus()")
    whole.press(Keys.ARROW_LEFT)
    assert f"step {EVALUATIONS[-1]['step']:,}" in readouts(whole)[0]
    whole.press(Keys.ARROW_LEFT)
    assert f"step {EVALUATIONS[-2]['step']:,}" in readouts(whole)[0]
    assert whole.data("curve", "marker") == 0  # the explainer below did not hear of it


def test_notes_are_listed(whole: Screen) -> None:
    assert "Step 30: rewards are multiplied by" in whole.text("marks")
    assert not whole("return document.getElementById('marks-box').hidden")


def test_the_explainer_works_below_the_curves(whole: Screen) -> None:
    from selenium.webdriver import Keys

    whole("document.body.focus(); window.scrollTo(0, 0)")
    whole.press(Keys.ARROW_RIGHT)
    assert whole.data("curve", "marker") == 0  # not in sight: the keys are the browser's
    whole("document.getElementById('time').scrollIntoView()")
    whole.press(Keys.ARROW_RIGHT)
    assert whole.data("curve", "marker") == 1
    whole.slide(12)
    assert whole.frame("learner-frame") == 12
    names = whole("return [...document.getElementById('attempt').options].map((o) => o.text)")
    assert [name.split()[0] for name in names] == ["last", "last", "first", "first"]
    whole.choose("attempt", names[2])
    whole.until(lambda: whole.frame("learner-frame") == 12, "the same frame of another episode")


@pytest.mark.parametrize("name", ["whole", "bare", "own"])
def test_dark_and_light(chromium: Any, pages: dict[str, Path], name: str) -> None:
    screen = visit(chromium, pages[name])
    ground = "return getComputedStyle(document.body).backgroundColor"
    picture = "return document.querySelector('.chart').toDataURL()"
    light = screen(ground), screen(picture)
    screen.element("theme").click()
    dark = screen(ground), screen(picture)
    assert light[0] != dark[0]
    assert light[1] != dark[1]
    screen.element("theme").click()
    assert (screen(ground), screen(picture)) == light
    assert screen.errors() == []


@pytest.mark.parametrize("name", ["whole", "own"])
@pytest.mark.parametrize("width", [320, 360, 700, 1280])
def test_nothing_is_wider_than_the_screen(chromium: Any, pages: dict[str, Path], name: str, width: int) -> None:
    whole = visit(chromium, pages[name])
    whole("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    whole.size(width, 740, touch=width < 600)
    outside = """
        const wide = document.documentElement.clientWidth;
        return [...document.querySelectorAll('body *')]
            .filter((e) => e.getClientRects().length && !e.closest('thead'))
            .filter((e) => e.getBoundingClientRect().right > wide + 1 || e.getBoundingClientRect().left < -1)
            .map((e) => e.tagName + '#' + e.id + '.' + e.className)"""
    assert whole("return document.documentElement.scrollWidth") <= width
    assert whole(outside) == []
    assert whole.errors() == []


def test_an_episode_without_a_demo_has_pictures_and_a_curve(chromium: Any, pages: dict[str, Path]) -> None:
    screen = visit(chromium, pages["own"])
    seen = "return [...document.querySelectorAll('.alone img')].map((e) => e.complete && e.naturalWidth > 0 && e.width)"
    widths = screen(seen)
    assert len(widths) == 40
    assert min(widths) > 60
    assert screen("return document.querySelectorAll('.alone polyline')[0].points.numberOfItems") == 30


def test_a_run_without_videos_has_a_page_without_errors(chromium: Any, pages: dict[str, Path]) -> None:
    screen = visit(chromium, pages["bare"])
    assert screen("return document.getElementById('time')") is None
    hover(screen, 1, 0.2)
    assert screen.errors() == []
