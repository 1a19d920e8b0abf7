"""orcalign studies"""

from __future__ import annotations

from rich.console import Console
from rich.table import Table


def studies() -> None:
    """List the studies that ship: each is a table or figure of the paper, or a question of our own.

    Runs are those of the laptop / the paper budget. Run one with `orcalign sweep STUDY`; a YAML file with axes works
    wherever a study's name does.
    """
    from orcalign.experiments.shipped import STUDIES

    table = Table(box=None, padding=(0, 2, 0, 0))
    for heading in ("study", "of the paper", "runs", "what"):
        table.add_column(heading, no_wrap=heading == "study")
    for study in STUDIES.values():
        counts = ["-"]
        if study.kind == "training":
            counts = [str(sum(1 for _ in study.cells(study.budget(name)))) for name in ("laptop", "paper")]
        table.add_row(study.name, study.source or "-", " / ".join(counts), study.summary)
    Console().print(table)
