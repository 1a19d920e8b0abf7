"""orcalign tasks, matchers, recipes and studies: what there is to choose from"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.progress import Progress, track
from rich.table import Table


def _table(*headings: str) -> Table:
    return Table(*headings, box=None, padding=(0, 2, 0, 0))


def matchers() -> None:
    """List the ways of matching a learner's frames with a demo's, and which of them can be served live."""
    from orcalign.matching import MATCHERS, TRACKERS

    table = _table("name", "reward known", "live", "what it does")
    for matcher in MATCHERS.values():
        known = "at every step" if matcher.causal else "at the end"
        table.add_row(matcher.name, known, "yes" if matcher.name in TRACKERS else "no", matcher.summary)
    Console().print(table)


def recipes() -> None:
    """List the recipes: reward, agent and collection settings that `orcalign train --recipe` and studies name."""
    from orcalign.training.presets import RECIPES

    table = _table("name", "in tables", "what it does")
    for name, recipe in RECIPES.items():
        table.add_row(name, recipe.label, recipe.summary)
    Console().print(table)


def studies() -> None:
    """List the studies that ship: each is a table or figure of the paper, or a question of our own.

    Runs are those of the laptop / the paper budget. Run one with `orcalign sweep STUDY`; a YAML file with axes works
    wherever a study's name does.
    """
    from orcalign.experiments.study import STUDIES, find_study

    table = _table("study", "of the paper", "runs", "what")
    table.columns[0].no_wrap = True
    for study in map(find_study, STUDIES):
        counts = ["-"]
        if study.kind == "training":
            counts = [str(sum(1 for _ in study.cells(study.budget(name)))) for name in ("laptop", "paper")]
        table.add_row(study.name, study.source or "-", " / ".join(counts), study.summary)
    Console().print(table)


def tasks(
    gallery: Path | None = None,
    render: Literal["fast", "paper"] = "fast",
    measure_experts: Path | None = None,
    measure_references: Path | None = None,
    seeds: int = 10,
) -> None:
    """List the tasks; any other Meta-world v3 task, Gymnasium id or module:function can be named too.

    Steps are agent steps; expert is the scripted expert's return, usually the number of agent steps that report
    success; "-" where it has not been measured.

    Args:
        gallery: Write a page (.html) with pictures of every task.
        render: How the pictures are drawn: fast, or paper as the paper has it.
        measure_experts: Play the scripted experts again and write their returns to this file (.json).
        measure_references: Play what learns nothing on the humanoid's tasks (no action, random ones, a controller that
            holds the goal's angles), and write its returns to this file (.json).
        seeds: Episodes per task for that.
    """
    from orcalign.envs import TASKS, expert_return, measure_expert_returns
    from orcalign.envs.expert_returns import MEASURED, store_expert_returns
    from orcalign.files import require_writable, write_file

    console = Console()
    for path in (gallery, measure_experts, measure_references):
        if path is not None:
            require_writable(path)
    table = _table("task", "difficulty", "camera", "steps", "expert", "success when")
    for k, column in enumerate(table.columns[:5]):
        column.no_wrap, column.justify = k < 3, "left" if k < 3 else "right"
    for spec in TASKS.values():
        try:
            expert = f"{expert_return(spec):.1f}"
        except ValueError:
            expert = "-"
        camera, steps = spec.camera or "-", str(spec.agent_steps)
        table.add_row(spec.name, spec.difficulty, camera, steps, expert, spec.success)
    console.print(table)
    if gallery is not None:
        from orcalign.report.gallery import gallery_page

        specs = track(list(TASKS.values()), "drawing", console=Console(stderr=True), transient=True)
        write_file(gallery, gallery_page(specs, render).encode())
        console.print(f"open {gallery}", soft_wrap=True, highlight=False)
    if measure_experts is not None:
        with Progress(console=Console(stderr=True), transient=True) as progress:
            bar = progress.add_task("playing", total=len(MEASURED))
            record = measure_expert_returns(MEASURED, seeds, lambda *_: progress.advance(bar))
        store_expert_returns(record, measure_experts)
        console.print(f"returns: {measure_experts}", soft_wrap=True, highlight=False)
    if measure_references is not None:
        from orcalign.envs.humanoid.references import measure_references as measure

        found = measure(seeds)
        for name, returns in found["tasks"].items():
            said = ", ".join(f"{who} {sum(each) / len(each):.1f}" for who, each in returns.items())
            console.print(f"{name}: {said}", soft_wrap=True, highlight=False)
        write_file(measure_references, (json.dumps(found, indent=1) + "\n").encode())
        console.print(f"returns: {measure_references}", soft_wrap=True, highlight=False)
