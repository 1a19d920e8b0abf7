"""orcalign matchers, recipes and studies: what there is to choose from"""

from __future__ import annotations

from rich.console import Console
from rich.table import Table


def matchers() -> None:
    """List the ways of matching a learner's frames with a demo's."""
    from orcalign.matching import MATCHERS

    table = Table("name", "reward known", "what it does", box=None, padding=(0, 2, 0, 0))
    for matcher in MATCHERS.values():
        table.add_row(matcher.name, "at every step" if matcher.causal else "at the end", matcher.summary)
    Console().print(table)


def recipes() -> None:
    """List the recipes: reward, agent and collection settings that `orcalign train --recipe` and studies name."""
    from orcalign.training.presets import RECIPES

    table = Table("name", "in tables", "what it does", box=None, padding=(0, 2, 0, 0))
    for name, recipe in RECIPES.items():
        table.add_row(name, recipe.label, recipe.summary)
    Console().print(table)


def studies() -> None:
    """List the studies that ship: each is a table or figure of the paper, or a question of our own.

    Runs are those of the laptop / the paper budget. Run one with `orcalign sweep STUDY`; a YAML file with axes works
    wherever a study's name does.
    """
    from orcalign.experiments.study import STUDIES, find_study

    table = Table(box=None, padding=(0, 2, 0, 0))
    for heading in ("study", "of the paper", "runs", "what"):
        table.add_column(heading, no_wrap=heading == "study")
    for study in map(find_study, STUDIES):
        counts = ["-"]
        if study.kind == "training":
            counts = [str(sum(1 for _ in study.cells(study.budget(name)))) for name in ("laptop", "paper")]
        table.add_row(study.name, study.source or "-", " / ".join(counts), study.summary)
    Console().print(table)
