"""orcalign entities: what of an observation is where"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console


def entities(
    task: Annotated[str, tyro.conf.Positional],
    out: Path | None = None,
    guess: bool = False,
    episodes: int = 30,
) -> None:
    """Say which numbers of a task's observation are the hand, objects and the goal: known by its suite, or guessed.

    A guess comes from watching random play, takes some seconds, and is to be checked: the comments say what was seen.
    What is printed is YAML; `orcalign train --entities FILE` reads it, corrected by hand where it is wrong.

    Args:
        task: A task, a registered Gymnasium id, module:id, or module:function.
        out: Write it to this file (.yaml) as well.
        guess: Watch random play even if the suite knows.
        episodes: Random episodes to watch.
    """
    from orcalign.envs import find_suite, find_task, guess_entities
    from orcalign.envs.entities_text import as_yaml
    from orcalign.envs.random_play import Watched
    from orcalign.files import require_writable, write_file

    spec = find_task(task)
    if out is not None:
        require_writable(out)
    known = None if guess else find_suite(spec.suite).entities(spec)
    rows = None
    if known is None:
        with Console(stderr=True).status(f"watching {episodes} episodes of {spec.name}"):
            found = guess_entities(spec, episodes)
        known, rows = found.entities, found.rows
    watched = Watched(spec, steps=1)
    state = watched.random(0).states[0]
    watched.close()
    text = as_yaml(spec.name, known, rows, state)
    print(text, end="")
    if known is None:
        raise ValueError(
            f"no hand was found in the observation of {spec.name!r}; if you know which numbers are its place, write "
            "them into a file, as in {hand: [0, 1, 2]}, and give that with --entities."
        )
    if out is not None:
        write_file(out, text.encode())
