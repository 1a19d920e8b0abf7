"""The explainer page as a text: what goes in, what is refused, what it weighs."""

from __future__ import annotations

import dataclasses
import json
import re
from base64 import b64decode
from types import SimpleNamespace
from typing import Any

import av
import numpy as np
import pytest
from report.clips import COURSES, J, draw, make_page

from orcalign.matching import MATCHERS
from orcalign.report.explainer import PageAttempt, PageClip, PageData, PageResult, followed, render_page
from orcalign.report.explainer.embedding import LADDER, MOST, embed_frames, embed_matrix, kept_indices

STORY = SimpleNamespace(final_coverage=0.5, quarters=(0, 1, None, None), longest_stall=0, position=[0, 1], spans=())
FRAMES = np.zeros((2, 8, 8, 3), np.uint8)
COST = np.array([[0.0, 1.0], [1.0, 0.0]])


def result(**changes: Any) -> PageResult:
    return PageResult(**{"reward": np.ones(2), "assignment": np.eye(2), "total": 2.0, "story": STORY, **changes})


def attempt(**changes: Any) -> PageAttempt:
    given = {"name": "try", "frames": FRAMES, "fps": 30.0, "cost": COST, "results": {"dtw": result()}}
    return PageAttempt(**{**given, **changes})


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script id="report" type="application/json">(.*?)</script>', page, re.S)
    assert found
    return json.loads(found[1])


def decode(picture: str) -> np.ndarray:
    codec = "webp" if b64decode(picture)[:4] == b"RIFF" else "mjpeg"
    context = av.CodecContext.create(codec, "r")
    [frame] = context.decode(av.Packet(b64decode(picture)))
    return frame.to_ndarray(format="rgb24")


ATTACKS = (
    "</script><img src=x onerror=alert(1)>",
    "<!--<script>",
    '"><b>',
    "{{data}} {{script}}",
    "a&amp;b\u2028",
    "\udcff.mp4",
)


@pytest.mark.parametrize("name", ATTACKS)
def test_names_from_outside_stay_text(name: str) -> None:
    plain = render_page(PageData(PageClip("n", FRAMES, 1), (attempt(name="n", results={"m": result()}),), {"k": "v"}))
    page = render_page(
        PageData(PageClip(name, FRAMES, 1), (attempt(name=name, results={name: result()}),), {name: name})
    )
    page.encode()
    for mark in ("<script", "</script", "<img", "<!--", "<b>", "{{"):
        extra = 1 if mark == "{{" and mark in name else 0  # in the data and the title, as plain letters
        assert (page.count(mark) > plain.count(mark)) == bool(extra)
    shown = name.encode("utf-8", "replace").decode()
    data = data_of(page)
    assert data["demo"]["name"] == data["attempts"][0]["clip"]["name"] == shown
    assert data["attempts"][0]["results"][0]["matcher"] == shown
    assert data["settings"] == [[shown, shown]]


def test_the_same_data_gives_the_same_text() -> None:
    assert render_page(make_page()) == render_page(make_page())


def test_it_names_no_address_and_forbids_the_network() -> None:
    page = render_page(make_page())
    without_data = re.sub(r'<script id="report".*?</script>', "", page, flags=re.S)
    assert len(without_data) < len(page) / 2
    assert not re.search(r"https?:|//[a-z]|@import|url\(", without_data)
    assert "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'" in page


@pytest.mark.parametrize("codec", ["libwebp", "mjpeg"])
def test_pictures_show_their_frames(codec: str) -> None:
    frames = draw(COURSES["stalls and skips.mp4"] / (J - 1), seed=1)
    clip = embed_frames(frames, codec=codec)
    assert len(clip["order"]) == len(frames)
    assert len(clip["pictures"]) == len(np.unique(frames, axis=0))
    for t in (0, 40, len(frames) - 1):
        seen = decode(clip["pictures"][clip["order"][t]]).astype(int)
        assert seen.shape == frames[t].shape
        assert np.abs(seen - frames[t]).mean() < 8
        nearest = np.abs(frames - seen[None]).mean(axis=(1, 2, 3)).argmin()
        assert clip["order"][nearest] == clip["order"][t]


@pytest.mark.parametrize(("shape", "size"), [((480, 640), (240, 320)), ((641, 33), (320, 16)), ((1, 1), (1, 1))])
def test_pictures_are_at_most_320_pixels_long(shape: tuple[int, int], size: tuple[int, int]) -> None:
    clip = embed_frames(np.full((1, *shape, 3), (200, 40, 90), np.uint8))
    assert (clip["height"], clip["width"]) == size
    picture = decode(clip["pictures"][0])
    assert picture.shape[:2] == size
    assert np.abs(picture.reshape(-1, 3).mean(axis=0) - (200, 40, 90)).max() < 6


def test_a_noisy_clip_gets_smaller_pictures_instead_of_more_bytes() -> None:
    frames = np.random.default_rng(0).integers(0, 256, (12, 240, 320, 3), dtype=np.uint8)
    full = embed_frames(frames, budget=10**9)
    tight = embed_frames(frames, budget=60_000)
    assert full["width"] == 320 > tight["width"]
    assert sum(len(b64decode(picture)) for picture in tight["pictures"]) <= 60_000
    hopeless = embed_frames(frames, budget=1)
    assert hopeless["width"] == LADDER[-1][0]
    assert len(hopeless["pictures"]) == 12


def test_two_noisy_ten_second_clips_and_every_matcher_stay_below_10_mb() -> None:
    rng = np.random.default_rng(0)
    frames = rng.integers(0, 256, (300, 240, 320, 3), dtype=np.uint8)
    cost = rng.random((300, 300))
    story = SimpleNamespace(**{**vars(STORY), "position": np.arange(300)})
    matches = {name: matcher(cost) for name, matcher in MATCHERS.items()}
    results = {
        name: PageResult(match.reward, match.assignment, float(match.reward.sum()), story)
        for name, match in matches.items()
    }
    page = render_page(PageData(PageClip("d", frames, 30), (PageAttempt("a", frames[::-1], 30, cost, results),)))
    assert len(page.encode()) < 10_000_000


@pytest.mark.parametrize("bits", [8, 16])
def test_a_matrix_comes_back_within_half_a_step(bits: int) -> None:
    values = np.random.default_rng(1).normal(size=(30, 20))
    heat = embed_matrix(values, bits)
    steps = np.frombuffer(b64decode(heat["data"]), f"<u{bits // 8}").reshape(30, 20)
    back = heat["low"] + steps * (heat["high"] - heat["low"]) / (2**bits - 1)
    assert not heat["log"]
    assert np.abs(back - values).max() <= 0.51 * (heat["high"] - heat["low"]) / (2**bits - 1)


def test_fading_coverage_gets_logarithmic_steps() -> None:
    values = np.exp(-np.arange(60.0) / 2)[None].repeat(3, axis=0)
    values[0, 0] = 0
    heat = embed_matrix(values, 8)
    steps = np.frombuffer(b64decode(heat["data"]), np.uint8).reshape(3, 60)
    assert heat["log"]
    assert heat["low"] == pytest.approx(1e-6)
    assert steps[0, 0] == 0
    back = heat["low"] * (heat["high"] / heat["low"]) ** (steps[1] / 255)
    assert np.allclose(back, np.maximum(values[1], 1e-6), rtol=0.03)


@pytest.mark.parametrize("value", [0.0, -3.0, 1e308])
def test_a_constant_matrix_is_no_division_by_zero(value: float) -> None:
    heat = embed_matrix(np.full((2, 2), value), 8)
    assert set(b64decode(heat["data"])) == {0}


@pytest.mark.parametrize("count", [1, 2, 7, MOST, MOST + 1, 1000, 5000])
def test_kept_rows_are_spread_evenly_from_first_to_last(count: int) -> None:
    kept = kept_indices(count)
    assert kept[0] == 0
    assert kept[-1] == count - 1
    assert len(kept) == min(count, MOST)
    assert np.ptp(np.diff(kept)) <= 1 if count > 1 else True


def test_the_demo_frame_beside_the_learner_is_what_the_matcher_matches() -> None:
    cost = np.array([[0.0, 1.0, 2.0], [1.0, 0.5, 0.2], [2.0, 1.0, 0.0]])
    story = SimpleNamespace(**{**vars(STORY), "position": [0, 9, -1]})
    path = PageResult(np.ones(3), np.array([[1.0, 0, 0], [0, 0.5, 0.5], [0, 0, 1.0]]), 3.0, story)
    assert followed(path, cost).tolist() == [0, 2, 2]  # row 1 is a tie, decided by the cost
    coverage = np.array([[1.0, 0.1, 0.0], [1.0, 0.9, 0.2], [1.0, 0.9, 0.9]])
    ordered = PageResult(np.ones(3), coverage, 3.0, story)
    assert followed(ordered, cost).tolist() == [0, 2, 0]  # the story's, kept inside the demo


@pytest.mark.parametrize("name", MATCHERS)
def test_every_matcher_can_be_shown(name: str) -> None:
    base = make_page()
    one = base.attempts[0]
    match = MATCHERS[name](one.cost)
    shown = PageResult(match.reward, match.assignment, float(match.reward.sum()), one.results["orca"].story)
    small = PageClip("demo", base.demo.frames[:, :8, :8], 30)
    page = render_page(PageData(small, (PageAttempt("a", one.frames[:, :8, :8], 30, one.cost, {name: shown}),)))
    [data] = data_of(page)["attempts"][0]["results"]
    assert data["matcher"] == name
    assert len(data["reward"]) == len(data["followed"]) == len(one.cost)
    assert np.allclose(data["reward"], match.reward, rtol=1e-5)


def test_the_data_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        attempt().name = "other"  # type: ignore[misc]
