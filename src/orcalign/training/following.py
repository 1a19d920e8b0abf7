"""What a run that follows in state space begins with: entities, and an eye that reads the video."""

from __future__ import annotations

import tempfile
from dataclasses import replace
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
from orcalign.envs.experts import rollout_expert
from orcalign.matching.match import FloatArray
from orcalign.rewards import Evidence, Rollout
from orcalign.rewards.follow.experts import EXPERTS, experts_bytes
from orcalign.rewards.follow.learner import ByPictures, ByStates
from orcalign.rewards.follow.own_frames import EYE
from orcalign.training.follow_config import ALL, FOLLOW
from orcalign.training.posed_eyes import Told, posed_eye
from orcalign.video import Demo

if TYPE_CHECKING:
    from orcalign.training.config import TrainConfig

RESETS, STEPS = 60, 6
"""Episodes in which an eye that learns from own frames looks around before the run, and frames of each: it sees what
moves and where episodes begin, and learns nothing yet."""
EXPERT_EPISODES = 5
LOOKING = 2**61 + 1
"""Instead of a run's seed, so that these episodes are none that a run is trained with."""


def prepare_to_follow(
    config: TrainConfig, demos: tuple[Demo, ...], told: Told | None = None
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Description of the reward, and the files beside it: of the eye that reads its video, and of an expert's episodes
    where the task has one."""
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
        "learner": follow.learner,
        "turning": None if turning is None else turning.plain(),
    }
    files = {}
    if played := watch_expert(config, eye):
        files[EXPERTS] = experts_bytes(played)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "eye.safetensors"
        eye.save(file)
        return part, {EYE: file.read_bytes(), **files}


def watch_expert(config: TrainConfig, eye: Eye) -> list[FloatArray]:
    """Values [T+1, E] of some episodes of the task's expert, read as the learner's are; none where there is no expert.

    They measure what following is paid. Nothing learns from them.
    """
    by_pictures = config.follow.learner == "pictures"
    learner = ByPictures(eye.entities, eye.rest, lambda: eye) if by_pictures else ByStates(eye.entities)
    render, size = (config.collect.render, config.collect.frame_size) if by_pictures else (None, None)
    spec = find_task(config.task)
    if by_pictures and config.collect.camera is not None:
        spec = replace(spec, camera=config.collect.camera)
    found = []
    for k in range(EXPERT_EPISODES):
        try:
            played = rollout_expert(spec, train_seed(k, LOOKING), render, size, end="hold")
        except ValueError:  # as a suite says that there is none
            return []
        # It is not recorded before its first step, in which nothing is touched.
        states = np.concatenate([played.observations[:1], played.observations]).astype(np.float32)
        rollout = Rollout(len(played), played.frames, states)
        found.append(learner.values(Evidence(len(played), learner.observe(rollout))))
    return found


def _turning(config: TrainConfig, entities: Entities) -> Turning | None:
    """What turns the world, where it is to be turned."""
    turned = config.follow.turned
    by_pictures = config.follow.learner == "pictures"
    if turned == "never" or (turned == "auto" and (by_pictures or share_aside(config.task, entities) < OFTEN)):
        return None
    if by_pictures:
        raise ValueError("turned is 'always', and a world is turned by states, which --learner pictures does not see.")
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
    if file == ALL:
        return everything(config.task)
    return entities_of(config.task, None if file is None else Path(file)) or everything(config.task)


def _eye(config: TrainConfig, entities: Entities, told: Told | None) -> Eye:
    follow, collect = config.follow, config.collect
    if follow.eye == "own":
        return look_around(config, entities)
    if follow.eye == "posed":
        made = posed_eye(
            config.task, frames=follow.posed_frames, updates=follow.posed_updates, render=collect.render,
            size=collect.frame_size, camera=collect.camera, tell=told,
        )  # fmt: skip
        return Eye.load(made)
    return Eye.load(Path(follow.eye)).require(task=find_task(config.task).name, render=collect.render)


def look_around(config: TrainConfig, entities: Entities) -> Eye:
    """An eye that has seen random play and learned nothing of places yet."""
    collect = config.collect
    env = make(config.task, collect.render, config.seed, size=collect.frame_size, camera=collect.camera)
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
