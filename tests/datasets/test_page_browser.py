"""The page of a data set in a real Chromium, with a thousand episodes."""

import functools
import time
from types import SimpleNamespace

import numpy as np
import pytest
from datasets.test_labelling import order_of
from report.screen import Screen

from orcalign.datasets.explainers import write_explainers
from orcalign.datasets.labelling import label_dataset
from orcalign.datasets.labels import Labels
from orcalign.datasets.lerobot import DataSet, Episode
from orcalign.datasets.page import write_page

MANY = 1000
THERE = "return [...document.querySelectorAll('.row')].some((row) => row.offsetTop === arguments[0])"


@pytest.fixture(scope="module")
def pages(recorded, tmp_path_factory):
    """The page of real labels, and of a thousand made of them."""
    own = label_dataset(order_of(recorded), tmp_path_factory.mktemp("own"))
    few = write_page(own, write_explainers(own, [5]), {5: {"success": 0.0}, 1: {"success": 1.0}})
    rng = np.random.default_rng(0)
    labels, episodes = [], []
    for k in range(MANY):
        one = own.labels[k % 6]
        curve = np.sort(rng.uniform(0, 1, 300)).astype(np.float32)
        labels.append(Labels(k, 300 * k, curve, curve, curve, float(rng.uniform()), one.story, one.picture, one.kind))
        episodes.append(Episode(k, 300 * k, 300, own.labeller.order.dataset.episodes[0].video, 0.0))
    order = own.labeller.order
    big = DataSet(order.dataset.root, "many", "v3.0", 30.0, order.dataset.camera, tuple(episodes))
    settings = SimpleNamespace(**{**vars(order), "dataset": big, "demo_number": 0})
    made = SimpleNamespace(
        labels=tuple(labels), labeller=SimpleNamespace(order=settings), progress=tmp_path_factory.mktemp("many") / "x"
    )
    return few, write_page(made, {})


@pytest.fixture
def opened(chromium):
    def open_page(path):
        screen = Screen(chromium)
        screen.size(1280, 900)
        screen.errors()
        chromium.get(path.as_uri())
        return screen

    return open_page


def rows(screen):
    return screen("return [...document.querySelectorAll('.row')].map((row) => Number(row.dataset.episode))")


def test_failures_first_with_video_words_and_explainer(pages, opened):
    screen = opened(pages[0])
    assert rows(screen)[0] == 5
    assert screen.text("name") == "Episode 5"
    assert "failed in truth" in screen("return document.querySelector('.row').textContent")
    screen.until(lambda: screen("return document.getElementById('video').readyState") >= 2, "the data set's video")
    # The 31 frames of episode 4 come before it in the second file; half a frame in, no clock can round to them.
    assert screen("return document.getElementById('video').currentTime") == pytest.approx(3.1 + 0.05, abs=0.02)
    assert screen("return document.getElementById('explainer').getAttribute('href')") == "orcalign_episode_000005.html"
    screen("document.getElementById('list').focus()")
    screen.press("\ue015")
    assert screen.text("name") == f"Episode {rows(screen)[1]}"
    screen("document.getElementById('failed').click()")
    assert rows(screen) == [5]
    screen.element("explainer").click()
    screen.until(lambda: screen("return document.querySelector('h1').textContent").startswith("Episode 5: how"), "why")
    assert screen.errors() == []


def test_a_thousand_episodes_stay_usable(pages, opened):
    assert pages[1].stat().st_size < 6_000_000
    start = time.monotonic()
    screen = opened(pages[1])
    assert len(rows(screen)) < 30
    assert time.monotonic() - start < 10
    slowest = 0.0
    for top in range(0, 76 * MANY, 76 * 50):
        screen("document.getElementById('list').scrollTop = arguments[0]", top)
        before = time.monotonic()
        screen.until(functools.partial(screen, THERE, top), "rows there")
        slowest = max(slowest, time.monotonic() - before)
    assert len(rows(screen)) < 30
    assert slowest < 2
    screen("const f = document.getElementById('find'); f.value = '777'; f.dispatchEvent(new Event('input'))")
    assert rows(screen) == [777]
    screen("const f = document.getElementById('find'); f.value = ''; f.dispatchEvent(new Event('input'))")
    screen("const o = document.getElementById('order'); o.value = 'number'; o.dispatchEvent(new Event('change'))")
    assert rows(screen)[:3] == [0, 1, 2]
    assert screen.errors() == []
