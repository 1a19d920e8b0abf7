"""orcalign eval and report, and what the documentation says of a run."""

import json
import shutil
from pathlib import Path

import pytest
from cli.small_commands import refused, two_stages

from orcalign.cli import main
from orcalign.rewards import load_reward
from orcalign.training import RunFolder
from orcalign.training.episode import read_shown
from orcalign.training.presets import config
from orcalign.video import read_video


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return two_stages(tmp_path_factory.mktemp("runs") / "run")


@pytest.fixture
def copied(finished, tmp_path):
    """The same, to write into."""
    return RunFolder(shutil.copytree(finished.path, tmp_path / "run"))


def test_eval_plays_what_training_evaluated(copied, capsys):
    main(["eval", str(copied.path), "--episodes", "3", "--video"])
    shown = capsys.readouterr().out
    assert "nav2d: last policy, after 180 steps" in shown
    assert str(copied.path / "eval" / "last.json") in shown.replace("\n", "")
    numbers = json.loads((copied.path / "eval" / "last.json").read_text())
    *_, last = copied.records("evaluation")
    assert (numbers["policy"], numbers["step"], numbers["episodes"]) == ("last", 180, 3)
    for name in ("returns", "successes"):
        assert numbers[name][:2] == last[name]
    seen = copied.path / "videos" / "0000000180-0.mp4"
    assert (copied.path / "eval" / "last-0.mp4").read_bytes() == seen.read_bytes()
    assert read_video(copied.path / "eval" / "last-2.mp4").frames.shape == (30, 64, 64, 3)


def test_eval_measures_with_the_reward_that_training_ended_with(copied):
    """Two stages, a falling temperature: not with the reward that the run began with."""
    main(["eval", str(copied.path), "--episodes", "2"])
    numbers = json.loads((copied.path / "eval" / "last.json").read_text())
    *_, last = copied.records("evaluation")
    assert (numbers["episodes"], numbers["measured"], last["measured"]) == (2, 1, 1 + 5)
    for name in ("reward", "progress", "coverage"):
        assert numbers["each"][name] == last["each"][name][:1] == [numbers[name]], name
    evidence, _ = read_shown(copied.path / "evaluations" / "0000000180.npz")[0]
    ended, began = copied.reward(), load_reward(copied.path)
    for name, value in ended.summary(evidence).items():
        assert numbers["each"][name][0] == value
        assert value != pytest.approx(began.summary(evidence)[name])


def test_eval_of_the_best_policy_elsewhere(finished, tmp_path):
    there = tmp_path / "there"
    main(["eval", str(finished.path), "--policy", "best", "--episodes", "1", "--out", str(there), "--video"])
    numbers = json.loads((there / "best.json").read_text())
    best = [one for one in finished.records("evaluation") if one["best"]][-1]
    assert (numbers["step"], numbers["returns"]) == (best["step"], best["returns"][:1])
    seen = finished.path / "videos" / f"{best['step']:010d}-0.mp4"
    assert (there / "best-0.mp4").read_bytes() == seen.read_bytes()
    assert not (finished.path / "eval").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--policy", "bset"), "did you mean 'best'?"),
        (("--episodes", "0"), "episodes is 0; it must be at least 1"),
    ],
)
def test_mistakes_in_eval(finished, capsys, words, message):
    assert message in refused(capsys, "eval", finished.path, *words)


@pytest.mark.parametrize("command", ["eval", "report"])
def test_what_is_no_run_is_named(tmp_path, capsys, command):
    assert f"'{tmp_path}' is not a run" in refused(capsys, command, tmp_path)


@pytest.mark.parametrize("words", [("eval",), ("report",), ("train", "--resume")])
def test_a_run_of_an_earlier_version_is_refused(copied, capsys, words):
    """It has no description of its reward, and settings that are no longer known."""
    (copied.path / "reward.json").unlink()
    about = json.loads((copied.path / "run.json").read_text())
    about["versions"]["orcalign"] = "0.0.9"
    (copied.path / "run.json").write_text(json.dumps(about))
    with copied.config_file.open("a") as config_file:
        config_file.write("gone_since: 1\n")
    assert "was made by orcalign 0.0.9, and this is" in refused(capsys, *words, copied.path)


def test_report_of_a_run_that_has_just_begun(copied, capsys):
    for name in ("report.html", "policy-last.safetensors"):
        (copied.path / name).unlink()
    first, *_ = copied.records("episode")
    copied.metrics_file.write_text(json.dumps(first) + "\n")
    main(["report", str(copied.path)])
    assert capsys.readouterr().out.strip() == f"open {copied.path / 'report.html'}"
    assert "not been evaluated yet" in (copied.path / "report.html").read_text()
    assert "has no last policy yet" in refused(capsys, "eval", copied.path)


DOCS = (Path(__file__).parents[2] / "docs" / "training.md").read_text()


def test_the_documented_presets_are_the_presets():
    laptop, paper = config("door-close"), config("door-close", "paper")
    rows = {
        "agent steps": [f"{one.steps:,}" for one in (laptop, paper)],
        "updates per agent step": [f"{one.collect.updates_per_step:g}" for one in (laptop, paper)],
        "random actions first": [f"{one.collect.random_steps:,.0f} steps" for one in (laptop, paper)],
        "episodes in flight": [str(one.collect.in_flight) for one in (laptop, paper)],
        "exploration": [
            f"{c.noise} noise, {c.noise_start:g} to {c.noise_end:g}" for c in (laptop.collect, paper.collect)
        ],
        "evaluation": [
            f"every {one.eval_every:,} steps, {one.eval_episodes} episodes"
            + (f"; {one.eval_last} at the end" if one.eval_last else "")
            for one in (laptop.evaluation, paper.evaluation)
        ],
        "batch, hidden units": [
            f"{one.batch}, {one.hidden}{' with LayerNorm' if one.layer_norm else ''}"
            for one in (laptop.agent, paper.agent)
        ],
    }
    for name, values in rows.items():
        assert f"| {name} | {' | '.join(values)} |" in DOCS
