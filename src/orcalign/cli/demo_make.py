"""orcalign demo make"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import tyro
from rich.console import Console

from orcalign.cli.demo import show_demo


def make(
    task: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="TASK")],
    /,
    out: Path,
    misaligned: bool = False,
    random_warp: Literal["fast-low", "fast-high", "slow-low", "slow-high", "mixed"] | None = None,
    seed: int = 0,
    count: int = 1,
    render: Literal["fast", "paper"] = "fast",
    size: int | None = None,
    camera: str | None = None,
    overwrite: bool = False,
) -> None:
    """Let a scripted expert do a task, and keep its video as a demo.

    The demo is verified to succeed; where the expert fails, another episode is drawn, and said so. Beside the frames
    and the manifest there is an mp4 to watch. A demo made in one render mode is refused for a learner in the other.

    Args:
        task: A name of `orcalign tasks`, or any other Meta-world v3 task.
        out: Folder of the new demo; with --count above 1, of the folders 0, 1, ... of the new demos.
        misaligned: Keep the paper's frames of the task only: its first fifth as it is, the rest sped up.
        random_warp: The paper's random protocol: speed and level; mixed takes turns.
        seed: Number of the first demo.
        count: How many demos of different episodes to make.
        render: How frames are drawn: fast, or paper (480 px with shadows, resized to 224).
        size: Side of the frames in pixels; left out, that of the render mode.
        camera: Another camera than the task's.
        overwrite: Replace demos that are already there.
    """
    from orcalign.envs import make_demos
    from orcalign.video.demo import check_target

    folders = [out] if count == 1 else [out / str(k) for k in range(count)]
    for folder in folders:
        check_target(folder, overwrite)
    console = Console(stderr=True)
    with console.status(f"the expert plays {task}"):
        demos, notes = make_demos(
            task, count, seed, random_warp, misaligned=misaligned, render=render, size=size, camera=camera
        )
    for note in notes:
        console.print(f"orcalign: {note}", highlight=False, soft_wrap=True)
    for demo, folder in zip(demos, folders, strict=True):
        folder.parent.mkdir(parents=True, exist_ok=True)
        demo.save(folder, overwrite)
        show_demo(demo, folder)
