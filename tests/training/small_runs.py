"""Runs that take seconds: nav2d, tiny networks, every kind of change of the reward."""

import json
from pathlib import Path

from orcalign import config
from orcalign.training import RunFolder, Training, start_run
from orcalign.training.checkpoint import Checkpoints

SMALL = {
    "agent.hidden": 16,
    "agent.batch": 16,
    "collect.learning_starts": 60,
    "collect.random_steps": 60,
    "collect.relabel_every": 3,
    "collect.replay": 300,
    "evaluation.eval_every": 150,
    "evaluation.eval_episodes": 3,
    "evaluation.eval_shown": 1,
}


def small_config(steps=420, **reward):
    """14 episodes of 30 steps, with two stages, a falling temperature, and two evaluations in between."""
    given = {
        "pretrain": "temporal_ot", "temperature": "1.0:0.3", "critic_only": 0.2, "context": 3,
        "calibration_episodes": 5, "keep_replay": True, **reward,
    }  # fmt: skip
    settings = {"steps": steps, **SMALL, **{f"reward.{name}": value for name, value in given.items()}}
    return config("nav2d", recipe="orca_np", settings=settings)


def run_to_end(folder: Path, config=None, workers=0, **settings) -> RunFolder:
    run = start_run(config or small_config(), folder)
    training = Training(run, workers, "cpu", **settings)
    try:
        assert training.go()
    finally:
        training.close()
    return run


def resume_to_end(folder: Path, workers=0) -> RunFolder:
    run = RunFolder(folder)
    training = Training(run, workers, "cpu")
    try:
        assert training.go()
    finally:
        training.close()
    return run


def what_counts(run: RunFolder):
    """Weights bit by bit, and metrics without the time they took."""
    state, tensors = Checkpoints(run.path / "checkpoints").latest()
    tensors = {name: value.numpy().tobytes() for name, value in tensors.items()}
    records = [{k: v for k, v in record.items() if k != "timing"} for record in run.records()]
    state = {k: v for k, v in state.items() if k not in ("metrics_bytes",)}
    return tensors, json.dumps(records), json.dumps(state, sort_keys=True)


def assert_same(one: RunFolder, other: RunFolder):
    for mine, theirs in zip(what_counts(one), what_counts(other), strict=True):
        assert mine == theirs
