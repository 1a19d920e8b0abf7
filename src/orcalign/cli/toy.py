"""orcalign toy"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class _Mark:
    text: str
    style: str


_MARKS = {"right": _Mark("✔ right", "green"), "tie": _Mark("✘ tie", "red"), "wrong": _Mark("✘ wrong", "red")}


def toy(out: Path = Path("runs/toy")) -> None:
    """Draw the paper's three counterexamples: which method rewards the right learner?

    Writes one picture a case as PNG and SVG, and a page that shows all three.

    Args:
        out: Folder to write to; it is made if it is not there.
    """
    from orcalign.matching.counterexamples import COUNTEREXAMPLES
    from orcalign.report.toy import METHODS, render_toy, totals, verdict

    console = Console()
    table = Table("case", *METHODS.values(), title="summed reward of the good / the bad learner")
    for case in COUNTEREXAMPLES.values():
        cells = []
        for method in METHODS:
            good, bad = totals(case, method)
            mark = _MARKS[verdict(good, bad)]
            cells.append(f"{good:.2f} / {bad:.2f}\n[{mark.style}]{mark.text}[/]")
        table.add_row(case.name, *cells)
    with console.status("drawing"):
        page, *pictures = render_toy(out)
    console.print(table)
    console.print(f"{len(pictures)} pictures in {out}; open {page}", soft_wrap=True, highlight=False)
