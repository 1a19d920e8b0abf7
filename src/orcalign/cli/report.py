"""orcalign report"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro


def report(run: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")], /) -> None:
    """Write RUN/report.html anew: curves, the policy beside the video, settings. Works while the run is going.

    Args:
        run: Folder of a run of `orcalign train`.
    """
    from orcalign.cli.train import find_own_modules
    from orcalign.report.run_page import write_report
    from orcalign.training import RunFolder

    find_own_modules()
    print(f"open {write_report(RunFolder(run).path)}")
