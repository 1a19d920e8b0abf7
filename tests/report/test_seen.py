"""What an eye sees in a demo, on the page of a run and as a film: marks where things are, and a wrong eye told so."""

from dataclasses import replace

import numpy as np
import pytest
from cli.small_commands import train
from report.run_folders import data_of
from report.screen import Screen

from orcalign.cli import main
from orcalign.costs.predicted import DescribedDemo, Entities
from orcalign.envs import find_suite, find_task
from orcalign.report.seen import SeenDemo, verdict
from orcalign.report.seen.film import film
from orcalign.report.training_run import run_page, write_report
from orcalign.video import Demo

PUSH = Entities(hand=(0, 1, 2), gripper=3, objects=((4, 5, 6),), goal=(7, 8, 9), unit=1.0, opening=1.0)


def pushed(J=6, **changes):
    """[J] frames in which the hand takes an object along."""
    way = np.linspace(0, 20, J)
    states = np.zeros((J, 10))
    states[:, 0] = states[:, 4] = way
    states[:, 2], states[:, 7] = 5.0, 27.0
    told = DescribedDemo.known(PUSH, states, states[0])
    demo = Demo(np.full((J, 64, 64, 3), 90, np.uint8))
    camera = np.array([[0.02, 0.0, 0.0, 0.2], [0.0, -0.02, 0.0, 0.5], [0.0, 0.0, 0.0, 1.0]])
    return SeenDemo(demo, replace(told, **changes), projection=camera)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Runs of the 2D navigation whose eyes have hardly learned: from posed scenes, and from own frames."""
    folder = tmp_path_factory.mktemp("seen")
    data = folder / "data"
    main(["predictor", "data", "nav2d", "--out", str(data), "--frames", "60"])
    main(["predictor", "train", str(data), "--updates", "20"])
    given = ("--task", "nav2d", "--recipe", "follow")
    posed = train(folder / "posed", *given, "--eye", data / "eye.safetensors", steps=90)
    own = train(
        folder / "own", *given, "--eye-begin", 60, "--eye-every", 60, "--eye-updates", 8, "--eye-refit", 4
    )  # fmt: skip
    return {"posed": posed.path, "own": own.path}


def test_a_spot_is_where_the_thing_is_drawn():
    spec = find_task("nav2d")
    suite = find_suite("nav2d")
    for posed, _ in zip(suite.pose(spec, seed=3), range(6), strict=False):
        told = DescribedDemo.known(suite.entities(spec), posed.state[None], posed.state)
        seen = SeenDemo(Demo(posed.frame[None]), told, projection=suite.projection(spec))
        orange = (posed.frame[..., 0].astype(float) - posed.frame[..., 2]).clip(40) - 40
        y, x = (np.indices(orange.shape) + 0.5) / len(orange)
        at = [float((one * orange).sum() / orange.sum()) for one in (x, y)]
        inside = min(at) > 0.1 and max(at) < 0.9
        assert not inside or np.abs(seen.spots[0, 0, :2] - at).max() < 0.01


def test_behind_the_camera_there_is_no_spot():
    seen = pushed()
    away = replace(seen, projection=np.array([[0, 0, 0, 1.0], [0, 0, 0, 1.0], [-1.0, 0, 0, 10.0]]))
    assert np.isfinite(seen.spots).all()
    assert np.isfinite(away.spots[:, 0, 0]).tolist() == [True, True, True, False, False, False]


@pytest.mark.parametrize(
    ("changes", "kind", "words"),
    [
        ({}, "good", "is 0.0 cm off"),
        ({"error": 4.0}, "good", "is 4.0 cm off"),
        ({"error": float("inf")}, "bad", "has not been measured"),
        ({"scales": np.full((6, 4), 4.0)}, "bad", "Coarser than the reward can be tolerant: the eye is 0.0 cm off"),
        ({"scales": np.full((6, 4), 4.0)}, "bad", "expects to be 5.7 cm off"),
        ({"believed": np.array([True] * 4 + [False] * 2)}, "doubt", "believed in 4 of 6 frames"),
        ({"believed": np.zeros(6, bool)}, "bad", "believed in 0 of 6 frames"),
    ],
)
def test_a_wrong_eye_is_told_so(changes, kind, words):
    first = verdict(pushed(**changes))[0]
    assert first.kind == kind
    assert words in first.text


def test_another_camera_and_a_thing_that_never_moved_come_first():
    told = verdict(replace(pushed(), problem="the background differs.", still=("object 1", "goal")))
    assert [one.kind for one in told] == ["bad", "bad", "good"]
    assert "Another camera: the background differs." in told[0].text
    assert told[1].text.startswith("Object 1 never moved")


def test_the_film_shows_where_things_are_and_what_is_not_believed():
    pytest.importorskip("matplotlib")
    pictures = list(film(pushed()))
    assert len(pictures) == 6
    assert len({picture.shape for picture in pictures}) == 1
    orange = [np.abs(picture.astype(int) - (230, 159, 0)).max(-1) < 12 for picture in pictures]
    left = [float(np.nonzero(one[100:370, :400])[1].mean()) for one in orange]
    assert left[0] + 30 < left[2] < left[5] - 30, "the object goes to the right"
    doubted = list(film(pushed(believed=np.arange(6) < 3)))
    assert np.array_equal(doubted[0][90:370], pictures[0][90:370])
    assert not np.array_equal(doubted[4][90:370], pictures[4][90:370])


def test_the_page_of_a_run_has_what_its_eye_sees(runs):
    page = run_page(runs["posed"])
    seen, report = data_of(page, "seen"), data_of(page, "report")
    J = report["demo"]["count"]
    assert len(seen["values"]) == len(seen["spots"]) == len(seen["believed"]) == len(seen["words"]) == J
    assert "clip" not in seen, "the pictures are there once"
    assert [len(one) for one in seen["learner"]] == [one["clip"]["count"] for one in report["attempts"]]
    for attempt in report["attempts"]:
        assert len(attempt["wanted"]) == attempt["clip"]["count"]
        assert 0 <= min(attempt["wanted"]) <= max(attempt["wanted"]) < J
    assert "Median error on frames that it has not learned from, in cm</b>: hand" in page
    assert "bringing things where the eye sees them" in page
    assert "Not shown" not in page
    assert len(page) < 1_500_000


def test_the_curves_have_the_eyes_error_and_its_refits(runs):
    page = run_page(runs["own"])
    learning = data_of(page, "learning")
    titles = {chart["title"]: chart for chart in learning["charts"]}
    error = titles["How far off the eye is, in cm"]["series"][0]["points"]
    assert error[0][0] > 60, "before it has learned there is no error"
    assert min(value for _, value in error) > 0
    marks = [mark["text"] for mark in learning["marks"]]
    assert sum("the eye has learned" in text or "a refit of the eye is not taken" in text for text in marks) >= 2


def test_without_videos_the_page_has_the_demos_pictures_itself(runs, tmp_path):
    import shutil

    bare = tmp_path / "bare"
    shutil.copytree(runs["posed"], bare)
    shutil.rmtree(bare / "videos")
    seen = data_of(run_page(bare), "seen")
    assert seen["clip"]["count"] == len(seen["values"])


def test_an_eye_that_has_learned_nothing_is_said(runs, tmp_path):
    import shutil

    young = tmp_path / "young"
    shutil.copytree(runs["own"], young)
    (young / "reward-state.safetensors").unlink()
    page = run_page(young)
    assert data_of(page, "seen") is None
    assert "it has learned nothing yet" in page


def test_the_eye_goes_along_while_an_attempt_is_played(runs, chromium):
    screen = Screen(chromium)
    screen.size(1280, 900)
    screen.prefer("light")
    screen.errors()
    chromium.get(write_report(runs["posed"]).as_uri())
    screen.until(lambda: screen.frame("seen-picture") >= 0, "the first frame")
    wanted = data_of(write_report(runs["posed"]).read_text(), "report")["attempts"][0]["wanted"]
    for t in (0, len(wanted) - 1):
        screen.slide(t)
        for canvas in ("demo-frame", "seen-picture"):
            screen.until(lambda canvas=canvas, j=wanted[t]: screen.frame(canvas) == j, "the frontier")
        assert screen.text("seen-frame") == str(wanted[t])
        assert "hand" in screen.text("seen-words")
    blue = np.abs(screen.pixels("seen-picture") - (86, 180, 233)).max(-1) < 25
    assert blue.any(), "a mark over the picture"
    screen("const s = document.getElementById('seen-time'); s.value = 2; s.dispatchEvent(new Event('input'))")
    screen.until(lambda: screen.frame("seen-picture") == 2, "the frame that was asked for")
    assert screen("return document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert screen.errors() == []
