"""A table as Markdown, CSV, LaTeX or HTML."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Callable

from orcalign.experiments.statistics import Interval
from orcalign.experiments.tables import AVERAGE, StudyTable


def _number(mean: float, error: float | None) -> str:
    return f"{mean:.2f}" if error is None else f"{mean:.2f} ({error:.2f})"


def _interval(interval: Interval | None) -> str:
    if interval is None:
        return ""
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
    rows: dict[str, list[str]] = {"mean": [], "interquartile mean": [], f"P({first} is better)": []}
    for column in table.columns:
        one = table.aggregates.get(column)
        for texts, interval in zip(
            rows.values(), (None,) * 3 if one is None else (one.mean, one.iqm, one.better), strict=True
        ):
            texts.append(_interval(interval) or "-")
    return list(rows.items())


def about_aggregates(table: StudyTable) -> str:
    """What they are over."""
    return (
        f"Over the {table.shared} rows of settings that all these columns have; 95% intervals from a stratified "
        "bootstrap over runs, where there are at least two of each."
    )


def markdown(table: StudyTable) -> str:
    """For a README."""
    lines = [
        *table.caption,
        "",
        f"| | {' | '.join(table.headings)} |",
        "|---" * (1 + len(table.columns)) + "|",
    ]
    for row in table.rows:
        name = f"**{row}**" if row == AVERAGE else row
        lines.append(f"| {name} | {' | '.join(row_cells(table, row, '**{}**', '*{}*', '<br>'))} |")
    if table.aggregates:
        lines += ["", about_aggregates(table), "", f"| | {' | '.join(table.headings)} |"]
        lines.append("|---" * (1 + len(table.columns)) + "|")
        lines += [f"| {name} | {' | '.join(texts)} |" for name, texts in aggregate_rows(table)]
    return "\n".join(lines) + "\n"


def comma_separated(table: StudyTable) -> str:
    """For other programs: one line an entry, empty fields for holes."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(
        ["row", "column", "mean", "standard_error", "runs", "missing_runs", "paper_mean", "paper_error"]
    )
    for row in table.rows:
        for column in table.columns:
            entry, paper = table.entries.get((row, column)), table.of_paper(row, column)
            error = None if entry is None else entry.error
            ours = [None] * 4 if entry is None else [entry.mean, error, entry.runs, entry.missing]
            writer.writerow([row, column, *ours, *(paper or (None, None))])
    return buffer.getvalue()


_LATEX = {
    "&": r"\&",
    "%": r"\%",
    "_": r"\_",
    "#": r"\#",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}


def _latex(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in text)


def latex(table: StudyTable) -> str:
    """For a paper; needs the package booktabs."""
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_latex(' '.join(table.caption))}}}",
        rf"\begin{{tabular}}{{l{'c' * len(table.columns)}}}",
        r"\toprule",
        " & ".join(["", *map(_latex, table.headings)]) + r" \\",
        r"\midrule",
    ]
    for row in table.rows:
        if row == AVERAGE:
            lines.append(r"\midrule")
        cells = row_cells(table, row, r"\textbf{{{}}}", r"\textit{{{}}}", " ")
        lines.append(" & ".join([_latex(row), *cells]) + r" \\")
    lines += [r"\midrule"] if table.aggregates else []
    for name, texts in aggregate_rows(table):
        lines.append(" & ".join([_latex(name), *map(_latex, texts)]) + r" \\")
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
    body = []
    for row in table.rows:
        cells = row_cells(table, row, "<b>{}</b>", "<i>{}</i>", "<br>")
        body.append(f"<tr><td>{html.escape(row)}</td>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    parts = [f"<p>{html.escape(line)}</p>" for line in table.caption]
    parts.append(f"<table><tr>{head}</tr>{''.join(body)}</table>")
    if table.aggregates:
        rows = "".join(
            f"<tr>{''.join(f'<td>{html.escape(text)}</td>' for text in (name, *texts))}</tr>"
            for name, texts in aggregate_rows(table)
        )
        parts.append(f"<p>{about_aggregates(table)}</p><table><tr>{head}</tr>{rows}</table>")
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
