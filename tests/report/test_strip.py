"""Videos under one another: which frames are shown, in which rows, and what is said where that cannot be."""

import numpy as np
import pytest
from PIL import Image
from report.run_folders import make_run, trained

from orcalign.cli import main
from orcalign.report.plots import Row, draw_strip, moments, strip_rows
from orcalign.training import RunFolder
from orcalign.video import read_video, write_mp4


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("runs") / "seed-0")


def demo():
    return RunFolder(trained()).demos()[0]


def film(step, episode):
    return read_video(trained() / "videos" / f"{step:010d}-{episode}.mp4").frames


@pytest.mark.parametrize("T", [1, 2, 7, 8, 9, 63, 1000])
def test_moments_go_evenly_from_the_first_frame_to_the_last(T):
    shown = moments(T, 8)
    assert len(shown) == min(T, 8)
    assert shown[-1] == T - 1
    if T > 1:
        assert shown[0] == 0
        assert np.ptp(np.diff(shown)) <= 1


def test_a_run_is_its_demo_and_its_last_evaluation(run):
    rows = strip_rows([run])
    assert [row.name for row in rows] == ["demo", "seed-0"]
    assert np.array_equal(rows[0].frames, demo().frames)
    assert np.array_equal(rows[1].frames, film(1200, 0))
    assert not np.array_equal(rows[1].frames, film(0, 0))


def test_another_episode_of_it(run):
    assert np.array_equal(strip_rows([run], 1)[1].frames, film(1200, 1))
    assert not np.array_equal(film(1200, 1), film(1200, 0))


def test_two_runs_of_one_demo_show_it_once(run, tmp_path):
    names = [row.name for row in strip_rows([run, make_run(tmp_path / "seed-1")])]
    assert names == ["demo", "seed-0", "seed-1"]


def test_a_saved_demo_and_a_video(run, tmp_path):
    write_mp4(tmp_path / "attempt.mp4", demo().frames, 10)
    rows = strip_rows([run / "demo" / "demo-0", tmp_path / "attempt.mp4"])
    assert [row.name for row in rows] == ["demo-0", "attempt"]
    assert np.array_equal(rows[0].frames, demo().frames)
    assert len(rows[1].frames) == len(demo())


def test_the_frames_stand_in_the_picture_from_left_to_right(tmp_path):
    colours = np.array([[250, 0, 0], [0, 250, 0], [0, 0, 250], [250, 250, 0], [0, 250, 250]], np.uint8)
    frames = np.broadcast_to(colours[:, None, None], (5, 12, 16, 3))
    draw_strip([Row("a", frames), Row("b", frames[:2])], tmp_path / "strip.png", count=3)
    picture = np.asarray(Image.open(tmp_path / "strip.png").convert("RGB")).astype(int)
    at = {k: np.argwhere(np.abs(picture - colour).sum(-1) == 0) for k, colour in enumerate(colours)}
    # Of five frames the first, the middle and the last; of two both, in the next row.
    assert [len(at[k]) > 100 for k in range(5)] == [True, True, True, False, True]
    upper = {k: at[k][at[k][:, 0] < len(picture) / 2] for k in (0, 1, 2, 4)}
    assert not len(upper[1])
    assert np.median(upper[0][:, 1]) < np.median(upper[2][:, 1]) < np.median(upper[4][:, 1])


def test_the_command_writes_a_picture_with_names_of_ones_own(run, tmp_path, capsys):
    main(["strip", str(run), "--out", str(tmp_path / "a.svg"), "--names", "video", "agent", "--frames", "4"])
    assert capsys.readouterr().out == f"open {tmp_path / 'a.svg'}\n"
    assert "<!-- agent -->" in (tmp_path / "a.svg").read_text()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "nothing to draw"),
        (["RUN", "--episode", "7"], "no film of episode 7"),
        (["RUN", "--names", "a"], "1 names for 2 rows (demo, seed-0)"),
        (["RUN", "--frames", "0"], "frames is 0"),
        (["RUN", "--out", "a.gif"], "'a.gif' ends in '.gif'"),
        (["nowhere.mp4"], "'nowhere.mp4' does not exist"),
    ],
)
def test_what_cannot_be_drawn_is_said_in_one_line(run, words, told, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as exit_info:
        main(["strip", *(str(run) if word == "RUN" else word for word in words)])
    assert exit_info.value.code == 2
    error = capsys.readouterr().err.strip()
    assert told in error
    assert len(error.splitlines()) == 1
    assert not list(tmp_path.iterdir())
