"""A table as Markdown, CSV, LaTeX or HTML."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Callable, Iterable

from orcalign.experiments.statistics import Interval
from orcalign.experiments.tables import AVERAGE, MARK, StudyTable


def _number(mean: float, error: float | None) -> str:
    return f"{mean:.2f}" if error is None else f"{mean:.2f} ({error:.2f})"


def _interval(interval: Interval | None) -> str:
    if interval is None:
        return "-"
    if interval.low is None or interval.high is None:
        return f"{interval.value:.2f}"
    return f"{interval.value:.2f} [{interval.low:.2f}, {interval.high:.2f}]"


def row_cells(table: StudyTable, row: str, bold: str, italic: str, between: str) -> list[str]:
    """The entries of a row; the templates say how to print the best, and the paper's."""
    best, found = table.best(row), []
    for column in table.columns:
        entry, paper = table.entries.get((row, column)), table.of_paper(row, column)
        text = "-" if entry is None else _number(entry.mean, entry.error)
        if entry is not None and entry.missing:
            text += f" {entry.runs}/{entry.runs + entry.missing}"
        if column in best:
            text = bold.format(text)
        if paper is not None:
            text += between + italic.format(_number(*paper))
        found.append(text)
    return found


def aggregate_rows(table: StudyTable) -> list[tuple[str, list[str]]]:
    """Names and entries of the rows below the table."""
    if not table.aggregates:
        return []
    first = table.headings[table.columns.index(next(iter(table.aggregates)))]
    names = {"mean": "mean", "iqm": "interquartile mean", "better": f"P({first} is better)"}
    found = [table.aggregates.get(column) for column in table.columns]
    return [(name, [_interval(getattr(one, field, None)) for one in found]) for field, name in names.items()]


def difference_row(table: StudyTable) -> list[tuple[str, list[str]]]:
    """What the columns do not share besides the reward, as a row; none where they share all."""
    if not table.differs:
        return []
    return [("differs in", [table.differs.get(column) or "-" for column in table.columns])]


def about_aggregates(table: StudyTable) -> str:
    """What they are over."""
    return (
        f"Over the {table.shared} rows of settings that all these columns have; 95% intervals from a stratified "
        "bootstrap over runs, where there are at least two of each."
    )


def markdown(table: StudyTable) -> str:
    """For a README."""
    head = [f"| | {' | '.join(table.headings)} |", "|---" * (1 + len(table.columns)) + "|"]
    lines = [*table.caption, "", *head]
    for row in table.rows:
        name = f"**{row}**" if row == AVERAGE else row
        lines.append(f"| {name} | {' | '.join(row_cells(table, row, '**{}**', '*{}*', '<br>'))} |")
    lines += [f"| {name} | {' | '.join(texts)} |" for name, texts in difference_row(table)]
    if table.aggregates:
        lines += ["", about_aggregates(table), "", *head]
        lines += [f"| {name} | {' | '.join(texts)} |" for name, texts in aggregate_rows(table)]
    return "\n".join(lines) + "\n"


def comma_separated(table: StudyTable) -> str:
    """For other programs: one line an entry, empty fields for holes."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    names = ["row", "column", "mean", "standard_error", "runs", "missing_runs", "paper_mean", "paper_error"]
    # Only where there are any: what reads these files has no such column otherwise.
    writer.writerow([*names, *(["substitute"] if table.substitutes else [])])
    for row in table.rows:
        for column in table.columns:
            entry, paper = table.entries.get((row, column)), table.of_paper(row, column)
            error = None if entry is None else entry.error
            ours = [None] * 4 if entry is None else [entry.mean, error, entry.runs, entry.missing]
            instead = [table.substitutes.get(column)] if table.substitutes else []
            writer.writerow([row, column, *ours, *(paper or (None, None)), *instead])
    return buffer.getvalue()


_LATEX = str.maketrans(
    {"&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "<": r"\textless{}", ">": r"\textgreater{}", MARK: r"$\dagger$"}
)


def _line(*texts: str) -> str:
    return " & ".join(texts) + r" \\"


def latex(table: StudyTable) -> str:
    """For a paper; needs the package booktabs."""
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{' '.join(table.caption).translate(_LATEX)}}}",
        rf"\begin{{tabular}}{{l{'c' * len(table.columns)}}}",
        r"\toprule",
        _line("", *(name.translate(_LATEX) for name in table.headings)),
        r"\midrule",
    ]
    for row in table.rows:
        lines += [r"\midrule"] if row == AVERAGE else []
        cells = row_cells(table, row, r"\textbf{{{}}}", r"\textit{{{}}}", " ")
        lines.append(_line(row.translate(_LATEX), *cells))
    lines += [r"\midrule"] if table.aggregates or table.differs else []
    for name, texts in (*difference_row(table), *aggregate_rows(table)):
        lines.append(_line(*(text.translate(_LATEX) for text in (name, *texts))))
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}"]) + "\n"


_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2em;color:#111;background:#fff}table{border-collapse:collapse}"
    "th,td{padding:.3em .8em;text-align:right;border-bottom:1px solid #ccc}"
    "th:first-child,td:first-child{text-align:left}"
    "i{color:#555}"
)


def page(table: StudyTable) -> str:
    """A page of its own."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in ("", *table.headings))

    def grid(rows: Iterable[tuple[str, list[str]]]) -> str:
        lines = ("".join(f"<td>{cell}</td>" for cell in (html.escape(name), *cells)) for name, cells in rows)
        return f"<table><tr>{head}</tr>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"

    parts = [f"<p>{html.escape(line)}</p>" for line in table.caption]
    rows = [(row, row_cells(table, row, "<b>{}</b>", "<i>{}</i>", "<br>")) for row in table.rows]
    parts.append(grid([*rows, *((name, list(map(html.escape, texts))) for name, texts in difference_row(table))]))
    if table.aggregates:
        parts.append(f"<p>{about_aggregates(table)}</p>{grid(aggregate_rows(table))}")
    title = html.escape(table.name)
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style>'
        f"<h1>{title}</h1>{''.join(parts)}</html>\n"
    )


FORMATS: dict[str, Callable[[StudyTable], str]] = {
    "md": markdown,
    "csv": comma_separated,
    "latex": latex,
    "html": page,
}
