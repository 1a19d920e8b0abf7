"""orcalign strip"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro


def strip(
    sources: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="VIDEO|DEMO|RUN")],
    /,
    out: Path = Path("strip.png"),
    frames: int = 8,
    names: tuple[str, ...] = (),
    episode: int = 0,
) -> None:
    """Draw videos under one another, a row of frames each: one picture to look at, or for a page.

    orcalign strip runs/a runs/b --names demo "seed 0" "seed 1"

    Args:
        sources: Videos, folders of images, saved demos, or folders of runs. A run gives its demo (once, if the next
            run has the same) and below it what its policy does in the last evaluation.
        out: File to write (.png, .svg or .pdf).
        frames: How many of each, evenly from the first to the last; below each stands its number.
        names: Of all rows, from top to bottom; left out, those of the files and folders.
        episode: Which film of a run's last evaluation, from 0 on.
    """
    from dataclasses import replace

    from orcalign.files import require_writable
    from orcalign.report.exploit_plot import require_kind
    from orcalign.report.strip import draw_strip, strip_rows

    if not sources:
        raise ValueError("there is nothing to draw; give at least one video, saved demo or folder of a run.")
    if frames < 1:
        raise ValueError(f"frames is {frames}; it must be at least 1, such as 8.")
    require_kind(out)
    require_writable(out)
    rows = strip_rows(sources, episode)
    if names and len(names) != len(rows):
        have = ", ".join(row.name for row in rows)
        raise ValueError(f"there are {len(names)} names for {len(rows)} rows ({have}); give one for each.")
    if names:
        rows = [replace(row, name=name) for row, name in zip(rows, names, strict=True)]
    draw_strip(rows, out, frames)
    print(f"open {out}")
