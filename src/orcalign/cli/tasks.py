"""orcalign tasks"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.progress import Progress
from rich.table import Table


def tasks(
    gallery: Path | None = None,
    render: Literal["fast", "paper"] = "fast",
    measure_experts: Path | None = None,
    seeds: int = 10,
) -> None:
    """List the tasks; any other Meta-world v3 task, Gymnasium id or module:function can be named too.

    Steps are agent steps; expert is the scripted expert's return, usually the number of agent steps that report
    success; "-" where it has not been measured.

    Args:
        gallery: Write a page (.html) with pictures of every task.
        render: How the pictures are drawn: fast, or paper as the paper has it.
        measure_experts: Play the scripted experts again and write their returns to this file (.json).
        seeds: Episodes per task for that.
    """
    from orcalign.envs import TASKS, expert_return, measure_expert_returns
    from orcalign.envs.expert_returns import MEASURED, store_expert_returns
    from orcalign.files import require_writable, write_file

    console = Console()
    for path in (gallery, measure_experts):
        if path is not None:
            require_writable(path)
    table = Table(box=None, padding=(0, 2, 0, 0))
    for heading in ("task", "difficulty", "camera"):
        table.add_column(heading, no_wrap=True)
    for heading in ("steps", "expert"):
        table.add_column(heading, justify="right")
    table.add_column("success when")
    for spec in TASKS.values():
        cells = (spec.name, spec.difficulty, spec.camera or "-", str(spec.agent_steps))
        try:
            expert = f"{expert_return(spec):.1f}"
        except ValueError:
            expert = "-"
        table.add_row(*cells, expert, spec.success)
    console.print(table)
    if gallery is not None:
        from orcalign.report.gallery import gallery_page

        with Progress(console=Console(stderr=True), transient=True) as progress:
            bar = progress.add_task("drawing", total=len(TASKS))
            page = gallery_page(list(TASKS.values()), render, progress=lambda: progress.advance(bar))
        write_file(gallery, page.encode())
        console.print(f"open {gallery}", soft_wrap=True, highlight=False)
    if measure_experts is not None:
        with Progress(console=Console(stderr=True), transient=True) as progress:
            bar = progress.add_task("playing", total=len(MEASURED))
            record = measure_expert_returns(MEASURED, seeds, lambda *_: progress.advance(bar))
        store_expert_returns(record, measure_experts)
        console.print(f"returns: {measure_experts}", soft_wrap=True, highlight=False)
