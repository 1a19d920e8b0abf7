"""The page of a training run as a text: what it tells of which folder."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from report.run_folders import EXPERT_RETURN, data_of, expected_reward, make_run, real_records, write_metrics

from orcalign.matching import context, orca
from orcalign.report.run_page import run_page, write_report
from orcalign.report.training_run.reading import read_run
from orcalign.report.training_run.shown import explainer_data, load_demos, run_reward, shown_episodes
from orcalign.video import write_mp4


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return make_run(tmp_path / "run")


def test_it_says_how_the_run_ended(run: Path) -> None:
    page = run_page(run)
    evaluations = [record for record in real_records()[0] if record["kind"] == "evaluation"]
    last = evaluations[-1]
    assert last["success_rate"] == 1.0  # the expert itself
    assert f"4 of 4 episodes ended in success and the task was solved in {last['return']:.3g} steps" in page
    assert f"{last['return'] / EXPERT_RETURN:.2f} times what the expert of the task manages" in page
    assert "one video of 6 frames" in page
    assert "as orca measures it" in page
    assert page.count('<tr role="row"><td role="cell" class="number" data-label="Step">') == len(evaluations)
    for entry in (
        "orcalign train nav2d",
        "<dt>seed</dt><dd>7</dd>",
        "<dt>numpy</dt>",
        "temperature: 1.0:0.5",
    ):
        assert entry in page


def test_it_is_one_file_that_asks_nobody(run: Path) -> None:
    page = run_page(run)
    assert page == run_page(run)
    assert "default-src 'none'; img-src data:" in page
    assert not re.search(r"https?:|@import|url\(", re.sub(r"<script id=.*?</script>", "", page, flags=re.S))
    path = write_report(run)
    assert path == run / "report.html"
    assert path.read_text("utf-8") == page
    assert [entry.name for entry in run.iterdir() if entry.name.startswith(".")] == []


def test_the_last_and_the_first_evaluation_stand_beside_the_demo(run: Path) -> None:
    data = data_of(run_page(run), "report")
    steps = sorted(real_records()[1])
    names = [attempt["clip"]["name"] for attempt in data["attempts"]]
    assert [name.split(":")[0] for name in names] == [
        f"{which} {k}, step {step:,}"
        for which, step in (("last", steps[-1]), ("first", steps[0]))
        for k in (1, 2)
    ]
    for attempt, step, k in zip(
        data["attempts"], (steps[-1],) * 2 + (steps[0],) * 2, (0, 1, 0, 1), strict=True
    ):
        _, cost, success = real_records()[1][step][k]
        [result] = attempt["results"]
        np.testing.assert_allclose(result["reward"], expected_reward(cost), rtol=1e-5)
        said = f"success in {success.sum()} of {len(success)} steps" if success.any() else "no success"
        assert attempt["clip"]["name"].endswith(said)
        assert attempt["clip"]["count"] == len(cost)


def test_another_method_is_shown_with_orca_beside_it(tmp_path: Path) -> None:
    data = data_of(run_page(make_run(tmp_path / "run", matcher="temporal_ot")), "report")
    assert [result["method"] for result in data["attempts"][0]["results"]] == ["temporal_ot", "orca"]


def test_settings_as_used_come_before_the_config(run: Path) -> None:
    info = json.loads((run / "run.json").read_text())
    info["matcher_settings"] = [{"temperature": 0.2, "floor": 0.01}]
    (run / "run.json").write_text(json.dumps(info))
    data = data_of(run_page(run), "report")
    cost = real_records()[1][max(real_records()[1])][0][1]
    np.testing.assert_allclose(
        data["attempts"][0]["results"][0]["reward"], orca(context(cost, 3), 0.2, 0.01).reward, rtol=1e-5
    )


def test_a_calibration_that_is_not_recorded_is_admitted(tmp_path: Path) -> None:
    page = run_page(
        make_run(tmp_path / "run", reward={"matcher": "orca", "calibrated": True, "temperature": "1.0"})
    )
    assert "The temperature and floor that calibration found are not in the run&#x27;s folder" in page


def test_settings_of_other_methods_are_read(tmp_path: Path) -> None:
    reward = {"matcher": "temporal_ot", "set": ["window=3", "band=blocks"], "context": 1, "direction": "past"}
    found = run_reward(read_run(make_run(tmp_path / "run", videos=False, reward=reward)))
    assert (found.settings, found.context, found.direction) == (({"window": 3, "band": "blocks"},), 1, "past")


def test_of_several_demos_the_one_that_fits_is_shown(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", demos=3)
    records = read_run(folder)
    episodes, _ = shown_episodes(records)
    assert sorted(episodes[0].costs) == [0, 1, 2]
    data, _ = explainer_data(load_demos(records), episodes, run_reward(records))
    assert data.demo.name.startswith("demo 0 (")
    for path in (folder / "evaluations").iterdir():
        with np.load(path) as arrays:
            kept = dict(arrays)
        for k in (0, 1):
            kept[f"cost_{k}"], kept[f"cost_{k}_2"] = kept[f"cost_{k}_2"], kept[f"cost_{k}"]
        np.savez(path, **kept)
    episodes, _ = shown_episodes(records)
    data, _ = explainer_data(load_demos(records), episodes, run_reward(records))
    assert data.demo.name.startswith("demo 2 (")
    assert "3 videos of 6 frames" in run_page(folder)


def test_a_run_without_videos_has_curves_and_no_explainer(tmp_path: Path) -> None:
    page = run_page(make_run(tmp_path / "run", videos=False))
    assert data_of(page, "report") is None
    assert 'id="time"' not in page
    assert len(data_of(page, "learning")["charts"]) == 6


def test_a_run_that_has_just_begun(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", videos=False, steps=10_000)
    records = [record for record in real_records()[0] if record["kind"] == "episode"][:3]
    write_metrics(folder, records)
    page = run_page(folder)
    assert "It has not been evaluated yet; 0 of its 3 training episodes so far ended in success." in page
    assert "10,000 are planned" in page
    titles = [chart["title"] for chart in data_of(page, "learning")["charts"]]
    assert titles == ["How far the video is followed", "Reward of training episodes"]  # no update, so no loss
    (folder / "metrics.jsonl").unlink()
    page = run_page(folder)
    assert "Nothing has been recorded yet." in page
    assert data_of(page, "learning") is None


def test_names_from_outside_stay_text(tmp_path: Path) -> None:
    attack = "</script><img src=x onerror=alert(1)>"
    folder = make_run(tmp_path / "run", task=attack, seed=attack, reward={"matcher": attack})
    info = {"task": attack, "command": attack, "versions": {attack: attack}, "machine": attack}
    (folder / "run.json").write_text(json.dumps(info))
    write_metrics(folder, [*real_records()[0], {"kind": "note", "step": 9999, "text": attack}])
    page = run_page(folder)
    assert "<img" not in page
    assert page.count("&lt;img src=x") >= 6
    assert data_of(page, "learning")["marks"][-1]["text"] == attack


def test_a_damaged_video_is_left_out_and_named(run: Path) -> None:
    steps = sorted(real_records()[1])
    last = run / "videos" / f"{steps[-1]:06d}-0.mp4"
    last.write_bytes(last.read_bytes()[:500])
    frames = real_records()[1][steps[0]][0][0]
    write_mp4(run / "videos" / f"{steps[0]:06d}-1.mp4", frames[:-2], 20)
    (run / "evaluations" / f"{steps[0] + 1:06d}.npz").write_bytes(b"PK\x03\x04 not really")
    page = run_page(run)
    assert "Not shown" in page
    assert f"The video {last.name} cannot be shown" in page
    assert f"{len(frames) - 2} frames do not fit costs of shape [{len(frames)}, 6] against demo 0" in page
    assert len(data_of(page, "report")["attempts"]) == 2


def fill_with_noise(run: Path, T: int, side: int) -> None:
    rng = np.random.default_rng(0)
    kept = sorted((run / "evaluations").iterdir())
    for path in (kept[0], kept[-1]):
        arrays = {}
        for k in (0, 1):
            arrays[f"cost_{k}"] = rng.random((T, 6))
            frames = rng.integers(0, 256, (T, side, side, 3), np.uint8)
            write_mp4(run / "videos" / f"{path.stem}-{k}.mp4", frames, 20)
        np.savez(path, **arrays)


def test_noisy_videos_get_smaller_pictures_instead_of_more_bytes(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_with_noise(run, T=20, side=96)
    free = len(run_page(run))
    monkeypatch.setattr("orcalign.report.training_run.shown.PAGE_BYTES", 300_000)
    page = run_page(run)
    assert len(data_of(page, "report")["attempts"]) == 4
    rest = len(page) - len(re.search(r'<script id="report".*?</script>', page, re.S)[0])
    assert len(page) < 300_000 + rest < free


@pytest.mark.slow
def test_large_noisy_videos_stay_below_ten_megabytes(run: Path) -> None:
    fill_with_noise(run, T=90, side=256)
    assert 1e6 < len(run_page(run).encode()) < 1e7


@pytest.mark.parametrize(
    ("name", "content", "error", "text"),
    [
        ("config.yaml", "a: [", ValueError, "config.yaml' is not valid YAML"),
        ("run.json", "{", ValueError, "run.json' is not valid JSON"),
        (None, "", FileNotFoundError, "holds no run: neither config.yaml nor metrics.jsonl is there"),
    ],
)
def test_errors_say_what_to_do(
    tmp_path: Path, name: str | None, content: str, error: type[Exception], text: str
) -> None:
    if name is not None:
        write_metrics(tmp_path, [])
        (tmp_path / name).write_text(content)
    with pytest.raises(error, match=re.escape(text)):
        write_report(tmp_path)
    assert not (tmp_path / "report.html").exists()
