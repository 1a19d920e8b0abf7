"""The page of a study: what was run, what came of it, how it was learned, and what it looks like."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from orcalign.checks import require
from orcalign.experiments.results import METRICS, StudyResults, label
from orcalign.experiments.tables import heading
from orcalign.files import require_writable, write_file
from orcalign.report.explainer.document import PagePart, part_text, render_document, safe
from orcalign.report.study.films import film_rows, study_settings
from orcalign.report.study.words import details, headline, run_list, tables
from orcalign.report.study_plots import mean_curve
from orcalign.report.training_run.curves import chart_of, series_of, set_range, short

PACKAGE = "orcalign.report.study"
OF_RUNS = "orcalign.report.training_run"
COLOURS = 7
"""Of the style sheet: --column-0 and so on."""
KINDS = ("line", "dashed", "dotted", "thin")


def study_page(runs: StudyResults, page: Path, metric: str | None = None) -> str:
    """One self-contained HTML page of a study, however much of it has been run; below 10 MB.

    What is missing, running or has failed is shown as that. The same results give the same text.

    Args:
        runs: of `read_results`, or of `load_results`; the latter has no videos, and the page says so.
        page: where the page will lie, for its links to the pages of runs.
        metric: what curves and tables show; left out, the study's own.

    >>> from orcalign.experiments import find_study, plan_study, read_results
    >>> runs = read_results(plan_study(find_study("quick")), Path("no-such-folder"))
    >>> page = study_page(runs, Path("quick.html"))
    >>> page[:15], "0 of 12 runs are done; 12 missing." in page
    ('<!doctype html>', True)
    """
    metric = metric or runs.study.metric
    require("metric", metric, tuple(METRICS))
    rows, problems = film_rows(runs, page)
    films = part_text("orcalign.report.explainer", "frames.js") + part_text(PACKAGE, "films.js")
    parts = [
        PagePart(headline(runs), style=part_text(OF_RUNS, "run.css") + part_text(PACKAGE, "study.css")),
        PagePart(tables(runs, metric)),
        *_curves(runs, metric),
        PagePart(part_text(PACKAGE, "films.html"), films, data={"films": rows}),
        PagePart(run_list(runs, page) + details(runs, problems)),
    ]
    count = len(runs.cells)
    subtitle = f"{len(runs.done)} of {count} runs · {runs.steps:,} agent steps · preset {runs.preset}"
    return render_document(f"study {runs.study.name}", f"Study: {runs.study.name}", subtitle, parts)


def write_study_page(runs: StudyResults, path: Path | None = None, metric: str | None = None) -> Path:
    """Write the page, whole or not at all, by default as NAME.html where the results are; returns the file."""
    path = path or runs.folder / f"{runs.study.name}.html"
    require_writable(path)
    write_file(path, study_page(runs, path, metric).encode())
    return path


def _curves(runs: StudyResults, metric: str) -> list[PagePart]:
    learning = study_charts(runs, metric)
    if not learning["charts"]:
        return []
    banded = any("band" in one for chart in learning["charts"] for one in chart["series"])
    words = "Lines are means over seeds, bands their standard error." if banded else "Every line is one run."
    drawn = {chart["title"] for chart in learning["charts"]}
    missing = [name for name in study_settings(runs) if name not in drawn]
    if missing:
        words += f" Nothing is done yet of {', '.join(missing)}."
    markup = part_text(PACKAGE, "curves.html").replace("{{words}}", safe(words))
    return [PagePart(markup, part_text(OF_RUNS, "curves.js"), data={"learning": learning})]


def study_charts(runs: StudyResults, metric: str) -> dict[str, Any]:
    """What the script of the curves draws: charts with a title, a range and series of points [step, value].

    Settings in which nothing is done yet have no chart.
    """
    study = runs.study
    columns = runs.labels(study.columns)
    charts, last = [], 1
    for name, cells in study_settings(runs).items():
        series = []
        for k, column in enumerate(columns):
            there = [cell.result for cell in cells if label(cell.values, study.columns) == column]
            results = [result for result in there if result is not None]
            steps, means, errors = mean_curve(results, metric)
            last = max([last, *steps])
            points = [[step, short(mean)] for step, mean in zip(steps, means, strict=True)]
            one = series_of(heading(column), KINDS[k % len(KINDS)], f"column-{k % COLOURS}", points)
            if len(results) > 1:
                one["band"] = [
                    [step, short(mean - error), short(mean + error)]
                    for step, mean, error in zip(steps, means, errors, strict=True)
                ]
            series.append(one)
        chart = chart_of(name, METRICS[metric], *series)
        set_range(chart, low=0.0, high=1.0)
        if metric == "normalised":
            chart["rules"] = [{"value": 1.0, "text": "expert"}]
        charts.append(chart)
    return {"charts": [chart for chart in charts if chart["series"]], "marks": [], "last": last}
