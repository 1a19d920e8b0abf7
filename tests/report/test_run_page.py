"""The page of a training run as a text: what it tells of which folder."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from report.run_folders import (
    EXPERT_RETURN,
    OWN,
    TASK,
    data_of,
    episode,
    kept,
    make_run,
    real_records,
    write_metrics,
)

from orcalign.envs import rollout_expert, train_seed
from orcalign.report.training_run import run_page, write_report
from orcalign.rewards import Evidence, Moment, Rollout, Staged
from orcalign.training import RunFolder, load_policy, train
from orcalign.training.episode import keep_shown
from orcalign.training.presets import config
from orcalign.training.run_folder import run_reward, save_reward_state
from orcalign.training.start import start_run
from orcalign.video import read_video, write_mp4


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return make_run(tmp_path / "run")


def rewards_of(page: str) -> list[Any]:
    return [attempt["results"][0]["reward"] for attempt in data_of(page, "report")["attempts"]]


def test_it_says_how_the_run_ended(run: Path) -> None:
    page = run_page(run)
    evaluations = real_records("evaluation")
    last = evaluations[-1]
    assert last["success_rate"] == 1.0  # the expert itself
    assert f"4 of 4 episodes ended in success and the task was solved in {last['return']:.3g} steps" in page
    assert f"{last['return'] / EXPERT_RETURN:.2f} times what the expert of the task manages" in page
    assert "one video of 6 frames" in page
    assert "as by orca; success was only counted" in page
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
    shown = kept(run)
    last, first = shown[0][0], shown[-1][0]
    names = [attempt["clip"]["name"] for attempt in data["attempts"]]
    assert [name.split(":")[0] for name in names] == [
        f"{which} {k}, step {step:,}" for which, step in (("last", last), ("first", first)) for k in (1, 2)
    ]
    reward = run_reward(run)
    for attempt, (_, evidence, success) in zip(data["attempts"], shown[:2] + shown[-2:], strict=True):
        [result] = attempt["results"]
        assert result["matcher"] == "orca"
        np.testing.assert_allclose(result["reward"], reward.pay([evidence])[0], rtol=1e-5)
        said = f"success in {success.sum()} of {len(success)} steps" if success.any() else "no success"
        assert attempt["clip"]["name"].endswith(said)
        assert attempt["clip"]["count"] == evidence.length


@pytest.mark.parametrize(
    ("recipe", "settings", "stages"),
    [
        ("orca_progress", {}, 1),
        ("orca_progress", {"reward.scale": "first"}, 1),
        ("orca_progress", {"reward.scale": "3.5"}, 1),
        ("orca_progress", {"reward.pretrain": "temporal_ot", "reward.scale": "first"}, 2),
        ("orca", {"reward.temperature": "1.0:0.3"}, 2),
    ],
)
def test_it_shows_exactly_what_training_pays(
    tmp_path: Path, recipe: str, settings: dict[str, Any], stages: int
) -> None:
    """An expert's episode, paid by the reward as training has it at the beginning and after each change of it."""
    wanted = config(TASK, recipe=recipe, settings={"steps": 600, **settings})
    folder = start_run(wanted, tmp_path / "run").path
    played = rollout_expert(TASK, train_seed(0, 0), wanted.collect.render)
    reward = run_reward(folder)
    assert isinstance(reward, Staged)
    evidence = Evidence(len(played), reward.observe(Rollout(len(played), frames=played.frames)))
    write_metrics(folder, [])
    totals = []
    for k, step in enumerate((0, 300, 599)):
        reward.learn([evidence], Moment(step, k + 1))
        save_reward_state(folder, reward)
        keep_shown(folder, step, [episode(played.frames, evidence.arrays, played.success)])
        paid = reward.pay([evidence])[0]
        page = run_page(folder)
        for told in rewards_of(page):
            assert told == [float(f"{value:.6g}") for value in paid]
        assert data_of(page, "report")["attempts"][0]["results"][0]["matcher"] == reward.name
        totals.append(paid.sum())
    assert reward.stage == stages - 1
    assert totals[0] != 0
    if settings.get("reward.scale") == "first":
        assert np.abs(totals) == pytest.approx(10)


def test_a_reward_of_another_kind_is_shown_without_the_video(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", **OWN)
    page = run_page(folder)
    assert data_of(page, "report") is None
    assert "What did it learn?" in page
    assert "It was rewarded by report.own_rewards:Near; success was only counted, never told to it." in page
    assert "video" not in re.sub(r"<(style|script|pre)\b.*?</\1>", "", page, flags=re.S)
    titles = [chart["title"] for chart in data_of(page, "learning")["charts"]]
    assert "How far the video is followed" not in titles
    shown = kept(folder)
    said = re.findall(r"Near: (\S+) in all, from (\S+) to (\S+) a step", page)
    assert len(said) == page.count('<section class="alone">') == 4
    reward = run_reward(folder)
    for (total, least, most), (_, evidence, _) in zip(said, shown[:2] + shown[-2:], strict=True):
        paid = reward.pay([evidence])[0]
        assert [float(total), float(least), float(most)] == pytest.approx(
            [paid.sum(), paid.min(), paid.max()], rel=1e-3, abs=1e-9
        )
    assert page.count('<img alt="frame') == 40


def test_a_reward_that_cannot_be_made_again_is_admitted(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", **OWN)
    text = (folder / "reward.json").read_text()
    (folder / "reward.json").write_text(text.replace("report.own_rewards", "gone_since"))
    page = run_page(folder)
    assert "names the module &#x27;gone_since&#x27;, which Python does not find" in page
    assert "What it does now" not in page


def test_of_several_demos_the_one_that_fits_is_shown(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", demo__demos=3)
    _, evidence, _ = kept(folder)[0]
    assert sorted(evidence.arrays) == ["cost_0", "cost_1", "cost_2"]
    best = run_reward(folder).explain(evidence).match.demo  # type: ignore[union-attr]
    assert data_of(run_page(folder), "report")["demo"]["name"].startswith(f"demo {best} (")
    other = (best + 1) % 3
    for path in (folder / "evaluations").iterdir():
        with np.load(path) as arrays:
            held = dict(arrays)
        for name in [name for name in held if name.endswith(f"cost_{other}")]:
            held[name] = np.zeros_like(held[name])
        np.savez(path, **held)
    page = run_page(folder)
    assert data_of(page, "report")["demo"]["name"].startswith(f"demo {other} (")
    assert re.search(r"3 videos of \d+( to \d+)? frames", page)


def test_a_run_without_videos_has_curves_and_no_explainer(tmp_path: Path) -> None:
    page = run_page(make_run(tmp_path / "run", videos=False))
    assert data_of(page, "report") is None
    assert 'id="time"' not in page
    assert len(data_of(page, "learning")["charts"]) == 6


def test_a_run_that_has_just_begun(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "run", videos=False)
    write_metrics(folder, real_records("episode")[:3])
    page = run_page(folder)
    assert "It has not been evaluated yet; 0 of its 3 training episodes so far ended in success." in page
    assert "1,200 are planned" in page
    titles = [chart["title"] for chart in data_of(page, "learning")["charts"]]
    assert titles == ["How far the video is followed", "Reward of training episodes"]  # no update, so no loss
    (folder / "metrics.jsonl").unlink()
    page = run_page(folder)
    assert "Nothing has been recorded yet." in page
    assert data_of(page, "learning") is None


def test_names_from_outside_stay_text(run: Path) -> None:
    attack = "</script><img src=x onerror=alert(1)>"
    info = {"task": attack, "command": attack, "versions": {attack: attack}, "machine": attack}
    (run / "run.json").write_text(json.dumps(info))
    (run / "config.yaml").write_text(json.dumps({"seed": attack, "reward": {"reward": attack}}))
    write_metrics(run, [*real_records(), {"kind": "note", "step": 9999, "text": attack}])
    page = run_page(run)
    assert "<img" not in page
    assert page.count("&lt;img src=x") >= 6
    assert data_of(page, "learning")["marks"][-1]["text"] == attack


def test_a_damaged_video_is_left_out_and_named(run: Path) -> None:
    videos = sorted((run / "videos").iterdir())
    last, first = videos[-2], videos[1]
    frames = read_video(first).frames
    last.write_bytes(last.read_bytes()[:500])
    write_mp4(first, frames[:-2], 20)
    steps = sorted(int(path.stem) for path in (run / "evaluations").iterdir())
    page = run_page(run)
    assert "Not shown" in page
    assert f"The video {last.name} cannot be shown" in page
    assert f"The video {first.name} cannot be shown (28 frames of 30 steps)." in page
    assert len(data_of(page, "report")["attempts"]) == 2
    (run / "evaluations" / f"{steps[-1] + 1:010d}.npz").write_bytes(b"PK\x03\x04 not really")
    assert f"The evaluation of step {steps[-1] + 1:,} cannot be read" in run_page(run)


def fill_with_noise(run: Path, T: int, side: int) -> None:
    rng = np.random.default_rng(0)
    steps = sorted(int(path.stem) for path in (run / "evaluations").iterdir())
    for step in (steps[0], steps[-1]):
        noise = [
            episode(
                rng.integers(0, 256, (T, side, side, 3), np.uint8),
                {"cost_0": rng.random((T, 6))},
                np.zeros(T, bool),
            )
            for _ in range(2)
        ]
        keep_shown(run, step, noise)


def test_noisy_videos_get_smaller_pictures_instead_of_more_bytes(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill_with_noise(run, T=20, side=96)
    free = len(run_page(run))
    monkeypatch.setattr("orcalign.report.training_run.shown.PAGE_BYTES", 300_000)
    page = run_page(run)
    assert len(data_of(page, "report")["attempts"]) == 4
    rest = len(page) - len(re.search(r'<script id="report".*?</script>', page, re.S)[0])  # type: ignore[index]
    assert len(page) < 300_000 + rest < free


@pytest.mark.slow
def test_large_noisy_videos_stay_below_ten_megabytes(run: Path) -> None:
    fill_with_noise(run, T=90, side=256)
    assert 1e6 < len(run_page(run).encode()) < 1e7


def test_runs_of_versions_without_a_description_of_the_reward_are_refused(run: Path) -> None:
    """By whatever reads them: page, eval and resume (both by RunFolder), load_policy, train."""
    info = json.loads((run / "run.json").read_text())
    info["versions"]["orcalign"] = "0.0.9"
    (run / "run.json").write_text(json.dumps(info))
    (run / "reward.json").unlink()
    (run / "report.html").unlink(missing_ok=True)
    for read in (write_report, RunFolder, load_policy, lambda path: train(resume=path)):
        with pytest.raises(ValueError, match=re.escape(f"{str(run)!r} was made by orcalign 0.0.9, and this")):
            read(run)
    assert not (run / "report.html").exists()


@pytest.mark.parametrize(
    ("name", "content", "error", "text"),
    [
        ("config.yaml", "a: [", ValueError, "config.yaml' is not valid YAML"),
        ("run.json", "{", ValueError, "run.json' cannot be read"),
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
