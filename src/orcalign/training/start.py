"""The folder of a new run, with its demo in it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

from orcalign.training.config import TrainConfig
from orcalign.training.evaluation import known_expert_return
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
