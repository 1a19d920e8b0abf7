"""Run folders with the content of real episodes: a learner on nav2d that becomes better, against a real demo."""

from __future__ import annotations

import json
import re
import time
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from orcalign.envs import eval_seed, make, make_demo, make_expert, train_seed
from orcalign.matching import context, orca
from orcalign.rewards import VideoReward
from orcalign.video import Demo, DemoSet, write_mp4

TASK = "nav2d"
TEMPERATURE = 0.5
SKILLS = np.linspace(0.0, 1.0, 40)
"""Share of the steps on which the learner does what the expert would, by training episode."""
EVALUATED = (0, 13, 26, 39)
"""Training episodes before which there is an evaluation."""
EXPERT_RETURN = 15.0


@cache
def demo() -> Demo:
    return make_demo(TASK, misaligned=True)[0]


@cache
def reward() -> VideoReward:
    return VideoReward(demo(), "pixels", temperature=TEMPERATURE)


def play(env: Any, seed: int, skill: float) -> tuple[np.ndarray, np.ndarray, dict[str, float]]:
    """Frames [T,H,W,3], success [T] and seconds of an episode."""
    rng = np.random.default_rng(seed)
    expert = make_expert(TASK, env)
    start = time.perf_counter()
    observation, _ = env.reset(seed=seed)
    frames, success, done = [], [], False
    while not done:
        wise = expert.act(observation, success=False)
        action = wise if rng.random() < skill else env.action_space.sample()
        observation, _, terminated, truncated, info = env.step(action)
        frames.append(env.render())
        success.append(bool(info["success"]))
        done = terminated or truncated
    seconds = time.perf_counter() - start
    return np.stack(frames), np.array(success), {"simulate": 0.4 * seconds, "render": 0.6 * seconds}


def judge(frames: np.ndarray) -> tuple[np.ndarray, dict[str, float]]:
    """Raw costs [T, J], and the numbers that a record has of them."""
    result = reward()(frames)
    match = orca(result.cost, TEMPERATURE)
    numbers = {
        "reward": result.total,
        "progress": float(match.progress[-1]),
        "coverage": float(match.assignment[-1, -1]),
    }
    return result.raw_costs[0], numbers


@cache
def real_records() -> tuple[list[dict[str, Any]], dict[int, list[tuple[np.ndarray, np.ndarray, np.ndarray]]]]:
    """The records of the run, and by step the frames, costs and success of two evaluation episodes."""
    env = make(TASK, size=96)
    env.action_space.seed(0)
    records: list[dict[str, Any]] = []
    shown: dict[int, list[tuple[np.ndarray, np.ndarray, np.ndarray]]] = {}
    step, best = 0, -1.0
    for k, skill in enumerate(SKILLS):
        if k in EVALUATED:
            kept, each = [], []
            for number in range(4):
                frames, success, _ = play(env, eval_seed(number), skill)
                costs, numbers = judge(frames)
                kept.append((frames, costs, success))
                each.append({**numbers, "return": int(success.sum()), "success": bool(success[-1])})
            shown[step] = kept[:2]
            means = {name: float(np.mean([one[name] for one in each])) for name in each[0]}
            records.append(
                {
                    "kind": "evaluation",
                    "step": step,
                    "episodes": len(each),
                    "return": means["return"],
                    "normalised": means["return"] / EXPERT_RETURN,
                    "success_rate": means["success"],
                    "any_success_rate": float(np.mean([success.any() for _, _, success in kept])),
                    **{name: means[name] for name in ("reward", "progress", "coverage")},
                    "returns": [one["return"] for one in each],
                    "successes": [one["success"] for one in each],
                    "coverages": [one["coverage"] for one in each],
                    "best": means["coverage"] > best,
                    "timing": {"simulate": 0.2, "render": 0.3, "encode": 0.1, "wait": 0.4},
                }
            )
            best = max(best, means["coverage"])
        frames, success, seconds = play(env, train_seed(0, k), skill)
        _, numbers = judge(frames)
        step += len(frames)
        records.append(
            {
                "kind": "episode",
                "step": step,
                "episode": k,
                "length": len(frames),
                "stage": "orca",
                **numbers,
                "scaled_reward": 3 * numbers["reward"],
                "success_steps": int(success.sum()),
                "success": bool(success[-1]),
                "random": k < 3,
                "critic_loss": None if k < 3 else 2.0 / k,
                "actor_loss": None if k < 3 else -0.1 * k,
                "timing": {
                    **seconds,
                    "encode": 0.02,
                    "match": 0.001,
                    "update": 0.1,
                    "wait": 0.01,
                    "total": 0.2,
                },
            }
        )
        if k == 19:
            records.append({"kind": "note", "step": step, "text": "the reward is now orca"})
    env.close()
    return records, shown


def make_run(folder: Path, demos: int = 1, videos: bool = True, matcher: str = "orca", **config: Any) -> Path:
    """A finished run."""
    folder.mkdir()
    records, shown = real_records()
    reward_section = {
        "matcher": matcher, "distance": "cosine", "context": 3, "temperature": f"1.0:{TEMPERATURE}", "floor": 0.0
    }  # fmt: skip
    settings = {"task": TASK, "steps": 0, "seed": 7, "reward": reward_section, **config}
    settings["steps"] = settings["steps"] or records[-1]["step"]
    (folder / "config.yaml").write_text(yaml.safe_dump(settings))
    about = {
        "orcalign": "0.1.0",
        "versions": {"python": "3.11", "numpy": np.__version__},
        "command": f"orcalign train {TASK}",
        "task": TASK,
        "expert_return": EXPERT_RETURN,
    }
    (folder / "run.json").write_text(json.dumps(about))
    write_metrics(folder, records)
    DemoSet((demo(),) * demos).save(folder / "demo")
    if videos:
        (folder / "videos").mkdir()
        (folder / "evaluations").mkdir()
        for step, episodes in shown.items():
            arrays: dict[str, np.ndarray] = {}
            for k, (frames, cost, success) in enumerate(episodes):
                write_mp4(folder / "videos" / f"{step:06d}-{k}.mp4", frames, 20)
                arrays |= {f"cost_{k}": cost, f"success_{k}": success}
                # Other demos are made to fit worse.
                arrays |= {f"cost_{k}_{j}": np.minimum(cost + 0.1 * j, 2.0) for j in range(1, demos)}
            np.savez(folder / "evaluations" / f"{step:06d}.npz", **arrays)
    return folder


def write_metrics(folder: Path, records: list[dict[str, Any]]) -> None:
    (folder / "metrics.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))


def expected_reward(cost: np.ndarray) -> np.ndarray:
    return np.asarray(orca(context(cost, 3), TEMPERATURE).reward)


def data_of(page: str, name: str) -> Any:
    """What the page embeds under that id, or None."""
    found = re.search(rf'<script id="{name}" type="application/json">(.*?)</script>', page, re.S)
    return json.loads(found[1]) if found else None
