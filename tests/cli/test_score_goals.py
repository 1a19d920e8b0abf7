"""orcalign score --goal: plain videos beside what was said, by a small model with LIV's layout."""

import json

import pytest
from cli.small_commands import refused
from encoders.small_checkpoints import liv_pair

from orcalign.cli import main

pytest.importorskip("transformers")
pytestmark = pytest.mark.filterwarnings("ignore")
SAID = ("reach the handle", "open the door")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    file, *_ = liv_pair(tmp_path_factory.mktemp("model"))
    return "--encoder", "clip-resnet", "--weights", str(file), "--engine", "torch"


def test_one_sentence_gives_a_number_for_every_frame(videos, tmp_path, model, capsys):
    out, page = tmp_path / "s.json", tmp_path / "s.html"
    files = [str(videos / f"{name}.mp4") for name in ("good", "back")]
    main(["score", *files, "--goal", SAID[1], "--json", str(out), "--report", str(page), *model])
    assert "at the end" in capsys.readouterr().out
    data = json.loads(out.read_text())
    assert data["goal"] == SAID[1]
    good, back = (one["similarity"] for one in data["rollouts"])
    assert len(good) == len(back) == 32
    assert all(-1 <= value <= 1 for value in good)
    # The same frames in another order, but for what the codec makes of them.
    assert sorted(good) == pytest.approx(sorted(back), abs=0.05)
    assert page.read_text().count("<svg") == 2
    main(["score", *files, "--goal", SAID[1], "--start", SAID[0], "--json", str(out), *model])
    assert json.loads(out.read_text())["settings"]["start"] == SAID[0]
    assert json.loads(out.read_text())["rollouts"][0]["similarity"] != good


def test_several_are_a_demo(videos, tmp_path, model, capsys):
    out, page = tmp_path / "s.json", tmp_path / "s.html"
    files = [str(videos / f"{name}.mp4") for name in ("good", "back")]
    beside = ["--beside", str(videos / "stalls.mp4")]
    main(["score", *files, "--goal", *SAID, *beside, "--json", str(out), "--report", str(page), *model])
    assert "2 goals: reach the handle → open the door" in capsys.readouterr().out.replace("\n", " ")
    data = json.loads(out.read_text())
    assert data["demo"]["sentences"] == list(SAID)
    assert len(data["rollouts"]) == 2
    assert data["settings"]["calibrated"] is True
    assert '"sentences":["reach the handle","open the door"]' in page.read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--goal",), "--goal names nothing"),
        (("--goal", ""), "A goal is an empty sentence"),
        (("--goal", "open the door " * 30), "say it shorter"),
        (("--goal", "nowhere.png"), "There is no picture 'nowhere.png'"),
        (("--goal", *SAID, "--start", "door"), "--start belongs to one goal, and 2 were given"),
        (("--goal", SAID[0], "--beside", "x.mp4"), "--beside calibrates several goals"),
        (("--goal", SAID[0], "--recipe", "roboclip"), "--recipe and --goal were both given"),
        (("--goal", *SAID, "--temperature", "0"), "--temperature and --goal were both given"),
        (("--goal", SAID[0], "--paper"), "--paper and --goal were both given"),
        (("--start", "door"), "add --goal"),
        (("--goal", *SAID, "--matcher", "orka"), "did you mean 'orca'"),
    ],
)
def test_bad_input_is_one_line(words, said, videos, tmp_path, model, capsys):
    page = tmp_path / "page.html"
    error = refused(capsys, "score", videos / "good.mp4", *words, "--report", page, *model)
    assert said in error
    assert "\n" not in error
    assert not page.exists()


def test_an_encoder_that_reads_nothing(videos, capsys):
    error = refused(capsys, "score", videos / "good.mp4", "--goal", *SAID, "--encoder", "resnet18")
    assert "reads no sentences. Those that do: siglip-base" in error
