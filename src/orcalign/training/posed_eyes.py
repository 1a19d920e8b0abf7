"""Eyes that have learned from posed scenes: one for each task, camera and way of drawing, made once."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from orcalign.checks import require_count
from orcalign.costs.predicted.eye import Eye
from orcalign.encoders.converted import cache_dir
from orcalign.envs import find_suite, find_task
from orcalign.envs.posed_data import FRAMES, PosedData, describe, make_posed_data
from orcalign.envs.tasks import TaskSpec
from orcalign.locks import folder_lock

UPDATES = 4000
WAIT_SECONDS = 3600.0
"""For another process that makes the same eye."""
Told: TypeAlias = Callable[[str, int, int], None]
"""Called with what is being done, how much of it is done, and how much there is to do."""


def train_eye(data: PosedData, updates: int = UPDATES, seed: int = 0, tell: Told | None = None) -> Eye:
    """An eye that has learned from a data set; layouts held out say how far off it is (`Eye.errors`)."""
    require_count(updates, "updates", at_least=1)
    spec = find_task(data.about["task"]["name"])
    # A posed state may hold more than is observed, and be labelled with it.
    entities = find_suite(spec.suite).entities(spec) or data.entities
    values = entities.read(data.states)
    if not data.rests.any():
        raise ValueError(f"none of {len(data)} frames shows how an episode begins; pose more of them.")
    about = {
        "task": data.about["task"]["name"],
        "render": data.about["render"],
        "size": int(data.frames.shape[1]),
        "camera": data.about["camera"],
        "source": "posed",
        "data": data.about["digest"],
    }
    eye = Eye.begin(entities, data.frames, data.states, data.states[data.rests], about=about, seed=seed)

    def telling(what: str) -> Callable[[int, int], None]:
        return lambda done, total: tell(what, done, total) if tell is not None else None

    looking = telling("looking")
    features = eye.look(data.frames, lambda done: looking(done, len(data)))
    eye.fit(features, values, updates=updates, seed=seed, groups=data.groups, progress=telling("learning"))
    return eye


def posed_eye(
    task: str | TaskSpec,
    *,
    frames: int = FRAMES,
    updates: int = UPDATES,
    seed: int = 0,
    render: str = "fast",
    size: int | None = None,
    camera: str | None = None,
    tell: Told | None = None,
    learn: Callable[..., Any] = train_eye,
    kind: str = "eyes",
) -> Path:
    """The file of the eye of a task, seen by one camera and drawn in one way, in the cache; made if it is not there.

    What it is depends on `learn`, given the data as `train_eye` is; `kind` keeps what others learn apart.

    Whoever wants the same eye at the same time waits for it. What was posed before a kill is not posed again.
    """
    about = describe(task, seed, render, size, camera)
    settings = {**about, "frames": require_count(frames, "frames", at_least=1), "updates": updates}
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()
    name = f"{about['task']['name'].replace('/', '-')}-{digest[:16]}"
    path = cache_dir() / kind / f"{name}.safetensors"
    if path.is_file():
        return path
    with folder_lock(path.with_suffix(".lock"), f"the eye {str(path)!r}", WAIT_SECONDS):
        if path.is_file():
            return path
        folder = cache_dir() / "posed" / f"{kind}-{name}"
        folder.parent.mkdir(parents=True, exist_ok=True)

        def posing(done: int, total: int) -> None:
            if tell is not None:
                tell("posing", done, total)

        make_posed_data(task, folder, frames, seed, render, size, camera, posing)
        learn(PosedData.load(folder), updates, seed, tell).save(path)
        shutil.rmtree(folder, ignore_errors=True)
    return path
