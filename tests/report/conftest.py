"""A real Chromium, once for all tests of the page."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from report.clips import make_page
from report.screen import Screen

from orcalign.report.explainer import render_page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--window-size=1280,900",
)


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    if not (CHROMIUM and DRIVER):
        missing = " and ".join(name for name, found in (("chromium", CHROMIUM), ("chromedriver", DRIVER)) if not found)
        pytest.skip(
            f"THE EXPLAINER PAGE WAS NOT TESTED IN A BROWSER: {missing} not found on the PATH; "
            "install Debian's chromium and chromium-driver."
        )
    webdriver = pytest.importorskip("selenium.webdriver", reason="the page was not tested: selenium is missing")
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(executable_path=DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="session")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render_page(make_page()), "utf-8")
    return path


@pytest.fixture
def screen(chromium: Any, page_file: Path) -> Iterator[Screen]:
    screen = Screen(chromium)
    screen.size(1280, 900)
    screen.prefer("light")
    screen.errors()
    chromium.get(page_file.as_uri())
    screen.until(lambda: screen.frame("learner-frame") == 0, "the first frame")
    yield screen
    assert screen.errors() == []
