"""Joint predictors that have learned from rollouts: one for a scene, a size and a way of drawing, made once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from orcalign.costs.predicted.confidence import Confidence
from orcalign.costs.predicted.eye import Eye
from orcalign.costs.predicted.fitting import held_out
from orcalign.costs.predicted.joints import EyeReader, JointPredictor
from orcalign.envs import find_suite, find_task
from orcalign.envs.posed_data import PosedData
from orcalign.envs.tasks import TaskSpec
from orcalign.training.posed_eyes import UPDATES, Told, posed_eye

SAMPLES = 9038
"""As many as the paper's data set has."""
WELL = 0.75
"""Share of the frames it learned from, those that it reads best, of which confidence learns what is known. Of all of
them an autoencoder learns falls as well, which are among them, and are read badly."""


def reads_joints(task: str | TaskSpec) -> tuple[str, ...]:
    """The joints that a predictor of this task reads; none where an eye reads places of things.

    >>> len(reads_joints("humanoid-arms-out")), reads_joints("door-close")
    (18, ())
    """
    return find_suite(find_task(task).suite).joints


def train_joints(data: PosedData, updates: int = UPDATES, seed: int = 0, tell: Told | None = None) -> JointPredictor:
    """A predictor that has learned from a data set, its confidence from the features of frames that it reads well."""
    joints = reads_joints(data.about["task"]["name"])
    if not joints:
        raise ValueError(f"nobody says which joints {data.about['task']['name']!r} has.")
    entities, values = data.entities, data.entities.read(data.states)
    eye = Eye.begin(entities, data.frames, data.states, data.states[:1], about=about_of(data), seed=seed)

    def telling(what: str) -> Callable[[int, int], None]:
        return lambda done, total: tell(what, done, total) if tell is not None else None

    looking = telling("looking")
    maps = eye.look(data.frames, lambda done: looking(done, len(data)))
    eye.fit(maps, values, updates=updates, seed=seed, groups=data.groups, progress=telling("learning"))
    learned = ~held_out(len(data), data.groups)
    read = eye.predict(maps[learned])
    places = slice(3 * len(joints))
    far = np.linalg.norm((read.values - values[learned])[:, places], axis=1)
    trust = Confidence.fit(read.hidden[far <= np.quantile(far, WELL)])
    return JointPredictor(EyeReader(eye), trust, about_of(data), joints, entities.dim - 3 * len(joints))


def about_of(data: PosedData) -> dict[str, Any]:
    """What a predictor remembers of the data that it was made from."""
    return {
        "task": data.about["task"]["name"],
        "render": data.about["render"],
        "size": int(data.frames.shape[1]),
        "camera": data.about["camera"],
        "data": data.about["digest"],
    }


def joint_predictor(
    task: str,
    frames: int = SAMPLES,
    updates: int = UPDATES,
    render: str = "fast",
    size: int | None = None,
    tell: Told | None = None,
) -> Path:
    """The file of the predictor of a task's scene in the cache; made if it is not there."""
    return posed_eye(
        task, frames=frames, updates=updates, render=render, size=size, tell=tell, learn=train_joints, kind="joints"
    )  # fmt: skip


def find_predictor(
    given: str, task: str, frames: int, updates: int, render: str, size: int | None, tell: Told | None = None
) -> JointPredictor:
    """That of a file, refused if it was made for another scene, camera, size or way of drawing; or (posed) the one that
    learns from the scene's own rollouts."""
    from orcalign.envs.rendering import RENDER_MODES

    spec = find_task(task)
    if not reads_joints(spec):
        raise ValueError(
            f"task {spec.name!r} has no joints that a predictor reads; look at whole pictures, or at the object."
        )
    path = joint_predictor(task, frames, updates, render, size, tell) if given == "posed" else Path(given)
    scene = find_suite(spec.suite).scene(spec)
    side = RENDER_MODES[render] if size is None else size
    return JointPredictor.load(path).require(task=scene.name, camera=spec.camera, render=render, size=side)


def read_errors(predictor: JointPredictor, data: PosedData) -> dict[str, tuple[float, float]]:
    """Median and 90% quantile of the error of each joint, in centimetres, and of the arms, in radians, on the rollouts
    of a data set that a predictor of it has not learned from."""
    rows = np.flatnonzero(held_out(len(data), data.groups))
    seen = predictor(data.frames[rows])
    truth = data.entities.read(data.states[rows]) / 100
    far = np.linalg.norm(predictor.places(seen - np.column_stack([truth, seen[:, -1]])), axis=2) * 100
    found = {name: far[:, k] for k, name in enumerate(predictor.joints)}
    if predictor.angles:
        arms = predictor.compared(seen, "arms") - truth[:, 3 * len(predictor.joints) :]
        found["arms (radians)"] = np.linalg.norm(arms, axis=1)
    return {name: (float(np.median(one)), float(np.quantile(one, 0.9))) for name, one in found.items()}
