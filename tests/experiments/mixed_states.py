"""A swept study of nav2d in which every state of a cell occurs: two done, one running, one failed, one missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from experiments.tiny_studies import sweep_here, tiny_study

from orcalign.experiments.cells import CellFolder
from orcalign.experiments.planning import Plan, plan_study
from orcalign.locks import folder_lock

RECIPES = ("orca_progress", "orca_np", "temporal_ot", "ot", "dtw")
DONE = ("orca_progress", "temporal_ot")
ERROR = "the <b>disk</b> is full"


def mixed_plan(only: bool = False) -> Plan:
    study = replace(tiny_study(RECIPES), paper="misaligned")
    return plan_study(study, only={"recipe": DONE} if only else None)


def sweep_mixed(out: Path) -> Plan:
    """Run the two that are done, and let another fail."""
    assert sweep_here(mixed_plan(only=True), out).complete
    plan = mixed_plan()
    failed = CellFolder(out, plan.cells[3].key)
    failed.write_failure(ERROR, 3)
    return plan


@contextmanager
def running(plan: Plan, out: Path) -> Iterator[None]:
    """As if a worker were at step 60 of orca_np."""
    cell = CellFolder(out, plan.cells[1].key)
    cell.run.mkdir(parents=True, exist_ok=True)
    (cell.run / "config.yaml").write_text("task: nav2d\n")
    (cell.run / "metrics.jsonl").write_text('{"kind": "episode", "step": 60}\n')
    with folder_lock(cell.lock_file, "the cell"):
        yield
