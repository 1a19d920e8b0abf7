"""A task of Meta-world with Stable-Baselines3's SAC or CrossQ, from one video: nothing that learns sees its reward.

python examples/sb3_door_close.py --algorithm crossq
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
import tyro
from sb3_contrib import CrossQ
from stable_baselines3 import SAC
from stable_baselines3.common.callbacks import CallbackList, ConvertCallback, EveryNTimesteps
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

import orcalign
from orcalign.encoders import make_encoder
from orcalign.envs import FrameInfo, eval_seed, expert_return, find_task, make_demo
from orcalign.libraries import FollowCallback, PinkNoise, VideoVecReward

SIZE = 128


@dataclass(frozen=True)
class Args:
    """What is to be learned, and how long."""

    algorithm: Literal["sac", "crossq"] = "sac"
    """Of Stable-Baselines3, or of sb3-contrib."""
    task: str = "door-close"
    """One with a scripted expert, who makes the video."""
    steps: int = 20_000
    """Agent steps, of all environments together."""
    envs: int = 4
    """Environments, whose frames are encoded together."""
    seed: int = 0
    """Of environments and learner."""
    threads: int = 1
    """For torch, and for the encoder."""
    out: Path = Path("runs/sb3")
    """Folder for log, films and the policy."""


def paid_environments(args: Args) -> VecNormalize:
    """Environments that pay for following the video."""
    demo, _ = make_demo(args.task, misaligned=True, render="fast", size=SIZE)
    # Of a demo with most of its frames left out, neighbours tell little: context is one frame. A temperature of 2 is
    # twice what the demo's own features ask for: objects stand elsewhere in every episode.
    reward = orcalign.VideoReward(
        demo, make_encoder(threads=args.threads), context=1, matcher="orca_progress", calibrated=True,
        progress_in="path", last=1.0, temperature=2.0,
    )  # fmt: skip
    worlds = [
        lambda k=k: FrameInfo(orcalign.make(args.task, size=SIZE, seed=args.envs * args.seed + k))
        for k in range(args.envs)
    ]
    return VecNormalize(VideoVecReward(DummyVecEnv(worlds), reward), norm_reward=False)


def make_learner(args: Args, venv: VecNormalize) -> SAC | CrossQ:
    """One update a step, whatever the number of environments."""
    noise = PinkNoise(0.4, find_task(args.task).agent_steps, venv.action_space.shape[0])
    shared: dict[str, Any] = {
        "learning_starts": 500, "gamma": 0.95, "n_steps": 3, "batch_size": 128, "gradient_steps": -1,
        "action_noise": noise, "buffer_size": args.steps, "tensorboard_log": str(args.out), "seed": args.seed,
        "device": "cpu",
    }  # fmt: skip
    if args.algorithm == "sac":
        return SAC("MlpPolicy", venv, learning_rate=7e-4, tau=0.01, ent_coef="auto_0.1", **shared)
    net = {"pi": [256, 256], "qf": [512, 512]}
    return CrossQ("MlpPolicy", venv, learning_rate=1e-3, ent_coef="auto_0.1", policy_kwargs={"net_arch": net}, **shared)


def normalised_return(model: Any, venv: VecNormalize, task: str, episodes: int = 10) -> float:
    """Agent steps that report success, as a share of the scripted expert's, in episodes that nobody learns from."""
    world = orcalign.make(task, render=None)
    totals = []
    for k in range(episodes):
        observation, _ = world.reset(seed=eval_seed(k))
        done, total = False, 0
        while not done:
            action, _ = model.predict(venv.normalize_obs(observation), deterministic=True)
            observation, _, terminated, truncated, info = world.step(action)
            done, total = terminated or truncated, total + info["success"]
        totals.append(total)
    return float(np.mean(totals)) / expert_return(task)


def main(args: Args) -> float:
    """Learn; the normalised return of the last policy."""
    torch.set_num_threads(args.threads)
    venv = paid_environments(args)
    model = make_learner(args, venv)

    def report(*_: Any) -> bool:
        """Nobody chooses a policy by this."""
        print(f"{model.num_timesteps} steps: {normalised_return(model, venv, args.task):.2f}", flush=True)
        return True

    films = FollowCallback(args.out / "films", every=5000)
    model.learn(args.steps, callback=CallbackList([films, EveryNTimesteps(2500, ConvertCallback(report))]))
    model.save(args.out / "policy")
    last = normalised_return(model, venv, args.task, episodes=20)
    print(f"normalised return of the last policy, 20 episodes: {last:.2f}")
    return last


if __name__ == "__main__":
    main(tyro.cli(Args, description=__doc__))
