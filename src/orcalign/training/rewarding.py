"""From a config to the description of its reward, and what of the world that needs."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import numpy as np

from orcalign.checks import share_or_count
from orcalign.envs import make, train_seed
from orcalign.training.config import TrainConfig
from orcalign.training.reward_config import VIDEO, RewardConfig

LOOKED_AT = 10
"""First frames in which the object is looked for."""
LOOKING = 2**61
"""Instead of a run's seed, so that these episodes are none that a run is trained with."""


@dataclass(frozen=True)
class Stage:
    """Steps `first` to `last` of a run, paid by one reward."""

    name: str
    first: int
    last: int
    critic_only: int
    """Steps at its beginning for which the actor does not learn: its critic does not know the new reward yet."""


def plan_stages(config: RewardConfig, steps: int) -> tuple[Stage, ...]:
    """The stages of a run of that many steps.

    >>> [(s.name, s.first, s.last) for s in plan_stages(RewardConfig(pretrain="temporal_ot"), 1000)]
    [('temporal_ot', 0, 500), ('orca', 500, 1000)]
    """
    if config.reward != VIDEO:
        return (Stage(config.reward, 0, steps, 0),)
    switch = round(steps * config.pretrain_fraction) if config.pretrain is not None else steps
    last = config.matchers[-1]
    if switch == steps:
        return (Stage(last, 0, steps, 0),)
    critic_only = share_or_count("critic_only", config.critic_only, steps - switch)
    return Stage(config.matchers[0], 0, switch, 0), Stage(last, switch, steps, critic_only)


def describe_reward(config: TrainConfig) -> dict[str, Any]:
    """What `reward.json` of the run says.

    >>> from orcalign.training.presets import config
    >>> [part["settings"]["matcher"] for part in describe_reward(config("nav2d", recipe="orca"))["parts"]]
    ['temporal_ot', 'orca']
    """
    reward, encoder = config.reward, config.encoder
    stages = plan_stages(reward, config.steps)
    if reward.reward != VIDEO:
        parts = [{"kind": reward.reward, **reward.extra_settings()}]
    else:
        costs = {
            "encoder": encoder.encoder,
            "size": encoder.encoder_size,
            "weights": encoder.weights,
            "engine": encoder.engine,
            "threads": encoder.encoder_threads,
            "look": encoder.look,
            "distance": reward.distance,
        }
        parts = [
            {"kind": VIDEO, "settings": reward.video_settings(name).plain(), "costs": costs}
            for name in reward.matchers
        ]
    return {
        "kind": "staged",
        "starts": [stage.first for stage in stages],
        "steps": config.steps,
        "scale": reward.scale.factor,
        "parts": parts,
    }


def scenes(config: TrainConfig) -> bytes | None:
    """First frames of some episodes, and the same after a step, as an npz file; None where nobody looks for objects."""
    if config.encoder.look == "whole" or config.reward.reward != VIDEO:
        return None
    collect = config.collect
    env = make(config.task, collect.render, config.seed, size=collect.frame_size)
    env.action_space.seed(0)
    firsts, nexts = [], []
    for k in range(LOOKED_AT):
        env.reset(seed=train_seed(k, LOOKING))
        firsts.append(np.array(env.render()))
        env.step(env.action_space.sample())
        nexts.append(np.array(env.render()))
    env.close()
    buffer = io.BytesIO()
    np.savez_compressed(buffer, firsts=np.stack(firsts), nexts=np.stack(nexts))
    return buffer.getvalue()
