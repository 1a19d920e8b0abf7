"""Records of a run → the charts of its page: what is drawn, in which range, with which words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from orcalign.report.training_run.reading import Record, RunRecords, kept_best, number, numbers, section

MOST_POINTS = 1500
"""Points of one line that are kept: more than a screen shows."""
SMOOTHED_SHARE = 40
Points = list[list[float]]


def charts(run: RunRecords) -> list[dict[str, Any]]:
    """The charts that the run has numbers for, each with its title, range and series of points [step, value]."""
    drawn = [
        _returns(run),
        _successes(run.evaluations),
        _following(run),
        _training(run.episodes, "reward", "Reward of training episodes", "summed, before it is scaled"),
        _training(run.episodes, "critic_loss", "Critic loss", "how wrong the value estimates are"),
        _training(run.episodes, "actor_loss", "Actor loss", "falls as the expected reward rises"),
    ]
    return [chart for chart in drawn if chart["series"]]


def marks(run: RunRecords) -> list[dict[str, Any]]:
    """What the curves are marked with: the notes, and where a stage began that no note tells of."""
    found = [(int(note["step"]), str(note.get("text", ""))) for note in run.notes]
    near = 2 * float(run.episodes[-1]["step"]) / len(run.episodes) if run.episodes else 0.0
    stages = [(int(record["step"]), str(record["stage"])) for record in run.episodes if record.get("stage")]
    for (_, before), (step, stage) in pairwise(stages):
        told = any(stage in note.get("text", "") and abs(step - note["step"]) <= near for note in run.notes)
        if stage != before and not told:
            found.append((step, f"the stage of {stage} began"))
    return [{"step": step, "text": text} for step, text in sorted(found)]


def smooth(values: Sequence[float | None], width: int) -> npt.NDArray[np.float64]:
    """[n] Mean of the last `width` numbers up to each; what is missing is left out, nan where all are.

    >>> smooth([2.0, 4.0, None, 6.0], 2).tolist()
    [2.0, 3.0, 4.0, 6.0]
    """
    given = np.array([np.nan if value is None else value for value in values], np.float64)
    valid = np.isfinite(given)
    sums = np.concatenate([[0.0], np.cumsum(np.where(valid, given, 0.0))])
    counts = np.concatenate([[0], np.cumsum(valid)])
    stop = np.arange(1, len(given) + 1)
    start = np.maximum(stop - width, 0)
    count = counts[stop] - counts[start]
    mean = (sums[stop] - sums[start]) / np.maximum(count, 1)
    return np.where(count > 0, mean, np.nan)


def _returns(run: RunRecords) -> dict[str, Any]:
    evaluations, expert = run.evaluations, _expert(run)
    name = "return" if expert is None else "normalised"
    line = _points(evaluations, name)
    title = (
        "Return: steps in which the task is solved" if expert is None else "Return as a share of the expert's"
    )
    chart = _chart(
        title,
        [
            _series("each episode", "dots", "accent", _each(evaluations, "returns", expert or 1.0)),
            _series("normalised return" if expert else "return", "line", "accent", line),
        ],
    )
    chart["note"] = "evaluations, without exploration"
    _range(chart, low=0.0, high=1.0)
    if expert is not None:
        chart["rules"] = [{"value": 1.0, "text": "expert"}]
    best = kept_best(run)
    if best is not None and (value := number(best.get(name))) is not None:
        chart["best"] = [best["step"], value]
    return chart


def _expert(run: RunRecords) -> float | None:
    """The expert's return, if evaluations are given as shares of it."""
    shares = numbers(run.evaluations, "normalised")
    return None if all(share is None for share in shares) else number(run.info.get("expert_return"))


def _successes(evaluations: Sequence[Record]) -> dict[str, Any]:
    chart = _chart(
        "Share of episodes that succeed",
        [
            _series("at any step", "dashed", "stall", _points(evaluations, "any_success_rate")),
            _series("at the last step", "line", "accent", _points(evaluations, "success_rate")),
        ],
    )
    chart["note"] = "evaluations"
    return {**chart, "low": 0.0, "high": 1.0}


def _following(run: RunRecords) -> dict[str, Any]:
    steps = [float(record["step"]) for record in run.episodes]
    training = smooth(numbers(run.episodes, "progress"), _width(len(steps)))
    chart = _chart(
        "How far the video is followed",
        [
            _series("each coverage", "dots", "stall", _each(run.evaluations, "coverage", 1.0)),
            _series("each progress", "dots", "accent", _each(run.evaluations, "progress", 1.0)),
            _series("progress in training (mean)", "thin", "accent", _thinned(steps, training)),
            _series("coverage", "dashed", "stall", _points(run.evaluations, "coverage")),
            _series("progress", "line", "accent", _points(run.evaluations, "progress")),
        ],
    )
    chart["note"] = "progress averages over its frames, coverage asks for all in order"
    highest = max((value for one in chart["series"] for _, value in one["points"]), default=0.0)
    return {**chart, "low": 0.0, "high": min(1.0, 1.05 * highest) or 1.0}


def _training(episodes: Sequence[Record], name: str, title: str, note: str) -> dict[str, Any]:
    values = numbers(episodes, name)
    if all(value is None for value in values):
        return _chart(title, [])
    steps = [float(record["step"]) for record in episodes]
    raw = np.array([np.nan if value is None else value for value in values])
    width = _width(len(values))
    mean = smooth(values, width)
    chart = _chart(
        title,
        [
            _series("each episode", "dots", "accent", _thinned(steps, raw)),
            _series(f"mean of {width}", "line", "accent", _thinned(steps, mean)),
        ],
    )
    chart["note"] = note
    # One wild episode must not press all others flat, nor may the mean that it pulls along.
    finite, settled = raw[np.isfinite(raw)], mean[np.isfinite(mean)]
    low, high = np.quantile(finite, [0.01, 0.99]).tolist()
    span = high - low
    _range(
        chart,
        max(min(low, float(settled.min())), low - span),
        min(max(high, float(settled.max())), high + span),
        fixed=True,
    )
    outside = int(((finite < chart["low"]) | (finite > chart["high"])).sum())
    if outside:
        chart["note"] += f"; {outside} of {len(finite)} dots lie outside the picture"
    return chart


def _chart(title: str, series: list[dict[str, Any]]) -> dict[str, Any]:
    """A chart without a range; series without points are left out."""
    return {
        "title": title,
        "note": "",
        "series": [one for one in series if one["points"]],
        "rules": [],
        "best": None,
        "low": 0.0,
        "high": 1.0,
    }


def _series(name: str, kind: str, colour: str, points: Points) -> dict[str, Any]:
    return {"name": name, "kind": kind, "colour": colour, "points": points}


def _range(chart: dict[str, Any], low: float, high: float, fixed: bool = False) -> None:
    """Set the range to `low` … `high`, widened to all values unless it is fixed, with a little room."""
    values = [value for one in chart["series"] for _, value in one["points"]]
    if values and not fixed:
        low, high = min(low, *values), max(high, *values)
    room = 0.04 * (high - low) or abs(high) or 1.0
    chart["low"], chart["high"] = (low - room if low else 0.0), high + room


def _points(records: Sequence[Record], name: str) -> Points:
    pairs = zip((float(record["step"]) for record in records), numbers(records, name), strict=True)
    return [[step, _short(value)] for step, value in pairs if value is not None]


def _each(records: Sequence[Record], name: str, scale: float) -> Points:
    """A point for each episode of the records."""
    lists = [(float(record["step"]), {**record, **section(record, "each")}.get(name)) for record in records]
    return [
        [step, _short(value / scale)]
        for step, entries in lists
        if isinstance(entries, list)
        for value in map(number, entries)
        if value is not None
    ][-MOST_POINTS:]


def _thinned(steps: Sequence[float], values: npt.NDArray[np.float64]) -> Points:
    """Points of finite values, evenly chosen where there are too many."""
    finite = np.flatnonzero(np.isfinite(values))
    if len(finite) > MOST_POINTS:
        finite = finite[np.linspace(0, len(finite) - 1, MOST_POINTS).round().astype(int)]
    return [[steps[i], _short(float(values[i]))] for i in finite.tolist()]


def _width(count: int) -> int:
    return max(5, round(count / SMOOTHED_SHARE))


def _short(value: float) -> float:
    return float(f"{value:.5g}")
