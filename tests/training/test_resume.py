"""Killed at any moment, a run goes on and ends with the same bits."""

import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

import pytest
from training.small_runs import assert_same, resume_to_end, run_to_end, small_config

from orcalign.agents import DrQv2Settings, SACSettings, XQCSettings
from orcalign.training import RunFolder, Training, start_run
from orcalign.training.checkpoint import CheckpointWarning

# Runs or resumes a small run, and kills itself with -9 before the given call of fsync or of a rename: the moments in
# which a file or a checkpoint is half written, whole but not in place, or in place without what follows it.
KILLER = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from training.small_runs import small_config
from orcalign.training import RunFolder, Training, start_run
calls, fatal = 0, int(sys.argv[2])
def deadly(function):
    def call(*args, **kwargs):
        global calls
        calls += 1
        if calls == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*args, **kwargs)
    return call
folder = Path(sys.argv[1])
run = RunFolder(folder) if (folder / "config.yaml").exists() else start_run(small_config(), folder)
for name in ("fsync", "rename", "replace", "unlink"):
    setattr(os, name, deadly(getattr(os, name)))
training = Training(run, int(sys.argv[3]), "cpu", checkpoint_minutes=0)
training.go()
training.close()
"""


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    return run_to_end(tmp_path_factory.mktemp("runs") / "whole")


def run_and_die(folder: Path, fatal: int, workers: int = 0) -> int:
    code = KILLER.format(tests=str(Path(__file__).parent.parent))
    arguments = [sys.executable, "-c", code, str(folder), str(fatal), str(workers)]
    return subprocess.run(arguments, timeout=120, check=False).returncode


def test_killed_in_the_middle_of_writes(uninterrupted, tmp_path):
    rng = random.Random(0)
    deaths = [run_and_die(tmp_path / "run", rng.randint(4, 60)) for _ in range(3)]
    assert deaths == [-signal.SIGKILL] * 3
    assert_same(uninterrupted, resume_to_end(tmp_path / "run"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("workers", [0, 2])
def test_killed_in_the_middle_of_writes_many_times(uninterrupted, tmp_path, seed, workers):
    rng = random.Random(100 * workers + seed)
    deaths = 0
    while run_and_die(tmp_path / "run", rng.randint(10, 150), workers) != 0:
        deaths += 1
        assert deaths < 60
    assert deaths > 0
    assert_same(uninterrupted, RunFolder(tmp_path / "run"))


@pytest.mark.slow
def test_killed_at_random_times_with_its_collectors_about(tmp_path):
    """The command itself, killed from outside; no collector outlives it."""
    config = small_config(steps=1500)
    whole = run_to_end(tmp_path / "whole", config)
    run = start_run(config, tmp_path / "run")
    rng = random.Random(0)
    arguments = ["train", "--resume", str(run.path), "--workers", "2", "--checkpoint-minutes", "0.001"]
    for _ in range(5):
        process = subprocess.Popen(
            [Path(sys.executable).parent / "orcalign", *arguments],
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        time.sleep(rng.uniform(3, 9))
        children = _children(process.pid)
        process.kill()
        process.wait()
        deadline = time.monotonic() + 20
        while any(_alive(child) for child in children):
            assert time.monotonic() < deadline, "a collector outlived the learner"
            time.sleep(0.1)
    assert_same(whole, resume_to_end(run.path, workers=1))


def _children(pid: int) -> list[int]:
    listed = subprocess.run(["ps", "--ppid", str(pid), "-o", "pid="], capture_output=True, text=True, check=False)
    return [int(line) for line in listed.stdout.split()]


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


def test_stopped_on_request(uninterrupted, tmp_path):
    run = start_run(small_config(), tmp_path / "run")
    training = Training(run, 0, "cpu")
    answers = iter([False] * 4 + [True] * 9)
    assert not training.go(lambda: next(answers))
    training.close()
    assert 0 < training.learner.steps < 420
    assert_same(uninterrupted, resume_to_end(run.path))


@pytest.mark.parametrize(
    ("agent", "stopped_at"), [(DrQv2Settings, 3), (DrQv2Settings, 9), (SACSettings, 9), (XQCSettings, 9)]
)
def test_a_second_stage_with_an_empty_replay_is_the_same_after_a_restart(tmp_path, agent, stopped_at):
    """The networks go on, replay and optimisers begin anew; stopped before the switch and after it."""
    config = replace(small_config(keep_replay=False), agent=agent(hidden=16, batch=16))
    whole = run_to_end(tmp_path / "whole", config)
    run = start_run(config, tmp_path / "stopped")
    training = Training(run, 0, "cpu")
    answers = itertools.chain([False] * 2 * stopped_at, itertools.repeat(True))
    assert not training.go(lambda: next(answers))
    training.close()
    assert training.reward.stage == (stopped_at > 7)
    assert_same(whole, resume_to_end(run.path))


def test_the_scale_of_rewards_follows_them_when_they_change(tmp_path):
    """Temperature and scale change on the way; what is kept at the end is what was paid anew."""
    config = replace(small_config(), agent=XQCSettings(hidden=16, batch=16))
    run = start_run(config, tmp_path / "run")
    training = Training(run, 0, "cpu")
    scales = []

    def stop():
        learner = training.learner
        deviation, most = learner.replay.running_returns(config.agent.gamma)
        scales.append(learner.agent.reward_scale.item())
        assert scales[-1] == pytest.approx(max(deviation, most / 5))
        return len(scales) > 18

    assert not training.go(stop)
    training.close()
    assert len(set(scales)) > 5
    again = Training(run, 0, "cpu")
    again.close()
    assert again.learner.agent.reward_scale.item() == scales[-1]


@pytest.mark.parametrize("damage", ["weights", "state", "empty", "missing"])
def test_a_damaged_checkpoint_falls_back_to_the_one_before(uninterrupted, tmp_path, damage):
    assert run_and_die(tmp_path / "run", 100) == -signal.SIGKILL
    last = sorted((tmp_path / "run" / "checkpoints").glob("[0-9]*"))[-1]
    if damage == "weights":
        data = bytearray((last / "weights.safetensors").read_bytes())
        data[-5] ^= 1
        (last / "weights.safetensors").write_bytes(data)
    elif damage == "state":
        (last / "state.json").write_text((last / "state.json").read_text()[:-20])
    elif damage == "empty":
        os.truncate(last / "weights.safetensors", 0)
    else:
        (last / "weights.safetensors").unlink()
    with pytest.warns(CheckpointWarning, match="damaged"):
        run = resume_to_end(tmp_path / "run")
    assert_same(uninterrupted, run)


def test_a_damaged_episode_is_noticed(tmp_path):
    run = run_to_end(tmp_path / "run")
    path = run.path / "episodes" / "00000013.npz"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"episode file .* is damaged"):
        Training(run, 0, "cpu")


def test_a_run_that_is_finished_stays_as_it_is(uninterrupted):
    before = uninterrupted.metrics_file.read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        resume_to_end(uninterrupted.path)
    assert uninterrupted.metrics_file.read_bytes() == before


def test_opening_a_run_again_keeps_what_its_first_episodes_calibrated(tmp_path):
    config = small_config(steps=240, pretrain=None, matcher="orca_progress", calibrated=True, temperature="1.0")
    run = run_to_end(tmp_path / "run", config)
    found = run.reward().state()
    from_the_demo_alone = Training(start_run(config, tmp_path / "fresh"), 0, "cpu")
    from_the_demo_alone.close()
    assert from_the_demo_alone.run.reward().state() != found
    assert resume_to_end(run.path).reward().state() == found


def test_another_demo_is_refused(tmp_path):
    run = run_to_end(tmp_path / "run", small_config(steps=60))
    facts = json.loads((run.path / "run.json").read_text())
    (run.path / "run.json").write_text(json.dumps({**facts, "demo_hash": "another"}))
    with pytest.raises(ValueError, match="not the one that the run began with"):
        Training(RunFolder(run.path), 0, "cpu")


def test_a_run_of_an_earlier_version_is_refused_by_its_name(tmp_path):
    run = run_to_end(tmp_path / "run", small_config(steps=60))
    facts = json.loads((run.path / "run.json").read_text())
    facts["versions"]["orcalign"] = "0.1.0"
    (run.path / "run.json").write_text(json.dumps(facts))
    (run.path / "reward.json").unlink()
    with pytest.raises(ValueError, match=r"was made by orcalign 0\.1\.0, and this is .* use orcalign 0\.1\.0"):
        RunFolder(run.path)
