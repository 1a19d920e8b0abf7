"""What was run and what came of it, in sentences and tables: markup in which everything from outside is escaped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from orcalign.experiments.results import CHECKPOINTS, METRICS, STATES, StudyCell, StudyResults
from orcalign.experiments.table_formats import about_aggregates, aggregate_rows, difference_row, row_cells
from orcalign.experiments.tables import AVERAGE, StudyTable, heading, make_table, paper_budget, substitute_lines
from orcalign.report.explainer.document import safe
from orcalign.report.study.films import link_to, state_words
from orcalign.report.training_run.words import NOTHING, duration

TITLES = {"last": "Last checkpoint", "coverage": "Checkpoint chosen by coverage"}


def headline(runs: StudyResults) -> str:
    """What this is and how far it is, in two sentences."""
    counts = Counter(cell.state for cell in runs.cells)
    others = [f"{counts[state]} {state}" for state in STATES[1:] if counts[state]]
    rest = f"; {', '.join(others)}" if others else ""
    demos = {cell.demo for cell in runs.cells}
    learned = next(iter(demos)) if len(demos) == 1 else "its video"
    return (
        '<section class="headline" aria-label="In short"><p>'
        f"{safe(runs.study.summary[:1].upper() + runs.study.summary[1:])}. Every run learns from {safe(learned)}, for "
        f"{runs.steps:,} agent steps; success is only counted, never told to the learner. "
        f"{counts['done']} of {len(runs.cells)} runs are done{rest}.</p></section>"
    )


def tables(runs: StudyResults, metric: str) -> str:
    """The table of the last checkpoints, and of those chosen by coverage if the runs have kept them."""
    chosen = any(result.best is not None for result in runs.done)
    found = {name: make_table(runs, metric, name) for name in (("last", "coverage") if chosen else ("last",))}
    parts = [_table(runs, table, name) for name, table in found.items()]
    seeds, paper = "1 seed" if runs.seeds == 1 else f"{runs.seeds} seeds", found["last"].paper
    budgets = f"Ours: {runs.steps:,} agent steps, {seeds}, preset {runs.preset}."
    budgets += "".join(f" {line}" for line in substitute_lines(runs))
    budgets += "" if paper is None else f" In italics the paper's: {paper_budget(paper)}."
    return (
        '<section aria-labelledby="tables-title"><h2 id="tables-title">Results</h2>'
        f'<p class="note">{safe(METRICS[metric].capitalize())}: mean (standard error over seeds, if several). '
        "Bold: the best of a row, and all within its standard error. 2/3: one run of three is missing.</p>"
        f'<p class="note">{safe(budgets)}</p>'
        f'<div class="tables">{"".join(parts)}</div></section>'
    )


def _table(runs: StudyResults, table: StudyTable, checkpoint: str) -> str:
    rows = []
    for row in table.rows:
        cells = row_cells(table, row, "<b>{}</b>", "<i>paper {}</i>", " ")
        kind = ' class="average"' if row == AVERAGE else ""
        rows.append(_row([safe(row), *cells], [runs.study.rows, *table.headings], kind))
    for name, texts in difference_row(table):
        rows.append(_row([safe(name), *map(safe, texts)], [runs.study.rows, *table.headings]))
    below = ""
    if table.aggregates and table.shared > 1:
        lines = "".join(
            _row([safe(name), *map(safe, texts)], ["", *table.headings]) for name, texts in aggregate_rows(table)
        )
        below = (
            f"<details><summary>Over all rows</summary><p class='note'>{safe(about_aggregates(table))}</p>"
            f"{_grid(['', *table.headings], lines)}</details>"
        )
    return (
        f'<div data-checkpoint="{checkpoint}"><h3>{TITLES[checkpoint]}</h3>'
        f'<p class="note">Shown is {safe(CHECKPOINTS[checkpoint])}.</p>'
        f"{_grid(['', *table.headings], ''.join(rows))}{below}</div>"
    )


def run_list(runs: StudyResults, page: Path) -> str:
    """Every cell as a row, with a link to the run's own page where that was written."""
    axes = list(runs.cells[0].values)
    names = [*axes, "state", "last", "by coverage", "agent steps", "time", "config", "page"]
    rows = ""
    for cell in runs.cells:
        cells = [*(safe(cell.values[axis]) for axis in axes), *_cell_words(cell, page)]
        rows += _row(cells, names, f' class="state-{cell.state}"')
    return (
        f"<section><details><summary>All {len(runs.cells)} runs</summary>"
        f"{_grid(names, rows, 'runs')}</details></section>"
    )


def _cell_words(cell: StudyCell, page: Path) -> list[str]:
    result = cell.result
    found = [None if result is None else result.score("normalised", name) for name in CHECKPOINTS]
    own = link_to(None if cell.run is None else cell.run / "report.html", page)
    return [
        "done" if result is not None else safe(state_words(cell)),
        *(NOTHING if value is None else f"{value:.2f}" for value in found),
        f"{cell.steps:,}",
        NOTHING if result is None else duration(result.seconds),
        f"<code>{safe(cell.key)}</code>",
        NOTHING if own is None else f'<a href="{safe(own)}">report.html</a>',
    ]


def details(runs: StudyResults, problems: Sequence[str]) -> str:
    """What it takes to make it again, and what could not be shown."""
    study, done = runs.study, runs.done
    versions: dict[str, set[str]] = {}
    for result in done:
        for name, version in result.versions.items():
            versions.setdefault(name, set()).add(version)
    dates = sorted(result.finished for result in done if result.finished)
    span = "" if not dates else dates[0] if dates[0] == dates[-1] else f"{dates[0]} to {dates[-1]}"
    axes = {
        f"{name}s" if name in ("recipe", "variant", "seed", "task") else name:
            ", ".join(runs.labels(name))
        for name in runs.cells[0].values
    }  # fmt: skip
    entries = {
        "study": f"{study.name}: {study.summary}",
        "of the paper": study.source,
        **axes,
        "columns": ", ".join(
            f"{heading(name)} ({name})" for name in runs.labels(study.columns) if heading(name) != name
        ),
        "demo": "; ".join(sorted({cell.demo for cell in runs.cells})),
        "agent steps": f"{runs.steps:,} a run",
        "preset": runs.preset,
        "settings": ", ".join(f"{name} {value}" for name, value in study.settings.items()),
        "runs finished": span,
        "time of training": duration(sum(result.seconds for result in done)) if done else "",
        "numbers from": str(runs.source) if runs.from_file else "",
        **{name: ", ".join(sorted(found)) for name, found in versions.items()},
    }
    rows = "".join(f"<dt>{safe(name)}</dt><dd>{safe(value)}</dd>" for name, value in entries.items() if value)
    again = f"{runs.command()}\norcalign report {study.file or study.name}"
    said = "".join(f"<li>{safe(text)}</li>" for text in problems)
    return f'<section><h2>How it was made</h2><pre id="command">{safe(again)}</pre><dl>{rows}</dl></section>' + (
        f"<section><h2>Not shown</h2><ul>{said}</ul></section>" if said else ""
    )


def _grid(names: list[str], rows: str, id: str = "") -> str:
    head = "".join(
        f'<th scope="col" role="columnheader"{" class=number" if k else ""}>{safe(name)}</th>'
        for k, name in enumerate(names)
    )
    mark = f' id="{id}"' if id else ""
    return (
        f'<div class="scroll"><table role="table"{mark}><thead role="rowgroup"><tr role="row">{head}</tr></thead>'
        f'<tbody role="rowgroup">{rows}</tbody></table></div>'
    )


def _row(cells: list[str], names: list[str] | tuple[str, ...], kind: str = "") -> str:
    """Cells are markup; names are shown in them where the page is narrow."""
    inside = "".join(
        f'<td role="cell"{" class=number" if k else ""} data-label="{safe(name)}">{cell}</td>'
        for k, (cell, name) in enumerate(zip(cells, names, strict=True))
    )
    return f'<tr role="row"{kind}>{inside}</tr>'
