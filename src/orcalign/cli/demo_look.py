"""orcalign demo look"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro
from rich.console import Console

if TYPE_CHECKING:
    from orcalign.report.seen import SeenDemo
    from orcalign.video import Demo

Video = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="VIDEO")]


def look(video: Video, /, eye: Path, out: Path | None = None, overwrite: bool = False) -> None:
    """Draw what an eye sees in a demo: an mp4 of its frames with hand, objects and goal where the eye says they are.

    Beside the frames there are plans in centimetres, and what the eye expects to be off; what is not believed is
    dashed. Places are drawn over the frames where the camera is known, as it is for the tasks of `orcalign tasks`.

    Args:
        video: A saved demo, or any video of the eye's task, camera and size.
        eye: Folder of a run with a recipe that follows in state space, or a file of `orcalign predictor train`.
        out: The mp4; left out, look.mp4 in this folder.
        overwrite: Replace an mp4 that is already there.
    """
    from orcalign.files import require_writable
    from orcalign.report.seen import verdict, write_film
    from orcalign.video import load_demo

    path = Path("look.mp4") if out is None else out
    if path.suffix.lower() != ".mp4":
        raise ValueError(f"{str(path)!r} must be a file that ends in .mp4.")
    if path.exists() and not overwrite:
        raise ValueError(f"{str(path)!r} is already there; choose another --out, or give --overwrite.")
    require_writable(path)
    seen = _seen(eye, load_demo(video))
    write_film(seen, path)
    console = Console(soft_wrap=True, highlight=False)
    for one in verdict(seen):
        console.print(one.text, markup=False)
    console.print(f"look: {path}, {len(seen.described)} frames", markup=False)


def _seen(eye: Path, demo: Demo) -> SeenDemo:
    from orcalign.costs.predicted.eye import Eye
    from orcalign.report.seen import see, seen_by_run
    from orcalign.rewards.description import FILE

    if eye.is_dir():
        if not (eye / FILE).is_file():
            raise ValueError(
                f"{str(eye)!r} holds no run; give the folder of a run with an eye, or an eye's file (.safetensors)."
            )
        seen = seen_by_run(eye, demo)
        if seen is None:
            raise ValueError(
                f"the eye of {str(eye)!r} has learned nothing yet; it does so from the run's own frames, some thousand "
                "steps after the beginning."
            )
        return seen
    return see(Eye.load(eye), demo)
