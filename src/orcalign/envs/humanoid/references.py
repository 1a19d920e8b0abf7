"""What comes without learning on the humanoid's tasks: measured, stored with its origin, shown beside agents."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from orcalign.checks import require_count
from orcalign.envs.humanoid.control import HoldAngles, goal_angles
from orcalign.envs.humanoid.env import HumanoidArms
from orcalign.envs.humanoid.poses import GOALS
from orcalign.envs.seeds import eval_seed
from orcalign.envs.tasks import find_task

FILE = "references.json"
COMMAND = "orcalign tasks --measure-references"


def _players(env: HumanoidArms, seed: int) -> dict[str, Callable[[], Any]]:
    rng = np.random.default_rng(seed)
    return {
        "no action": lambda: np.zeros(17, np.float32),
        "random": lambda: rng.uniform(-0.4, 0.4, 17).astype(np.float32),
        "holds the goal's angles": HoldAngles(env, goal_angles(env.task_spec.name)),
    }


def measure_references(seeds: int = 10) -> dict[str, Any]:
    """Returns on the first `seeds` evaluation episodes of each task, and how long the torso stays above 1.1 m.

    >>> list(measure_references(seeds=1)["tasks"]["humanoid-arms-out"])
    ['no action', 'random', "holds the goal's angles"]
    """
    require_count(seeds, "seeds", at_least=1)
    played = [eval_seed(k) for k in range(seeds)]
    tasks: dict[str, Any] = {}
    standing: dict[str, list[int]] = {}
    for name in GOALS:
        env = HumanoidArms(find_task(name))
        tasks[name] = {}
        for who in _players(env, 0):
            counts = [_play(env, who, seed) for seed in played]
            tasks[name][who] = [success for success, _ in counts]
            standing[f"{name}: {who}"] = [upright for _, upright in counts]
    versions = {name: metadata.version(name) for name in ("orcalign", "mujoco", "gymnasium", "numpy")}
    versions["python"] = platform.python_version()
    return {
        "what": "steps of 0.015 s, of 120, that are a success; and steps with the torso above 1.1 m",
        "command": COMMAND,
        "versions": versions,
        "seeds": played,
        "tasks": tasks,
        "standing": standing,
    }


def _play(env: HumanoidArms, who: str, seed: int) -> tuple[int, int]:
    env.reset(seed=seed)
    act = _players(env, seed)[who]
    successes = upright = 0
    done = False
    while not done:
        _, _, terminated, truncated, info = env.step(act())
        done = terminated or truncated
        successes += info["success"]
        upright += info["height"] > 1.1
    return successes, upright


def stored_references(task: str) -> dict[str, float]:
    """Mean return of each on a task, from the record of this package.

    >>> stored_references("humanoid-arms-out")["random"]
    0.0
    """
    return {who: float(np.mean(returns)) for who, returns in _record()["tasks"][task].items()}


@cache
def _record() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(__file__).with_name(FILE).read_text("utf-8"))
    return found
