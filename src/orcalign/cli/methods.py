"""orcalign methods"""

from __future__ import annotations

from rich.console import Console
from rich.table import Table


def methods() -> None:
    """List the ways of matching a learner's frames with a demo's."""
    from orcalign.matching import MATCHERS

    table = Table("name", "reward known", "what it does", box=None, padding=(0, 2, 0, 0))
    for matcher in MATCHERS.values():
        table.add_row(matcher.name, "at every step" if matcher.causal else "at the end", matcher.summary)
    Console().print(table)
