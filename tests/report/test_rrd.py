"""Recordings for the Rerun viewer, read back by Rerun's own tool."""

import subprocess
import sys

import numpy as np
import pytest

from orcalign.report.rrd import Track, write_rrd

pytest.importorskip("rerun")


def printed(path):
    command = [sys.executable, "-m", "rerun", "rrd", "print", "-vvv", str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_names_times_and_pictures_are_in_it(tmp_path):
    frames = np.random.default_rng(0).integers(0, 255, (5, 48, 64, 3), np.uint8)
    curves = {"next.reward": np.arange(5.0), "progress_dense": np.linspace(0, 1, 5)}
    tracks = [
        Track("", 10, curves, frames, "observation.images.front", start=7, episode=2),
        Track("attempt 1", 10, curves),
        Track("demo", 10, {}, frames),
    ]
    write_rrd(tmp_path / "a.rrd", "some data", tracks)
    text = printed(tmp_path / "a.rrd")
    for name in (
        "observation.images.front",
        "next.reward",
        "progress_dense",
        "episode_index",
        "frame_index",
        "timestamp",
    ):
        assert name in text, name
    assert "image/jpeg" in text
    assert not [path for path in tmp_path.iterdir() if path.name != "a.rrd"]
