"""Runs that take seconds: nav2d, tiny networks, every kind of change of the reward."""

import json
from dataclasses import replace
from pathlib import Path

from orcalign.training import RunFolder, Training, start_run
from orcalign.training.checkpoint import Checkpoints
from orcalign.training.presets import config as config_of


def small_config(steps=420, **reward):
    """14 episodes of 30 steps, with two stages, a falling temperature, and two evaluations in between."""
    config = config_of("nav2d", recipe="orca_np")
    given = {
        "pretrain": "temporal_ot", "temperature": "1.0:0.3", "critic_only": 0.2, "context": 3,
        "calibration_episodes": 5, **reward,
    }  # fmt: skip
    return replace(
        config,
        steps=steps,
        reward=replace(config.reward, **given),
        agent=replace(config.agent, hidden=16, batch=16, actor_every=2, policy_average=0.05),
        collect=replace(config.collect, learning_starts=60, random_steps=60, relabel_every=3, replay=300),
        evaluation=replace(config.evaluation, eval_every=150, eval_episodes=3, eval_shown=1),
    )


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
    checkpoint = Checkpoints(run.path / "checkpoints").latest()
    tensors = {name: value.numpy().tobytes() for name, value in checkpoint.tensors.items()}
    records = [{k: v for k, v in record.items() if k != "timing"} for record in run.records()]
    state = {k: v for k, v in checkpoint.state.items() if k not in ("metrics_bytes",)}
    return tensors, json.dumps(records), json.dumps(state, sort_keys=True)


def assert_same(one: RunFolder, other: RunFolder):
    for mine, theirs in zip(what_counts(one), what_counts(other), strict=True):
        assert mine == theirs
