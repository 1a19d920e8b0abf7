"""orcalign train, from the words to the files: nav2d and tiny networks, nothing replaced."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from cli.small_commands import TINY, last_words, refused, train, two_stages
from training.small_runs import assert_same

import orcalign
from orcalign.agents import AGENTS
from orcalign.cli import main
from orcalign.envs import make_demo
from orcalign.training import PRESETS, RECIPES, RunFolder
from orcalign.training.checkpoint import Checkpoints
from orcalign.training.config_mapping import field_types
from orcalign.video import read_video

# What people put into my_robot.py.
OWN_WORLD = """
import gymnasium
from orcalign.envs.nav2d.env import Nav2D

def make_env(render_mode=None):
    return gymnasium.wrappers.TimeLimit(Nav2D(render_mode=render_mode), 30)
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    return two_stages(tmp_path_factory.mktemp("runs") / "run")


def printed(capsys, *words):
    capsys.readouterr()
    main(["train", *(str(word) for word in words), "--print-config"])
    return capsys.readouterr().out


@pytest.fixture
def copied(finished, tmp_path):
    """The same, to write into."""
    return RunFolder(shutil.copytree(finished.path, tmp_path / "run"))


def test_a_run_leaves_everything_behind(finished):
    path = finished.path
    page = (path / "report.html").read_text()
    assert "nav2d" in page
    assert 'id="charts"' in page
    assert 'id="learner-frame"' in page  # the policy beside the video
    kinds = [record["kind"] for record in finished.records()]
    assert kinds.count("episode") == 6
    evaluations = list(finished.records("evaluation"))
    assert [one["step"] for one in evaluations] == [0, 90, 180]
    assert all(len(one["returns"]) == 2 for one in evaluations)
    assert [one["stage"] for one in finished.records("episode")] == ["temporal_ot"] * 3 + ["orca"] * 3
    for name in ("last", "best"):
        assert orcalign.load_policy(path, name).task == "nav2d"
    for step in (0, 90, 180):
        video = read_video(path / "videos" / f"{step:010d}-0.mp4").frames
        assert video.shape == (30, 64, 64, 3)
    assert len(finished.demos()) == 2
    assert finished.facts["task"] == "nav2d"


def test_tensorboard_reads_the_same_numbers(finished):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(finished.path / "tensorboard"))
    events.Reload()
    recorded = {one["step"]: one["coverage"] for one in finished.records("evaluation")}
    shown = {event.step: event.value for event in events.Scalars("eval/coverage")}
    assert shown == pytest.approx(recorded)
    assert len(events.Scalars("train/reward")) == 6


def test_the_number_of_collectors_changes_nothing(finished, tmp_path):
    words = ("--config", finished.config_file)
    assert_same(finished, train(tmp_path / "run", *words, workers=0))


def test_a_printed_config_can_be_fed_back(tmp_path, capsys):
    text = printed(
        capsys,
        "--task",
        "nav2d",
        *TINY[:2],
        "--temperature",
        "1:0.5",
        "--set",
        "weight=3",
        "--matcher",
        "orca_progress",
    )
    values = yaml.safe_load(text)
    assert (values["task"], values["agent"]["hidden"], values["reward"]["set"]) == (
        "nav2d",
        16,
        ["weight=3"],
    )
    (tmp_path / "config.yaml").write_text(text)
    assert printed(capsys, "--config", tmp_path / "config.yaml") == text
    changed = printed(capsys, "--config", tmp_path / "config.yaml", "--hidden", 32)
    assert changed == text.replace("hidden: 16", "hidden: 32")


def test_printing_a_config_writes_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    printed(capsys, "--task", "nav2d", "--out", "run")
    assert not list(tmp_path.iterdir())


def test_presets_are_the_defaults(capsys):
    laptop, paper = (
        yaml.safe_load(printed(capsys, "--task", "door-close", *words))
        for words in ((), ("--preset=paper", "--steps", 5))
    )
    assert (laptop["encoder"]["encoder"], laptop["collect"]["render"]) == ("efficientnet-lite0", "fast")
    assert (paper["encoder"]["encoder"], paper["collect"]["render"], paper["steps"]) == (
        "resnet50",
        "paper",
        5,
    )


def test_the_paper_without_its_encoder_stops_before_it_begins(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    error = refused(capsys, "train", "--task", "door-close", "--preset", "paper", "--out", tmp_path / "run")
    assert "resnet50" in error
    assert "--weights" in error
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "no task was given; say which: --task door-close"),
        (("--task", "nav2x"), "did you mean 'nav2d'?"),
        (("--task", "nav2d", "--preset", "laptob"), "did you mean 'laptop'?"),
        (("--task", "nav2d", "--matcher", "orka"), "did you mean 'orca'?"),
        (("--task", "nav2d", "--steps", "0"), "steps is 0; it must be at least 1"),
        (("--task", "nav2d", "--workers", "-1"), "workers is '-1'; it must be a number of processes from 0"),
        (("--task", "nav2d", "--demo", "no.mp4"), "no.mp4"),
        (("--task", "nav2d", "--device", "abacus"), "one of auto, cuda, mps, cpu"),
        (("--task", "nav2d", "--temperature", "cold"), "temperature is 'cold'; it must be a number above 0"),
        (("--task", "nav2d", "--scale", "best"), "scale is 'best'; it must be one of first, none"),
        (("--task", "nav2d", "--recipe", "orco"), "did you mean 'orca'?"),
        (("--config", "no.yaml", "--recipe", "orca"), "--recipe and --config were both given"),
        (("--task", "drawer-open"), "give a video with --demo"),
        (("--task", "no_such_module:make"), "'no_such_module', which Python does not find"),
        (("--config", "no.yaml"), "no.yaml: No such file"),
        (("--resume", "nowhere"), "'nowhere' is not a run"),
    ],
)
def test_mistakes_end_in_one_line_and_leave_nothing(tmp_path, monkeypatch, capsys, words, message):
    monkeypatch.chdir(tmp_path)
    assert message in last_words(capsys, "train", *TINY, "--workers", "0", "--out", "run", *words)
    assert not (tmp_path / "run").exists()


def test_actions_that_no_agent_can_take_leave_no_folder_in_the_way(tmp_path, capsys):
    words = ("train", "--task", "nav2d-grid", "--workers", "0", "--out", tmp_path / "run")
    assert "Discrete" in last_words(capsys, *words)
    assert not (tmp_path / "run").exists()


def test_a_folder_in_use_is_not_touched(copied, capsys):
    before = copied.metrics_file.read_bytes()
    error = refused(capsys, "train", "--task", "nav2d", "--out", copied.path)
    assert f"orcalign train --resume {copied.path}" in error
    assert copied.metrics_file.read_bytes() == before


def test_a_finished_run_resumes_to_itself(copied, finished, capsys):
    main(["train", "--resume", str(copied.path), "--workers", "0"])
    shown = capsys.readouterr()
    assert "going on from step 180" in shown.err
    assert shown.out.strip() == f"open {copied.path / 'report.html'}"
    assert_same(finished, copied)


@pytest.mark.timeout(120)
def test_ctrl_c_saves_and_says_how_to_go_on(tmp_path, capsys):
    whole = train(tmp_path / "whole", "--task", "nav2d", steps=600)
    command = Path(sys.executable).with_name("orcalign")
    words = ["train", *TINY, "--task", "nav2d", "--steps", "600", "--out", str(tmp_path / "run")]
    # A session of its own: as in a terminal, Ctrl-C reaches learner and collector alike.
    with subprocess.Popen([command, *words], stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if "evaluation at step 90" in line:
                break
        os.killpg(process.pid, signal.SIGINT)
        said = process.stderr.read()
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert "stopping after this episode" in said
    assert f"Go on with: orcalign train --resume {tmp_path / 'run'}" in said
    assert (tmp_path / "run" / "report.html").exists()
    saved = Checkpoints(tmp_path / "run" / "checkpoints").steps()[-1]
    assert 90 <= saved < 600

    main(["train", "--resume", str(tmp_path / "run"), "--workers", "0"])
    assert f"going on from step {saved:,}" in capsys.readouterr().err
    assert_same(whole, RunFolder(tmp_path / "run"))


@pytest.mark.parametrize("agent", ["sac", "xqc"])
def test_another_agent(tmp_path, agent):
    run = train(tmp_path / "run", "--task", "nav2d", "--agent", agent, steps=120)
    *_, last = run.records("episode")
    assert last["updates"] == 30
    assert np.isfinite([value for value in last.values() if isinstance(value, float)]).all()


def test_a_policy_on_pixels(tmp_path):
    words = ("--policy-input", "pixels", "--learning-starts", 50, "--updates-per-step", 0.2)
    run = train(tmp_path / "run", "--task", "nav2d", *words, steps=60)
    *_, last = run.records("episode")
    assert last["updates"] == 2
    policy = orcalign.load_policy(run.path)
    assert policy.observation_shape == (9, 84, 84)
    assert policy(np.zeros((9, 84, 84), np.uint8)).shape == (2,)


@pytest.mark.parametrize("workers", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_world_and_a_video_of_ones_own(tmp_path, monkeypatch, workers):
    """The command finds my_robot.py where it is typed, and so do eval, report and collector processes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "my_robot", raising=False)
    (tmp_path / "my_robot.py").write_text(OWN_WORLD)
    demo, _ = make_demo("nav2d", misaligned=True)
    demo.save(tmp_path / "demo")
    words = (
        "--task",
        "my_robot:make_env",
        "--demo",
        "demo/demo.mp4",
        "--encoder",
        "pixels",
        "--encoder-size",
        16,
    )
    run = train("run", *words, steps=90, workers=workers)
    assert run.facts["expert_return"] is None
    assert len(run.demos()[0]) == len(demo)
    assert run.demos()[0].task is None
    *_, last = run.records("evaluation")
    assert last["normalised"] is None
    assert last["coverage"] > 0
    main(["eval", "run", "--episodes", "1"])
    main(["report", "run"])
    assert orcalign.load_policy("run").task == "my_robot:make_env"


def help_of(capsys, *words):
    with pytest.raises(SystemExit) as exit_info:
        main([*words])
    assert exit_info.value.code == 0
    return capsys.readouterr().out


def test_the_first_page_of_help_is_what_people_need(capsys):
    text = help_of(capsys, "train", "--help")
    assert len(text.splitlines()) <= 25
    for option in ("task", "demo", "recipe", "steps", "seed", "out", "resume", "preset", "help-all"):
        assert f"--{option}" in text, option


def test_the_whole_help_has_every_option(capsys):
    # An agent has options of its own.
    text = "".join(help_of(capsys, "train", "--agent", agent, "--help-all") for agent in AGENTS)
    own = ("preset", "recipe", "config", "out", "resume", "workers", "device", "print-config")
    for option in (*own, *(name.rpartition(".")[2].replace("_", "-") for name in field_types())):
        assert f"--{option} " in text or f"--{option}, --no-{option}" in text, option
    first = set(re.findall(r"--[a-z-]+", help_of(capsys, "train", "--help"))) - {"--help-all"}
    assert first <= set(re.findall(r"--[a-z-]+", text))


@pytest.mark.parametrize("recipe", [None, *RECIPES])
@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("task", ["nav2d", "nav2d-order", "door-close"])
def test_the_command_and_the_function_mean_the_same_run(capsys, task, preset, recipe):
    words = ["--task", task, "--preset", preset, *(["--recipe", recipe] if recipe else [])]
    settings = {}
    if recipe == "liv" and task.startswith("nav2d"):  # whose tasks have no sentence of their own
        words, settings = [*words, "--goal", "go there"], {"demo.goal": ["go there"]}
    assert printed(capsys, *words) == orcalign.config(task, preset, recipe, settings).to_yaml()


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        (("--demo-kind", "aligned", "--recipe", "temporal_ot"), {"demo.demo_kind": "aligned"}),
        (("--look", "whole"), {"encoder.look": "whole"}),
        (("--matcher", "orca", "--gamma", "0.95"), {"reward.matcher": "orca", "agent.gamma": 0.95}),
        (
            ("--no-calibrated", "--temperature=2:1"),
            {"reward.calibrated": False, "reward.temperature": "2.0:1.0"},
        ),
        (("--encoder", "resnet18", "--steps", "7"), {"encoder.encoder": "resnet18", "steps": 7}),
        (
            ("--agent", "sac", "--entropy_temperature", "0.1"),
            {"agent.agent": "sac", "agent.entropy_temperature": 0.1},
        ),
        (("--weights", "None", "--set", "last=none"), {"encoder.weights": None, "reward.set": ["last=none"]}),
    ],
)
def test_what_is_typed_is_what_is_set(capsys, words, settings):
    recipe = words[words.index("--recipe") + 1] if "--recipe" in words else None
    expected = orcalign.config("door-close", "laptop", recipe, settings)
    assert printed(capsys, "--task", "door-close", *words) == expected.to_yaml()


def test_a_task_without_a_misaligned_demo_takes_another_kind(capsys):
    config = yaml.safe_load(printed(capsys, "--task", "drawer-open", "--demo-kind", "fast-high"))
    assert (config["demo"]["demo_kind"], config["recipe"]) == ("fast-high", "follow_posed")


def test_a_run_in_one_call(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = {
        "steps": 60, "agent.hidden": 16, "agent.batch": 16, "collect.learning_starts": 30,
        "evaluation.eval_every": 60, "evaluation.eval_episodes": 1,
    }  # fmt: skip
    run = orcalign.train("nav2d", recipe="ot", settings=settings, workers=0, device="cpu")
    assert run.path == Path("runs/nav2d-ot-seed0")
    assert run.config == orcalign.config("nav2d", "laptop", "ot", settings)
    again = orcalign.train(run.config, "again", settings={"seed": 1}, workers=0, device="cpu")
    assert (again.config.seed, again.config.recipe) == (1, "ot")
    *_, last = orcalign.train(resume="again", workers=0, device="cpu").records("evaluation")
    assert last["step"] == 60
    for words, why in (
        ({}, "no task was given"),
        ({"task": run.config, "recipe": "ot"}, "has its recipe already"),
        ({"task": "nav2d", "resume": "again"}, "leave out task"),
    ):
        with pytest.raises(ValueError, match=why):
            orcalign.train(**words)


def test_a_flag_can_be_given_both_ways(capsys):
    assert "calibrated: true" in printed(capsys, "--task", "nav2d", "--calibrated")
    assert "calibrated: false" in printed(capsys, "--task", "nav2d", "--no-calibrated")


def test_a_recipe_brings_its_settings_and_options_still_win(capsys):
    config = yaml.safe_load(printed(capsys, "--task", "nav2d", "--recipe", "orca_progress", "--gamma", "0.8"))
    assert (config["reward"]["matcher"], config["reward"]["calibrated"]) == ("orca_progress", True)
    assert (config["agent"]["gamma"], config["agent"]["learning_rate"]) == (0.8, 3e-4)
    assert "pretrain: temporal_ot" in printed(capsys, "--task", "nav2d", "--recipe", "orca")
