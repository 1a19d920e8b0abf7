"""orcalign figure: the paper's qualitative figures"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console
from rich.table import Table


def figure(
    name: Annotated[str | None, tyro.conf.Positional, tyro.conf.arg(metavar="NAME")] = None,
    /,
    runs: tuple[Path, ...] = (),
    out: Path = Path("runs/figures"),
) -> None:
    """Draw a qualitative figure of the paper as PNG and SVG; without a name, list them.

    orcalign figure slow-agent --runs runs/temporal_ot runs/orca

    Assignments of each matcher on the same episodes, the rewards along them, and films of agents and demo.

    Args:
        name: One of those listed.
        runs: Folders of runs on the figure's task, with one demo and one encoder; an episode of the last evaluation
            of each is drawn, matched by the costs of the run. Left out, the films that ship: scripted agents.
        out: Folder to write to; it is made if it is not there.
    """
    from orcalign.report.figures import FIGURES, make_figure

    console = Console()
    if name is None:
        if runs:
            raise ValueError(f"runs were given, but no figure to draw from them; name one: {', '.join(FIGURES)}.")
        table = Table("name", "of the paper", "task", "what it shows", box=None, padding=(0, 2, 0, 0))
        for column in table.columns[:3]:
            column.no_wrap = True
        for spec in FIGURES.values():
            table.add_row(spec.name, spec.source, spec.task, spec.summary)
        console.print(table)
        return
    png, svg = make_figure(name, runs, out)
    console.print(f"open {png} or {svg}", soft_wrap=True, highlight=False)
