"""What goes wrong ends in a sentence, without hanging, and the last good checkpoint is there."""

import errno
import os
import signal
from dataclasses import replace

import numpy as np
import pytest
from training.small_runs import resume_to_end, run_to_end, small_config

from orcalign.envs import make_demo
from orcalign.training import Training, start_run
from orcalign.training.checkpoint import Checkpoints
from orcalign.training.learner import DivergedError
from orcalign.training.players import CollectorError


def faulty_config(tmp_path, fault):
    demo, _ = make_demo("nav2d", misaligned=True)
    demo.save(tmp_path / "demo")
    config = small_config()
    return replace(
        config,
        task=f"training.faulty_worlds:{fault}",
        demo=replace(config.demo, demo=(str(tmp_path / "demo"),)),
        # Few, so that the fault, at step 200 of the environment, comes after the first checkpoint.
        evaluation=replace(config.evaluation, eval_episodes=1, eval_choosing=0),
    )


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("raises", r"episode \d \(seed \d+\) could not be played: ZeroDivisionError"),
        ("nan", r"observation\[0\] is nan"),
    ],
)
@pytest.mark.filterwarnings("ignore:demo 0")
def test_an_environment_that_goes_wrong(tmp_path, fault, words):
    run = start_run(faulty_config(tmp_path, fault), tmp_path / "run")
    training = Training(run, 0, "cpu", checkpoint_minutes=0)
    with pytest.raises(CollectorError, match=words):
        training.go()
    training.close()
    assert Checkpoints(run.path / "checkpoints").latest()[0]["learner"]["steps"] > 0


def test_a_collector_process_hands_its_error_over(tmp_path, monkeypatch):
    tests = os.path.dirname(os.path.dirname(__file__))
    monkeypatch.setenv("PYTHONPATH", tests)
    monkeypatch.setenv("PYTHONWARNINGS", "ignore")
    run = start_run(faulty_config(tmp_path, "raises"), tmp_path / "run")
    training = Training(run, 1, "cpu", checkpoint_minutes=0)
    with pytest.raises(CollectorError, match="ZeroDivisionError: division by zero"):
        training.go()
    training.close()


@pytest.mark.timeout(120)
def test_a_collector_that_is_killed(tmp_path):
    run = start_run(small_config(steps=6000), tmp_path / "run")
    training = Training(run, 2, "cpu", checkpoint_minutes=0)
    counted = []

    def kill_one() -> bool:
        counted.append(1)
        if len(counted) == 5:
            os.kill(training.players._lines[1].process.pid, signal.SIGKILL)
        return False

    with pytest.raises(CollectorError, match="collector 1 was killed by SIGKILL"):
        training.go(kill_one)
    training.close()
    assert Checkpoints(run.path / "checkpoints").latest() is not None


def test_a_collector_that_cannot_begin_says_why(tmp_path):
    config = small_config()
    run = start_run(config, tmp_path / "run")
    demo = run.path / "demo" / "demo-0"
    for path in demo.iterdir():
        path.write_bytes(b"")
    with pytest.raises((ValueError, OSError)):
        Training(run, 1, "cpu")


def test_a_full_disk_leaves_the_last_checkpoint(tmp_path, monkeypatch):
    whole = run_to_end(tmp_path / "whole")
    run = start_run(small_config(), tmp_path / "run")
    training = Training(run, 0, "cpu", checkpoint_minutes=0)
    real, calls = os.fsync, []

    def full(handle):
        calls.append(handle)
        if len(calls) > 40:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(handle)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space left"):
        training.go()
    training.close()
    monkeypatch.undo()
    from training.small_runs import assert_same

    assert Checkpoints(run.path / "checkpoints").latest()[0]["learner"]["steps"] < 420
    assert_same(whole, resume_to_end(run.path))


def test_a_loss_that_is_not_a_number(tmp_path):
    run = start_run(small_config(), tmp_path / "run")
    training = Training(run, 0, "cpu", checkpoint_minutes=0)
    counted = []

    def spoil() -> bool:
        counted.append(1)
        if len(counted) == 10:
            state = training.learner.agent.state()
            name = next(name for name in state if "critic" in name and state[name].is_floating_point())
            training.learner.agent.load_state({**state, name: state[name] * np.nan})
        return False

    with pytest.raises(DivergedError, match=r"critic_loss is nan after \d+ steps.*--learning-rate"):
        training.go(spoil)
    training.close()
    _, tensors = Checkpoints(run.path / "checkpoints").latest()
    assert all(bool(value.isfinite().all()) for value in tensors.values() if value.is_floating_point())


def test_a_folder_in_use_is_not_touched(tmp_path):
    run = run_to_end(tmp_path / "run", small_config(steps=60))
    before = sorted(path.name for path in run.path.rglob("*"))
    with pytest.raises(FileExistsError, match="--resume"):
        start_run(small_config(), run.path)
    assert sorted(path.name for path in run.path.rglob("*")) == before


def test_lost_metrics_are_noticed(tmp_path):
    run = run_to_end(tmp_path / "run", small_config(steps=60))
    os.truncate(run.metrics_file, 10)
    with pytest.raises(ValueError, match="metrics were lost"):
        Training(run, 0, "cpu")
