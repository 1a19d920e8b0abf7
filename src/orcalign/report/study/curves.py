"""Results of a study → one chart a task, with one line a column."""

from __future__ import annotations

from typing import Any

from orcalign.experiments.results import METRICS, StudyResults, label
from orcalign.experiments.tables import heading
from orcalign.report.study.grid import study_settings
from orcalign.report.study_plots import mean_curve

COLOURS = 7
"""Of the style sheet: --column-0 and so on."""
KINDS = ("line", "dashed", "dotted", "thin")


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
            results = [
                cell.result
                for cell in cells
                if cell.result is not None and label(cell.values, study.columns) == column
            ]
            steps, means, errors = mean_curve(results, metric)
            if steps:
                last = max(last, steps[-1])
                one: dict[str, Any] = {
                    "name": heading(column),
                    "kind": KINDS[k % len(KINDS)],
                    "colour": f"column-{k % COLOURS}",
                    "points": [[step, _short(mean)] for step, mean in zip(steps, means, strict=True)],
                }
                if len(results) > 1:
                    one["band"] = [
                        [step, _short(mean - error), _short(mean + error)]
                        for step, mean, error in zip(steps, means, errors, strict=True)
                    ]
                series.append(one)
        if series:
            charts.append(_chart(name, series, metric))
    return {"charts": charts, "marks": [], "last": last}


def _chart(name: str, series: list[dict[str, Any]], metric: str) -> dict[str, Any]:
    values = [
        value for one in series for _, *rest in (*one["points"], *one.get("band", ())) for value in rest
    ]
    low, high = min(0.0, *values), max(1.0, *values)
    return {
        "title": name,
        "note": METRICS[metric],
        "series": series,
        "rules": [{"value": 1.0, "text": "expert"}] if metric == "normalised" else [],
        "best": None,
        "low": low - 0.04 * (high - low) if low < 0 else 0.0,
        "high": high + 0.04 * (high - low),
    }


def _short(value: float) -> float:
    return float(f"{value:.5g}")
