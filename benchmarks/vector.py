"""Rewards of eight environments: one wrapper around each, or one around all.

python -m benchmarks.vector [--quick]
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any, Literal

import gymnasium
import numpy as np
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv

import orcalign
from benchmarks.timing import machine, store
from orcalign.encoders import make_encoder
from orcalign.envs import FrameInfo, StepReward, make_demo
from orcalign.libraries import VideoVecReward
from orcalign.rewards import Reward
from orcalign.video import Demo

TASK, SIZE, ENVS, NEEDED = "door-close", 128, 8, 1.5
Kind = Literal["film", "task"]


class Film(gymnasium.Env):  # type: ignore[type-arg]
    """Costs nothing to step and to draw: shows the frames of the demo, again and again."""

    def __init__(self, frames: Any) -> None:
        self.observation_space = self.action_space = gymnasium.spaces.Box(-1, 1, (4,), np.float32)
        self.render_mode, self._frames, self._at = "rgb_array", frames, 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        self._at = 0
        return np.zeros(4, np.float32), {}

    def step(self, action: Any) -> Any:
        self._at += 1
        return np.zeros(4, np.float32), 0.0, False, self._at % 63 == 0, {}

    def render(self) -> Any:
        return self._frames[self._at % len(self._frames)]


def world(kind: Kind, frames: Any, k: int) -> Any:
    return Film(frames) if kind == "film" else orcalign.make(TASK, size=SIZE, seed=k)


def each(kind: Kind, demo: Demo, reward: Reward) -> VecEnv:
    return DummyVecEnv(
        [
            lambda k=k: StepReward(world(kind, demo.frames, k), reward, warn_other_task=False)  # type: ignore[misc]
            for k in range(ENVS)
        ]
    )


def together(kind: Kind, demo: Demo, reward: Reward) -> VecEnv:
    worlds = [lambda k=k: FrameInfo(world(kind, demo.frames, k)) for k in range(ENVS)]
    return VideoVecReward(DummyVecEnv(worlds), reward, warn_other_task=False)


def rates(made: dict[str, VecEnv], rounds: int, steps: int) -> dict[str, float]:
    """Best frames/s of each, taking turns, so that a busy moment does not hit one of them alone."""
    rng = np.random.default_rng(0)
    best = dict.fromkeys(made, 0.0)
    for venv in made.values():
        venv.reset()
        venv.step(np.zeros((ENVS, 4), np.float32))
    for _ in range(rounds):
        for name, venv in made.items():
            start = time.perf_counter()
            for _ in range(steps):
                venv.step(rng.uniform(-1, 1, (ENVS, 4)).astype(np.float32))
            best[name] = max(best[name], ENVS * steps / (time.perf_counter() - start))
    for venv in made.values():
        venv.close()
    return best


def main() -> None:
    quick = "--quick" in sys.argv
    rounds, steps = (2, 1) if quick else (60, 1)
    demo, _ = make_demo(TASK, misaligned=True, size=SIZE)
    reward = orcalign.VideoReward(demo, make_encoder(), context=1, matcher="orca_progress", calibrated=True)
    kinds: dict[str, Kind] = {"frames that cost nothing": "film", f"{TASK}, simulated and drawn": "task"}
    found: dict[str, dict[str, float]] = {}
    makers: dict[str, Callable[..., VecEnv]] = {"one wrapper each": each, "VideoVecReward": together}
    for name, kind in kinds.items():
        found[name] = rates({how: make(kind, demo, reward) for how, make in makers.items()}, rounds, steps)
        print(name, found[name], flush=True)
    here = {**machine(), "stable-baselines3": version("stable-baselines3"), "load": os.getloadavg()[0]}
    lines = [
        f"# Rewards of {ENVS} environments at once",
        "",
        f"`python -m benchmarks.vector` on {here['cpu']}, {here['cores']} cores: frames/s of EfficientNet-Lite0 at "
        f"{SIZE} pixels and `orca_progress`, the best of {rounds} steps of all environments, in turns.",
        "",
        f"| environments | one wrapper each | VideoVecReward | times (needed: {NEEDED:g}) |",
        "|---|---|---|---|",
    ]
    for name, row in found.items():
        one, all_of_them = row["one wrapper each"], row["VideoVecReward"]
        lines.append(f"| {name} | {one:.0f} | {all_of_them:.0f} | {all_of_them / one:.2f} |")
    table = "\n".join(lines) + "\n"
    print(table)
    if not quick:
        store("vector", {"command": "python -m benchmarks.vector", "machine": here, "frames/s": found}, table)


if __name__ == "__main__":
    main()
