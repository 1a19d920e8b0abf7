"""What a run that follows in state space begins with: entities, and an eye that reads the video."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from orcalign.costs.predicted.doubts import still_problem
from orcalign.costs.predicted.entities import Entities
from orcalign.costs.predicted.eye import Eye
from orcalign.costs.predicted.turning import Turning
from orcalign.envs import find_task, make, train_seed
from orcalign.envs.cartesian import OFTEN, share_aside, turning_of
from orcalign.envs.entities import entities_of, everything
from orcalign.training.follow_config import FOLLOW
from orcalign.training.posed_eyes import Told, posed_eye
from orcalign.video import Demo

if TYPE_CHECKING:
    from orcalign.training.config import TrainConfig

RESETS, STEPS = 60, 6
"""Episodes in which an eye that learns from own frames looks around before the run, and frames of each: it sees what
moves and where episodes begin, and learns nothing yet."""
LOOKING = 2**61 + 1
"""Instead of a run's seed, so that these episodes are none that a run is trained with."""


def prepare_to_follow(
    config: TrainConfig, demos: tuple[Demo, ...], told: Told | None = None
) -> tuple[dict[str, Any], bytes]:
    """Description of the reward, and the file of the eye that reads its video."""
    follow, collect = config.follow, config.collect
    if len(demos) != 1:
        raise ValueError(f"there are {len(demos)} demos, and a run that follows in state space follows one; give one.")
    if collect.policy_input != "states":
        raise ValueError("policy_input is 'pixels', and following in state space needs states; leave it out.")
    entities = entities_in(config)
    eye = _eye(config, entities, told).require(entities)
    problem = still_problem(eye) or eye.view_problem(demos[0].frames)
    if problem:
        raise ValueError(problem)
    own, turning = follow.own(config.seed), _turning(config, entities)
    part = {
        "kind": FOLLOW,
        "settings": follow.settings().plain(),
        "entities": entities.plain(),
        "rest": eye.rest.tolist(),
        "own": None if own is None else own.plain(),
        "turning": None if turning is None else turning.plain(),
    }
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "eye.safetensors"
        eye.save(file)
        return part, file.read_bytes()


def _turning(config: TrainConfig, entities: Entities) -> Turning | None:
    """What turns the world, where it is to be turned."""
    turned = config.follow.turned
    if turned == "never" or (turned == "auto" and share_aside(config.task, entities) < OFTEN):
        return None
    found = turning_of(config.task, entities)
    if found is None and turned == "always":
        raise ValueError(
            f"turned is 'always', and the world of {config.task!r} cannot be turned: its entities need a goal, and two "
            "of its actions must move the hand along straight lines in the plane; leave it out."
        )
    return found


def entities_in(config: TrainConfig) -> Entities:
    """What the observations hold: as the user's file, the task's suite or random play says; where nothing does, all
    their numbers as one place."""
    file = config.follow.entities
    return entities_of(config.task, None if file is None else Path(file)) or everything(config.task)


def _eye(config: TrainConfig, entities: Entities, told: Told | None) -> Eye:
    follow, collect = config.follow, config.collect
    if follow.eye == "own":
        return look_around(config, entities)
    if follow.eye == "posed":
        made = posed_eye(
            config.task, frames=follow.posed_frames, updates=follow.posed_updates, render=collect.render,
            size=collect.frame_size, tell=told,
        )  # fmt: skip
        return Eye.load(made)
    return Eye.load(Path(follow.eye)).require(task=find_task(config.task).name, render=collect.render)


def look_around(config: TrainConfig, entities: Entities) -> Eye:
    """An eye that has seen random play and learned nothing of places yet."""
    collect = config.collect
    env = make(config.task, collect.render, config.seed, size=collect.frame_size)
    env.action_space.seed(0)
    frames, states, rests, starts = [], [], [], []
    try:
        for k in range(RESETS):
            state, _ = env.reset(seed=train_seed(k, LOOKING))
            rests.append(state)
            starts.append(np.array(env.render()))
            for t in range(STEPS * 4):
                state, *_ = env.step(env.action_space.sample())
                if not np.isfinite(state).all():
                    d = int(np.flatnonzero(~np.isfinite(state))[0])
                    raise ValueError(
                        f"observation[{d}] is {state[d]} at step {t} of random play; the environment must give finite "
                        "numbers."
                    )
                if t % 4 == 3:
                    frames.append(np.array(env.render()))
                    states.append(state)
    finally:
        env.close()
    about = {"task": config.task, "render": collect.render, "learns": "from own frames"}
    return Eye.begin(
        entities, np.stack(frames), np.stack(states), np.stack(rests), about=about, seed=config.seed,
        starts=np.stack(starts),
    )  # fmt: skip
