"""Metrics of a training run, whole, torn or resumed, and the curves that the page makes of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from report.run_folders import data_of, make_run, write_metrics

from orcalign.report.training_run import run_page
from orcalign.report.training_run.curves import charts, marks, smooth
from orcalign.report.training_run.reading import read_metrics, read_run, spent


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return make_run(tmp_path / "run")


def test_torn_and_foreign_lines(run: Path) -> None:
    whole = run_page(run)
    metrics = run / "metrics.jsonl"
    metrics.write_bytes(metrics.read_bytes() + b'{"kind": "episode", "step": 99999, "rew\xc3')
    assert run_page(run) == whole
    lines = metrics.read_bytes().split(b"\n")
    metrics.write_bytes(b"\n".join([lines[0], b"\x00\xff nonsense", b"[1]", b'{"kind": "episode"}', *lines[1:]]))
    page = run_page(run)
    assert "Lines of metrics.jsonl that are no records: 3; they were left out." in page
    assert data_of(page, "learning") == data_of(whole, "learning")


def test_a_whole_last_line_without_its_end_counts(tmp_path: Path) -> None:
    (tmp_path / "m").write_text('{"kind": "note", "step": 1}\n{"kind": "note", "step": 2}')
    assert len(read_metrics(tmp_path / "m")[0]) == 2


def test_stages_are_marked_once(tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = [
        {"kind": "episode", "step": 10 * k, "stage": "temporal_ot" if k < 5 else "orca"} for k in range(1, 9)
    ]
    write_metrics(tmp_path, lines)
    assert marks(read_run(tmp_path)) == [{"step": 50, "text": "the stage of orca began"}]
    write_metrics(tmp_path, [*lines, {"kind": "note", "step": 40, "text": "the reward is now orca"}])
    assert marks(read_run(tmp_path)) == [{"step": 40, "text": "the reward is now orca"}]


def test_curves_hold_the_records(run: Path) -> None:
    records = read_run(run)
    drawn = {chart["title"]: chart for chart in charts(records)}
    returns = drawn["Return as a share of the expert's"]
    dots, line = returns["series"]
    assert line["points"] == [[r["step"], pytest.approx(r["normalised"], rel=1e-4)] for r in records.evaluations]
    assert len(dots["points"]) == 4 * len(records.evaluations)
    np.testing.assert_allclose(
        np.mean([value for step, value in dots["points"] if step == line["points"][-1][0]]),
        line["points"][-1][1],
        rtol=1e-4,
    )
    best = [r for r in records.evaluations if r["best"]][-1]
    assert returns["best"] == [best["step"], best["normalised"]]
    followed = {one["name"]: one["points"] for one in drawn["How far the video is followed"]["series"]}
    for name in ("progress", "coverage"):
        each = [[r["step"], value] for r in records.evaluations for value in r["each"][name]]
        assert followed[f"each {name}"] == [[step, pytest.approx(value, rel=1e-4)] for step, value in each]
    reward = drawn["Reward of training episodes"]
    assert [step for step, _ in reward["series"][0]["points"]] == [r["step"] for r in records.episodes]
    mean = np.mean([r["reward"] for r in records.episodes[-5:]])
    assert reward["series"][1]["points"][-1][1] == pytest.approx(mean, rel=1e-4)
    for chart in drawn.values():
        values = [value for one in chart["series"] if one["kind"] != "dots" for _, value in one["points"]]
        assert chart["low"] <= min(values)
        assert max(values) <= chart["high"]


def test_long_runs_are_thinned_and_wild_values_do_not_flatten_the_rest(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(5, 1, 20_000)
    values[7000] = 1e9
    lines = [{"kind": "episode", "step": 63 * k, "critic_loss": value} for k, value in enumerate(values)]
    lines[8000]["critic_loss"] = float("nan")
    write_metrics(tmp_path, lines)
    page = run_page(tmp_path)
    [chart] = data_of(page, "learning")["charts"]
    assert len(page) < 300_000
    assert "dots lie outside the picture" in chart["note"]
    assert "of 19999 dots" in chart["note"]
    assert -5 < chart["low"] < 3
    assert 7 < chart["high"] < 15


def test_missing_values_leave_the_mean_alone() -> None:
    assert smooth([1.0, None, 3.0, 5.0], 2).tolist() == [1.0, 1.0, 3.0, 4.0]
    assert np.isnan(smooth([None, None, 1.0], 2)[:2]).all()


def test_without_an_expert_the_return_is_shown_as_it_is(tmp_path: Path) -> None:
    line = {
        "kind": "evaluation",
        "step": 5,
        "return": 12.0,
        "normalised": None,
        "episodes": 2,
        "returns": [10, 14],
        "success_rate": 0.5,
    }
    write_metrics(tmp_path, [line])
    page = run_page(tmp_path)
    first = data_of(page, "learning")["charts"][0]
    assert first["title"] == "Return: steps in which the task is solved"
    assert first["rules"] == []
    assert [one["points"] for one in first["series"]] == [[[5, 10], [5, 14]], [[5, 12]]]
    assert "solved in 12 steps of an episode on average." in page


def test_where_the_time_went(tmp_path: Path) -> None:
    lines = [
        {"kind": "episode", "step": 1, "timing": {"simulate": 1, "update": 2, "keep": 0.5, "total": 4}},
        {"kind": "episode", "step": 2, "timing": {"simulate": 1, "wait": 1, "total": 2}},
        {"kind": "evaluation", "step": 2, "timing": {"simulate": 3, "render": 1, "wait": 2, "total": 2}},
    ]
    write_metrics(tmp_path, lines)
    parts, wall = spent(read_run(tmp_path))
    assert wall == 8
    assert parts == {"simulate": 2, "update": 2, "wait": 1, "evaluate": 4, "other": 0.5}
    page = run_page(tmp_path)
    assert "draw the frames" not in page
    assert "evaluate <b>42%</b>" in page
    assert "add up to 1.2 times the time by the clock" in page
    assert "0.25 steps a second, all included" in page
