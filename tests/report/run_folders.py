"""Run folders that training itself writes: nav2d, with a learner in the policy's place that becomes better."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from orcalign.envs import expert_return, find_suite, find_task
from orcalign.rewards import Evidence
from orcalign.training import RunFolder, Training, start_run
from orcalign.training.collector import Order
from orcalign.training.episode import PlayedEpisode, read_shown
from orcalign.training.presets import config

TASK = "nav2d"
STEPS = 1200
"""40 episodes of 30 steps."""
EXPERT_RETURN = expert_return(TASK)
SETTINGS = {
    "steps": STEPS, "seed": 7, "reward.matcher": "orca", "reward.context": 3, "reward.temperature": "1.0:0.5",
    "reward.scale": "first", "agent.hidden": 16, "agent.batch": 16, "collect.learning_starts": 90,
    "collect.random_steps": 90, "collect.updates_per_step": 0.1, "collect.relabel_every": 5,
    "evaluation.eval_every": 400, "evaluation.eval_episodes": 4, "evaluation.eval_shown": 2,
    "evaluation.eval_choosing": 0,
}  # fmt: skip
OWN = {"reward__reward": "report.own_rewards:Near"}


class Pupil:
    """Acts as the expert would on a share of the steps that rises from none to all of them."""

    def __init__(self, training: Training) -> None:
        self._collector = training.players._lines[0].collector
        self._play, self._collector.play = self._collector.play, self.play
        self._collector._policy = self

    def play(self, order: Order) -> Any:
        steps = 30 * order.number if order.evaluation is None else order.evaluation
        self._skill, self._rng = steps / (STEPS - 30), np.random.default_rng(order.seed)
        self._expert: Any = None
        return self._play(order)

    def load(self, weights: Any) -> None:
        pass

    def act(self, observation: Any, noise: Any = None) -> Any:
        env = self._collector.env
        if self._expert is None:
            self._expert = find_suite("nav2d").expert(find_task(TASK), env)
        space = env.action_space
        wise = 2 * (self._expert(observation, success=False) - space.low) / (space.high - space.low) - 1
        foolish = self._rng.uniform(-1, 1, wise.shape)
        return np.float32(wise if self._rng.random() < self._skill else foolish)


@cache
def trained(**settings: Any) -> Path:
    """A finished run, made once for all tests."""
    folder = Path(tempfile.mkdtemp()) / "run"
    given = {**SETTINGS, **{name.replace("__", "."): value for name, value in settings.items()}}
    training = Training(start_run(config(TASK, settings=given), folder, f"orcalign train {TASK}"), 0, "cpu")
    Pupil(training)
    try:
        assert training.go()
    finally:
        training.close()
    return folder


def make_run(folder: Path, videos: bool = True, **settings: Any) -> Path:
    """A copy of a finished run, to write into."""
    shutil.copytree(trained(**settings), folder)
    if not videos:
        shutil.rmtree(folder / "videos")
        shutil.rmtree(folder / "evaluations")
    return folder


def real_records(kind: str | None = None) -> list[dict[str, Any]]:
    """Of the run without settings of its own."""
    return list(RunFolder(trained()).records(kind))


def kept(folder: Path) -> list[tuple[int, Any, Any]]:
    """Step, evidence and success [T] of all episodes that a run kept pictures of, the last evaluation first."""
    paths = sorted((folder / "evaluations").iterdir(), reverse=True)
    return [(int(path.stem), *shown) for path in paths for shown in read_shown(path)]


def episode(frames: Any, evidence: Any, success: Any) -> PlayedEpisode:
    """One that is only shown."""
    T = len(frames)
    nothing = np.zeros((T, 1), np.float32)
    return PlayedEpisode(0, 0, nothing, nothing, success, np.zeros(T), False, Evidence(T, evidence), frames, {})


def write_metrics(folder: Path, records: list[dict[str, Any]]) -> None:
    (folder / "metrics.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))


def data_of(page: str, name: str) -> Any:
    """What the page embeds under that id, or None."""
    found = re.search(rf'<script id="{name}" type="application/json">(.*?)</script>', page, re.S)
    return json.loads(found[1]) if found else None
