"""The latency study, measured in earnest: a small task, an encoder of the user's choice."""

from __future__ import annotations

import json

import pytest

from orcalign.cli.sweep import sweep
from orcalign.cli.table import Swept, table
from orcalign.encoders.packages import PACKAGES
from orcalign.experiments.latency import LENGTHS, NAMES, latency_table, measure_latency, read_latency, write_latency


@pytest.fixture(scope="module")
def found():
    said = []
    measured = measure_latency(
        rollouts=3, encoded=2, task="nav2d-order", encoder="pixels", encoder_size=24, clip_size=32, tell=said.append
    )
    assert said[-2:] == [f"rollouts of {frames} frames" for frames in LENGTHS]
    return measured


def test_every_part_takes_time(found):
    assert (found["encoder"], found["encoder_size"], found["task"]) == ("pixels", 24, "nav2d-order")
    for row in found["lengths"].values():
        parts = [row["encoding"], row["distance"]]
        parts += [pair for entry in row["matchers"].values() for pair in entry.values()]
        assert set(row["matchers"]) == set(NAMES)
        assert all(mean > 0 and error is not None for mean, error in parts)


def test_the_table_shows_the_papers_other_columns(found, tmp_path, capsys):
    write_latency(tmp_path, found)
    table("latency", swept=Swept(out=tmp_path))
    shown = capsys.readouterr().out
    assert shown == latency_table(read_latency(tmp_path))
    assert "pixels at 24 px, expert episodes of nav2d-order" in shown
    rows = [line.split(" | ") for line in shown.splitlines() if line.startswith("| ")]
    assert [row[-1] for row in rows if "LIV" in row[0]] == ["38.0 (4.7) |", "130.0 (3.3) |"]
    assert [row[-1] for row in rows if "RoboCLIP" in row[0]] == ["118.2 (17.9) |", "300.2 (31.3) |"]
    if PACKAGES["i3d"].place() is not None:
        network, whole = ([float(row[k].split()[-2]) for row in rows if "RoboCLIP" in row[0]] for k in (1, 3))
        assert "I3D (Kinetics-400) in the place of S3D (HowTo100M)" in shown
        assert min(network + whole) > 0
    assert [row[-1] for row in rows if row[0] == "| ORCA"] == ["56.9 (0.3) |", "179.9 (0.6) |"]
    assert sum(row[0] == "| ORCA progress" and row[-1] == "- |" for row in rows) == 2


def test_the_encoder_is_an_option(monkeypatch, tmp_path):
    asked = {}
    monkeypatch.setattr("orcalign.experiments.latency.measure_latency", lambda **words: asked.update(words) or {})
    sweep("latency", out=tmp_path, encoder="resnet18", encoder_size=128)
    assert asked == {"encoder": "resnet18", "encoder_size": 128}
    assert json.loads((tmp_path / "latency.json").read_text()) == {}
    with pytest.raises(ValueError, match="for the study latency; runs of 'quick' have theirs from an axis"):
        sweep("quick", out=tmp_path, encoder="resnet18")
