"""Films FetchReach and FetchPush of gymnasium-robotics with a scripted controller, as one would film one's own robot.

    pip install gymnasium-robotics
    python examples/record_fetch.py videos

writes videos/fetch-reach.mp4 and videos/fetch-push.mp4, drawn by the environments' own render(): one frame a step,
none of the reset, and success in the last.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import orcalign
from orcalign.video import write_mp4

TASKS = {"fetch-reach": "gymnasium_robotics:FetchReach-v4", "fetch-push": "gymnasium_robotics:FetchPush-v4"}
BEHIND, ABOVE = 0.09, 0.08
"""Metres: from where the block is pushed, and how high the hand goes on its way there."""


def reach() -> Iterator[Any]:
    """Straight to the goal. Sent an observation, gives the action."""
    action = None
    while True:
        seen = yield action
        action = np.append(5 * (seen["desired_goal"] - seen["achieved_goal"]), 0)


def push() -> Iterator[Any]:
    """Over the block to its far side, down, and forward until it is at the goal."""
    action, phase = None, 0
    while True:
        seen = yield action
        hand, block, goal = seen["observation"][:3], seen["achieved_goal"], seen["desired_goal"]
        way = (goal - block) * [1, 1, 0]
        left = np.linalg.norm(way)
        ahead = way / max(left, 1e-6)
        behind = block - BEHIND * ahead
        if phase == 0 and np.linalg.norm((hand - behind)[:2]) < 0.02:
            phase = 1
        if phase == 1 and hand[2] - block[2] < 0.015:
            phase = 2
        if phase == 0:
            target = behind + np.array([0, 0, ABOVE])
        elif phase == 1:
            target = behind
        else:
            target = hand if left < 0.015 else (block + ahead * min(left, 0.04)) * [1, 1, 0] + block * [0, 0, 1]
        action = np.append(8 * (target - hand), -1)


def film(name: str, seed: int) -> tuple[np.ndarray, bool]:
    """Frames uint8 [T,H,W,3] of an episode, and whether it ends in success."""
    env = orcalign.make(TASKS[name])
    layout = env.get_wrapper_attr("observation_layout")
    controller = reach() if name == "fetch-reach" else push()
    next(controller)
    observation, _ = env.reset(seed=seed)
    frames, done, success = [], False, False
    while not done:
        action = controller.send({part: observation[at] for part, at in layout.items()})
        observation, _, terminated, truncated, info = env.step(np.clip(action, -1, 1).astype(np.float32))
        frames.append(env.render())
        done, success = terminated or truncated, info["success"]
    env.close()
    return np.stack(frames), success


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    for name in TASKS:
        for seed in range(arguments.seed, arguments.seed + 20):
            frames, success = film(name, seed)
            if success:
                break
        else:
            raise SystemExit(f"{name}: no success in 20 episodes")
        path = arguments.folder / f"{name}.mp4"
        write_mp4(path, frames, fps=25)
        print(f"{path}: {len(frames)} frames of episode {seed}, success at the end")


if __name__ == "__main__":
    main()
