"""The tables on calibration in docs/progress.md: python -m benchmarks.calibration [encoder ...]"""

import os
import sys

os.environ.setdefault("MUJOCO_GL", "osmesa")

import numpy as np

from orcalign.encoders import make_encoder
from orcalign.envs import make, make_demo, rollout_expert
from orcalign.envs.seeds import train_seed
from orcalign.envs.tasks import TASKS
from orcalign.matching import calibrate, context, orca_progress
from orcalign.rewards import FrameCosts

WARPS = ("fast-low", "fast-high", "slow-low", "slow-high")
LENGTHS = (10, 20, 40, 200)


def random_episode(task, number):
    """Frames [T,H,W,3] of an episode of random actions."""
    env = make(task, render="fast")
    env.reset(seed=train_seed(100 + number))
    rng, frames, over = np.random.default_rng(number), [], False
    while not over:
        _, _, terminated, truncated, _ = env.step(rng.uniform(-1, 1, 4).astype(np.float32))
        frames.append(np.array(env.render()))
        over = terminated or truncated
    env.close()
    return np.stack(frames)


def expert_episodes(task, count=3):
    """Frames of the first training episodes in which the expert succeeds."""
    found, number = [], 0
    while len(found) < count:
        episode = rollout_expert(task, train_seed(number), "fast", None)
        number += 1
        if episode.succeeded:
            found.append(np.asarray(episode.frames))
    return found


def row(task, films, encoder):
    """One line of the table."""
    demo, indices, experts, randoms = films
    features = encoder(demo)
    versions = [features[list(one)] for one in indices]
    versions += [features[np.linspace(0, len(demo) - 1, n).round().astype(int)] for n in LENGTHS]
    floors = np.array([calibrate(one).floor for one in versions]) / calibrate(features).floor
    costs = FrameCosts(versions[0])
    tried = [costs(encoder(one)) for one in randoms]
    told = {"alone": calibrate(versions[0]), "rollouts": calibrate(versions[0], "cosine", tried)}
    reached = [context(costs(encoder(one))) for one in experts]
    frozen = [one[[0] * len(one)] for one in reached]

    def final(attempts, found):
        return np.mean([orca_progress(one, *found).progress[-1] for one in attempts])

    cells = [f"{calibrate(features).floor:.3f}", f"{floors.min():.2f} to {floors.max():.2f}"]
    for found in told.values():
        cells += [f"{found.floor:.3f}", f"{final(reached, found):.2f} / {final(frozen, found):.2f}"]
    return f"| {task} | {' | '.join(cells)} |"


def main(names):
    """Make the films once, then a table for each encoder."""
    films = {}
    for task in (name for name, spec in TASKS.items() if spec.suite == "metaworld" and spec.misaligned):
        demo = make_demo(task)[0].frames
        indices = [make_demo(task, misaligned=True)[0].indices]
        indices += [make_demo(task, random_warp=warp)[0].indices for warp in WARPS]
        films[task] = demo, indices, expert_episodes(task), [random_episode(task, k) for k in range(5)]
    for name in names:
        print(f"\n{name}\n")
        print("| task | floor, aligned | other versions | floor, misaligned | progress | floor, rollouts | progress |")
        print("|---|---|---|---|---|---|---|")
        encoder = make_encoder(name)
        for task, one in films.items():
            print(row(task, one, encoder), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or ["efficientnet-lite0", "resnet18", "pixels"])
