"""orcalign export: the episodes of a run for other libraries"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro


def export(
    run: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")],
    *,
    minari: str,
) -> None:
    """Write the episodes of a run as a Minari data set.

    Args:
        run: folder of the run.
        minari: name of the data set, such as door-close/video-v0.
    """
    from orcalign.libraries import export_minari
    from orcalign.training import RunFolder

    folder = export_minari(RunFolder(run), minari)
    print(f"{folder}: read it with minari.load_dataset({minari!r})")
