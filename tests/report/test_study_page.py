"""The page of a study: every cell is there, whatever became of it."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from experiments.mixed_states import ERROR, running, sweep_mixed
from report.run_folders import data_of
from report.screen import Screen

from orcalign.experiments.planning import plan_study
from orcalign.experiments.results import StudyResults, read_results
from orcalign.experiments.results_file import load_results, save_results
from orcalign.experiments.study import find_study
from orcalign.report.study import films, study_page, write_study_page

HEADINGS = ["ORCA progress", "ORCA (NP)", "TemporalOT", "OT", "DTW"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> StudyResults:
    out = tmp_path_factory.mktemp("mixed study")
    plan = sweep_mixed(out)
    with running(plan, out):
        found = read_results(plan, out)
    assert found.cells[0].run is not None
    (found.cells[0].run / "report.html").write_text("the page of the run")
    return found


@pytest.fixture(scope="module")
def pages(runs: StudyResults, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    kept = tmp_path_factory.mktemp("kept") / "tiny.json"
    save_results(runs, kept)
    nothing = tuple(replace(cell, state="missing", result=None, run=None) for cell in runs.cells)
    return {
        "folders": write_study_page(runs),
        "file": write_study_page(load_results(kept)),
        "empty": write_study_page(replace(runs, cells=nothing), kept.parent / "empty.html"),
    }


def films_of(page: str) -> list[dict[str, Any]]:
    [row] = data_of(page, "films")
    assert row["name"] == "nav2d"
    return row["films"]


def test_every_cell_is_on_the_page(runs: StudyResults, pages: dict[str, Path]) -> None:
    page = pages["folders"].read_text()
    shown = films_of(page)
    assert [film["name"] for film in shown] == ["Demo", *HEADINGS]
    assert [film["clip"] is not None for film in shown] == [True, True, False, True, False, False]
    assert shown[2]["hole"] == "running: 60 of 180 steps"
    assert shown[4]["hole"] == f"failed: {ERROR}"
    assert shown[5]["hole"] == "missing: not run yet"
    for cell in runs.cells:
        assert cell.key in page
    assert "2 of 5 runs are done; 1 running, 1 failed, 1 missing." in page
    assert ERROR not in page, "errors are text, not markup"
    assert html.escape(ERROR) in page


def test_the_numbers_are_those_of_the_runs(runs: StudyResults, pages: dict[str, Path]) -> None:
    page = pages["folders"].read_text()
    shown = films_of(page)
    for film, cell in ((shown[1], runs.cells[0]), (shown[3], runs.cells[2])):
        assert cell.result is not None
        score = cell.result.score("normalised")
        assert film["score"] == f"final normalised return {score:.2f} (mean of 2 episodes)"
        assert f"evaluation of step {cell.result.last['step']:,}" in film["note"]
    learning = data_of(page, "learning")
    [chart] = learning["charts"]
    assert [one["name"] for one in chart["series"]] == ["ORCA progress", "TemporalOT"]
    for one, result in zip(chart["series"], runs.done, strict=True):
        assert one["points"] == [[step, pytest.approx(value, rel=1e-4)] for step, value in result.line("normalised")]
        assert "band" not in one
    assert page.count("data-checkpoint=") == 2
    assert "Checkpoint chosen by coverage" in page
    # The paper has no nav2d, but its budget is named.
    assert "Table 1, 1,000,000 steps, 3 seeds" in page
    assert "orcalign sweep tiny --preset laptop --steps 180 --seeds 1" in page


def test_the_page_of_a_run_is_linked(runs: StudyResults, pages: dict[str, Path], tmp_path: Path) -> None:
    link = films_of(pages["folders"].read_text())[1]["link"]
    assert link == f"cells/{runs.cells[0].key}/run/report.html"
    far = write_study_page(runs, tmp_path / "far" / "page.html")
    link = films_of(far.read_text())[1]["link"]
    assert link.startswith("../")
    assert "mixed%20study" in link
    assert [film["link"] for film in films_of(far.read_text())[2:]] == [None] * 4


def test_a_page_of_a_file_says_that_videos_are_missing(pages: dict[str, Path]) -> None:
    page, whole = pages["file"].read_text(), pages["folders"].read_text()
    shown = films_of(page)
    assert [film["clip"] for film in shown] == [None] * 6
    assert shown[1]["hole"] == "no video: made from a file of results"
    assert shown[1]["score"] == films_of(whole)[1]["score"]
    assert shown[4]["hole"] == f"failed: {ERROR}"
    results = re.compile(r'<section aria-labelledby="tables-title">.*?</section>', re.S)
    assert results.search(page)[0] == results.search(whole)[0]  # type: ignore[index]
    assert data_of(page, "learning") == data_of(whole, "learning")


def test_several_seeds_have_a_band(runs: StudyResults) -> None:
    first = runs.cells[0]
    assert first.result is not None
    values = {**first.values, "seed": "1"}
    curve = [[row[0], row[1] + 0.2, *row[2:]] for row in first.result.curve]
    second = replace(first, values=values, result=replace(first.result, values=values, curve=curve))
    page = study_page(replace(runs, cells=(*runs.cells, second), seeds=2), Path("a.html"))
    [chart] = data_of(page, "learning")["charts"]
    for (_, low, high), (_, mean) in zip(chart["series"][0]["band"], chart["series"][0]["points"], strict=True):
        # The standard error of two values that are 0.2 apart is 0.1.
        assert (mean - low, high - mean) == (pytest.approx(0.1, abs=1e-4), pytest.approx(0.1, abs=1e-4))
    assert [film["name"] for film in films_of(page)] == ["Demo", *HEADINGS], "videos are of one seed"


def test_videos_give_way_to_the_size_of_the_page(runs: StudyResults, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(films, "PAGE_BYTES", films.LEAST_BYTES)
    page = study_page(runs, Path("a.html"))
    shown = films_of(page)
    assert shown[0]["clip"] is not None
    assert shown[3]["hole"] == "left out for the size of the page"
    assert "Videos that were left out to keep the page below 10 MB: " in page


def test_a_video_that_is_no_video_is_named(runs: StudyResults, tmp_path: Path) -> None:
    cell = runs.cells[0]
    (tmp_path / "videos").mkdir()
    (tmp_path / "videos" / "0000000180-0.mp4").write_bytes(b"not a video")
    broken = replace(runs, cells=(replace(cell, run=tmp_path), *runs.cells[1:]))
    page = study_page(broken, Path("a.html"))
    assert films_of(page)[1]["hole"] == "the video cannot be read"
    assert f"The video of ORCA progress in run {cell.key} cannot be shown" in page


def test_the_same_results_give_the_same_page(runs: StudyResults, pages: dict[str, Path]) -> None:
    assert study_page(runs, pages["folders"]) == pages["folders"].read_text()


def visit(chromium: Any, path: Path) -> Screen:
    screen = Screen(chromium)
    screen.size(1280, 900)
    screen.prefer("light")
    screen.errors()
    chromium.get(path.as_uri())
    screen.until(lambda: screen("return document.getElementById('film-rows').children.length"), "the films")
    return screen


@pytest.fixture
def whole(chromium: Any, pages: dict[str, Path]) -> Iterator[Screen]:
    screen = visit(chromium, pages["folders"])
    screen.until(lambda: screen.frame("film-0-1") > 0, "the end of the film")
    yield screen
    assert screen.errors() == []


def test_films_play_together(whole: Screen) -> None:
    last, demo = whole.frame("film-0-1"), whole.frame("film-0-0")
    assert last == 29, "an episode of 30 steps, seen at its end"
    slide = "const s = document.getElementById('time-0'); s.value = arguments[0]; s.dispatchEvent(new Event('input'))"
    whole(slide, 3)
    whole.until(lambda: whole.frame("film-0-1") == 3 == whole.frame("film-0-3"), "the fourth frame")
    whole("document.querySelector('.film-time button').click()")
    whole.until(lambda: whole.frame("film-0-1") == last and whole.frame("film-0-0") == demo, "the end again")
    whole.until(
        lambda: whole("return document.querySelector('.film-time button').textContent") == "Play",
        "a rest",
    )
    assert whole.pixels("film-0-1").std() > 5
    assert (whole.pixels("film-0-0") != whole.pixels("film-0-1")).any()


def test_curves_are_read_off(whole: Screen, runs: StudyResults) -> None:
    text = whole("return document.querySelector('.readout').textContent")
    assert "step 180" in text
    for result, name in zip(runs.done, ("ORCA progress", "TemporalOT"), strict=True):
        assert name in text
        assert whole("return [...document.querySelectorAll('.readout b')].map((e) => Number(e.textContent))")[
            runs.done.index(result)
        ] == pytest.approx(result.line("normalised")[-1][1], abs=1e-3)


@pytest.mark.parametrize("name", ["folders", "file", "empty"])
@pytest.mark.parametrize("width", [320, 700, 1280])
def test_nothing_is_wider_than_the_screen(chromium: Any, pages: dict[str, Path], name: str, width: int) -> None:
    screen = visit(chromium, pages[name])
    screen("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    screen.size(width, 740, touch=width < 600)
    assert screen("return document.documentElement.scrollWidth") <= width
    ground = "return getComputedStyle(document.body).backgroundColor"
    light = screen(ground)
    screen.element("theme").click()
    assert screen(ground) != light
    screen.element("theme").click()
    assert screen.errors() == []


def test_a_wide_table_is_not_cut_off_on_a_laptop(chromium: Any, tmp_path: Path) -> None:
    """Seven recipes with the paper's values: two such tables do not fit side by side."""
    stored = load_results(Path(__file__).parents[2] / "results" / "follow-0.2.json")
    wide = read_results(plan_study(find_study("misaligned")), tmp_path / "nowhere")
    cells = [replace(cell, state="done", result=replace(stored.done[0], values=cell.values)) for cell in wide.cells]
    wide = replace(wide, cells=tuple(cells))
    screen = visit(chromium, write_study_page(wide, tmp_path / "misaligned.html"))
    screen.size(1200, 740, touch=False)
    hidden = "return [...document.querySelectorAll('.tables .scroll')].map((e) => e.scrollWidth - e.clientWidth)"
    cut = screen(hidden)
    assert len(cut) >= 2
    assert not any(cut)
