"""orcalign watch: a file in the place of a camera; and what Rerun is given."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest
from serving.running import DEMO, video_reward

from orcalign.cli import main
from orcalign.serving.cameras import _Newest, frames_of
from orcalign.video import VideoOptions


@pytest.fixture(scope="module")
def film(tmp_path_factory):
    path = tmp_path_factory.mktemp("film") / "demo.npz"
    np.savez(path, frames=DEMO, fps=50.0)
    return str(path)


def test_a_file_is_followed_to_its_end_and_recorded_for_rerun(film, tmp_path, capsys):
    rerun = pytest.importorskip("rerun")
    record = tmp_path / "live.rrd"
    main(
        ["watch", film, "--camera", film, "--port", "0", "--encoder", "pixels", "--context", "2", "--rrd", str(record)]
    )
    said = capsys.readouterr().out
    assert "page: http://127.0.0.1:" in said
    match = video_reward()(DEMO)
    assert "15 frames: progress 1.00, coverage 1.00, done" in said
    assert float(re.search(r"sum of rewards ([\d.]+)", said)[1]) == pytest.approx(match.total, rel=1e-3)
    logged = rerun.dataframe.load_recording(record) if hasattr(rerun, "dataframe") else None
    if logged is not None:
        columns = [str(column) for column in logged.schema().component_columns()]
        for name in ("next.reward", "progress_sparse", "progress_dense", "observation.image"):
            assert any(name in column.replace("\\", "") for column in columns), (name, columns)
    else:
        assert record.stat().st_size > 10_000


def test_what_cannot_be_watched_is_said_in_one_line(film, capsys, monkeypatch):
    for words, sentence in (
        (["--camera", "999"], "there is no camera 999"),
        (["--camera", "nothing.mp4"], "'nothing.mp4' does not exist"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(["watch", film, *words, "--port", "0", "--encoder", "pixels"])
        assert ended.value.code == 2
        assert sentence in capsys.readouterr().err
    rerun = pytest.importorskip("rerun")

    def nowhere(**_):
        raise RuntimeError("Failed to find Rerun Viewer executable in PATH.\nmore")

    monkeypatch.setattr(rerun, "spawn", nowhere)
    with pytest.raises(SystemExit):
        main(["watch", film, "--camera", film, "--port", "0", "--encoder", "pixels", "--rerun"])
    assert "the Rerun viewer does not start (Failed to find" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "rerun", None)
    with pytest.raises(SystemExit):
        main(["watch", film, "--camera", film, "--port", "0", "--encoder", "pixels", "--rerun"])
    assert "pip install 'orcalign[rerun]'" in capsys.readouterr().err


def test_a_camera_gives_its_newest_picture():
    given = []

    def pictures():
        for frame in DEMO:
            given.append(frame)
            yield frame

    newest = _Newest(pictures())
    while len(given) < len(DEMO) or not newest._ended:
        pass
    assert (newest.take() == DEMO[-1]).all()
    assert newest.take() is None
    assert len(list(frames_of_file())) == 3


def frames_of_file():
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        np.savez(f"{folder}/a.npz", frames=DEMO[:3], fps=100.0)
        yield from frames_of(f"{folder}/a.npz", VideoOptions())
