"""A new run: its folder, with its demo in it; and a whole run in one call."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from orcalign.training.config import TrainConfig
from orcalign.training.config_mapping import from_mapping, to_mapping, with_settings
from orcalign.training.evaluation import known_expert_return
from orcalign.training.presets import config as config_of
from orcalign.training.run_folder import RunFolder
from orcalign.training.setup import find_demos
from orcalign.video import Demo


def start_run(
    config: TrainConfig,
    out: str | os.PathLike[str],
    command: str = "",
    tell: Callable[[str], None] = lambda text: None,
) -> RunFolder:
    """Make the folder and find or make the demos; `Training(run).go()` does the rest.

    Args:
        config: what to do.
        out: a folder that is empty or not there.
        command: what the user typed, for the records.
        tell: is given notes for people.
    """
    RunFolder.require_free(Path(out))
    demos, notes = find_demos(config)
    for note in notes:
        tell(note)
    return RunFolder.create(
        out, config, demos, command=command, task=config.task, demo_hash=demo_hash(demos),
        expert_return=known_expert_return(config.task),
    )  # fmt: skip


def train(
    task: str | TrainConfig | None = None,
    out: str | os.PathLike[str] | None = None,
    *,
    preset: str = "laptop",
    recipe: str | None = None,
    settings: Mapping[str, Any] | None = None,
    workers: int | str = 2,
    device: str = "auto",
    resume: str | os.PathLike[str] | None = None,
) -> RunFolder:
    """Train to the end, as `orcalign train` does, and return the run.

    Args:
        task: what is to be learned; or a whole config, of `orcalign.config`.
        out: folder of the run; left out, runs/TASK-RECIPE-seedN.
        preset: laptop or paper.
        recipe: one of `orcalign recipes`; left out, the preset's own.
        settings: what is to be otherwise, as in {"steps": 5000, "agent.hidden": 64}.
        workers: collector processes, or Ray actors as in "ray:8"; 0 plays in this process.
        device: of the learner: auto, cpu, cuda or mps.
        resume: go on with the run in this folder instead; its settings are those it began with.
    """
    from orcalign.training.loop import Training

    if resume is not None:
        if task is not None or out is not None or recipe is not None or settings:
            raise ValueError(
                "resume goes on with a run as it began; leave out task, out, recipe and settings."
            )
        run = RunFolder(resume)
    else:
        run = start_run(wanted := _wanted(task, preset, recipe, settings), out or default_folder(wanted))
    training = Training(run, workers, device)
    try:
        training.go()
    finally:
        training.close()
    return RunFolder(run.path)


def _wanted(
    task: str | TrainConfig | None, preset: str, recipe: str | None, settings: Mapping[str, Any] | None
) -> TrainConfig:
    if task is None:
        raise ValueError("no task was given; name one, such as door-close, or the run to resume.")
    if isinstance(task, str):
        return config_of(task, preset, recipe, settings)
    if recipe is not None:
        raise ValueError(f"the config has its recipe already; leave out recipe={recipe!r}.")
    return from_mapping(with_settings(to_mapping(task), settings or {}))


def default_folder(config: TrainConfig) -> Path:
    """Where a run goes, if nothing else is said.

    >>> default_folder(config_of("door-close")).as_posix()
    'runs/door-close-orca_progress-seed0'
    """
    name = f"{config.task}-{config.label}-seed{config.seed}"
    return Path("runs") / name.replace(":", "-").replace("/", "-")


def demo_hash(demos: tuple[Demo, ...]) -> str:
    """Of all frames of all demos, in order.

    >>> import numpy as np
    >>> black, white = (Demo(np.full((2, 4, 4, 3), value, np.uint8)) for value in (0, 255))
    >>> demo_hash((black, white)) == demo_hash((white, black)), len(demo_hash((black,)))
    (False, 64)
    """
    digest = hashlib.sha256()
    for demo in demos:
        digest.update(str(demo.frames.shape).encode())
        digest.update(demo.frames.tobytes())
    return digest.hexdigest()
