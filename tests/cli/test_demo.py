"""orcalign demo ... and doctor."""

import json

import numpy as np
import pytest

from orcalign.cli import main
from orcalign.video import Demo, write_mp4


def run(*words):
    main([str(word) for word in words])


def test_import_info_warp(videos, tmp_path, capsys):
    out = tmp_path / "demo"
    run(
        "demo",
        "import",
        videos / "good.mp4",
        "--out",
        out,
        "--start",
        0.5,
        "--end",
        2.5,
        "--fps",
        5,
        "--size",
        64,
    )
    demo = Demo.load(out)
    assert demo.frames.shape == (10, 64, 64, 3)
    assert demo.render == "unknown"
    assert (out / "demo.mp4").exists()
    run("demo", "warp", out, "--out", tmp_path / "kept", "--keep", "0-4,9")
    assert Demo.load(tmp_path / "kept").indices == (0, 1, 2, 3, 4, 9)
    run("demo", "warp", out, "--out", tmp_path / "slow", "--slow-down", 2, "--segment", 2, 4)
    assert Demo.load(tmp_path / "slow").indices == (0, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9)
    run("demo", "warp", out, "--out", tmp_path / "fast", "--speed-up", 4)
    assert Demo.load(tmp_path / "fast").indices == (0, 4, 8, 9)
    run("demo", "warp", out, "--out", tmp_path / "wait", "--pause", 3, 5)
    assert Demo.load(tmp_path / "wait").indices.count(3) == 6
    capsys.readouterr()
    run("demo", "info", tmp_path / "kept")
    text = capsys.readouterr().out
    assert "0-4,9 of 10" in text
    assert Demo.load(tmp_path / "kept").sha256 in text


def test_the_papers_misalignments(videos, tmp_path):
    np.savez(tmp_path / "long.npz", frames=np.random.default_rng(0).integers(0, 256, (63, 8, 8, 3), np.uint8))
    run("demo", "warp", tmp_path / "long.npz", "--out", tmp_path / "paper", "--paper", "door-close")
    assert Demo.load(tmp_path / "paper").indices == (*range(15), 31, 43, 44)
    for level in ("low", "high"):
        for name in ("a", "b"):
            out = tmp_path / f"{level}-{name}"
            run(
                "demo",
                "warp",
                tmp_path / "long.npz",
                "--out",
                out,
                "--random",
                "slow",
                "--level",
                level,
                "--seed",
                3,
            )
    same, other = Demo.load(tmp_path / "low-a"), Demo.load(tmp_path / "high-a")
    assert same.sha256 == Demo.load(tmp_path / "low-b").sha256 != other.sha256


def test_a_saved_demo_can_be_scored(videos, tmp_path):
    run("demo", "import", videos / "demo.mp4", "--out", tmp_path / "demo")
    out = tmp_path / "s.json"
    run("score", tmp_path / "demo", videos / "good.mp4", "--json", out, "--encoder", "pixels")
    assert json.loads(out.read_text())["demo"]["frames"] == 16


def test_lint_says_whether_to_train(videos, tmp_path, capsys):
    run("demo", "lint", videos / "demo.mp4")
    assert "fit to train on" in capsys.readouterr().out
    write_mp4(tmp_path / "black.mp4", np.zeros((20, 32, 32, 3), np.uint8), 10)
    with pytest.raises(SystemExit) as exit_info:
        run("demo", "lint", tmp_path / "black.mp4", "--pixels-only")
    assert exit_info.value.code == 1
    text = capsys.readouterr().out
    assert "black-frames (frames 0-19)" in text
    assert "better not train" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--keep", "0-99"), "99"),
        (("--keep", "a-b"), "a-b"),
        ((), "exactly one of --keep"),
        (("--keep", "0", "--speed-up", "2"), "--keep and --speed-up given"),
        (("--keep", "0", "--segment", "1", "2"), "--segment goes with"),
        (("--paper", "door-klose"), "door-close"),
        (("--speed-up", "0"), "0"),
    ],
)
def test_bad_warps_are_named(videos, tmp_path, capsys, words, message):
    with pytest.raises(SystemExit) as exit_info:
        run("demo", "warp", videos / "demo.mp4", "--out", tmp_path / "out", *words)
    assert exit_info.value.code == 2
    error = capsys.readouterr().err.strip()
    assert message in error
    assert len(error.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_a_demo_is_not_overwritten_by_accident(videos, tmp_path, capsys):
    out = tmp_path / "demo"
    run("demo", "import", videos / "demo.mp4", "--out", out)
    before = (out / "manifest.json").read_bytes()
    with pytest.raises(SystemExit):
        run("demo", "import", videos / "good.mp4", "--out", out)
    assert "overwrite" in capsys.readouterr().err
    assert (out / "manifest.json").read_bytes() == before
    run("demo", "import", videos / "good.mp4", "--out", out, "--overwrite")
    assert len(Demo.load(out)) == 32


def test_demo_help_lists_its_commands(capsys):
    with pytest.raises(SystemExit):
        run("demo", "--help")
    text = capsys.readouterr().out
    for command in ("import", "warp", "info", "lint"):
        assert command in text


def test_doctor_looks_at_everything(capsys):
    run("doctor")
    text = capsys.readouterr().out
    for what in ("Python", "numba", "encoder efficientnet-lite0", "codec h264", "GL", "cores", "GPU", "disk"):
        assert what in text, what
    assert "broken" not in text
    assert "Traceback" not in text


def test_doctor_names_the_fix(capsys, monkeypatch):
    import importlib.metadata

    real = importlib.metadata.version

    def version(name):
        if name in ("av", "matplotlib"):
            raise importlib.metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    with pytest.raises(SystemExit) as exit_info:
        run("doctor")
    assert exit_info.value.code == 1
    text = capsys.readouterr().out
    assert "av: not installed  → pip install 'orcalign[video]'" in text
    assert "matplotlib: not installed  → pip install 'orcalign[plot]'" in text


def test_states_are_kept_on_request(tmp_path, capsys):
    run("demo", "make", "nav2d", "--out", tmp_path / "demo", "--states")
    assert Demo.load(tmp_path / "demo").states.shape == (30, 3)
    run("demo", "info", tmp_path / "demo")
    assert capsys.readouterr().out.count("3 numbers in each frame") == 2
