"""Records of a run → the charts of its page: what is drawn, in which range, with which words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from orcalign.report.training_run.reading import Record, RunRecords, kept_best, number, numbers, section
from orcalign.training.episode import unreported

MOST_POINTS = 1500
"""Points of one line that are kept: more than a screen shows."""
SMOOTHED_SHARE = 40
Points = list[list[float]]


def charts(run: RunRecords) -> list[dict[str, Any]]:
    """The charts that the run has numbers for, each with its title, range and series of points [step, value]."""
    drawn = [
        _returns(run),
        chart_of(
            "Share of episodes that succeed",
            "evaluations",
            series_of("at any step", "dashed", "stall", _points(run.evaluations, "any_success_rate")),
            series_of("at the last step", "line", "accent", _points(run.evaluations, "success_rate")),
        ),
        _following(run),
        _likeness(run, "similarity", *_similarity(run)),
        _likeness(run, "nearness", "How near episodes come to the demo", "1: every moment of it is met, in any order"),
        _eye(run),
        chart_of(
            "Demo frames in which the eye is believed",
            "share of the frames in which what it says of the objects counts",
            series_of("believed", "line", "accent", _thinned(*_steps_of(run.episodes, "believed"))),
        ),
        _discriminator(run),
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
    evaluations, expert = run.evaluations, number(run.info.get("expert_return"))
    if not _points(evaluations, "normalised"):
        expert = None  # evaluations are not given as shares of it
    if evaluations and unreported(evaluations[-1]):
        own = chart_of(
            "The environment's own return",
            "evaluations, without exploration; nothing is learned from it, and the environment reports no success",
            series_of("each episode", "dots", "accent", _each(evaluations, "env_returns")),
            series_of("mean", "line", "accent", _points(evaluations, "env_return")),
        )
        set_range(own, low=0.0, high=0.0)
        return own
    name = "return" if expert is None else "normalised"
    chart = chart_of(
        "Return as a share of the expert's" if expert else "Return: steps in which the task is solved",
        "evaluations, without exploration",
        series_of("each episode", "dots", "accent", _each(evaluations, "returns", expert or 1.0)),
        series_of("normalised return" if expert else "return", "line", "accent", _points(evaluations, name)),
    )
    set_range(chart, low=0.0, high=1.0)
    if expert is not None:
        chart["rules"] = [{"value": 1.0, "text": "expert"}]
    best = kept_best(run)
    if best is not None and (value := number(best.get(name))) is not None:
        chart["best"] = [best["step"], value]
    return chart


def _following(run: RunRecords) -> dict[str, Any]:
    steps = [float(record["step"]) for record in run.episodes]
    training = smooth(numbers(run.episodes, "progress"), _width(len(steps)))
    chart = chart_of(
        "How far the video is followed",
        "progress averages over its frames, coverage asks for all in order, and to be there at the end",
        series_of("each coverage", "dots", "stall", _each(run.evaluations, "coverage")),
        series_of("each progress", "dots", "accent", _each(run.evaluations, "progress")),
        series_of("progress in training (mean)", "thin", "accent", _thinned(steps, training)),
        series_of("an expert's progress", "thin", "stall", _thinned(*_steps_of(run.episodes, "expert_progress"))),
        series_of("coverage", "dashed", "stall", _points(run.evaluations, "coverage")),
        series_of("coverage at the best moment", "thin", "stall", _points(run.evaluations, "reached")),
        series_of("progress", "line", "accent", _points(run.evaluations, "progress")),
    )
    highest = max((value for one in chart["series"] for _, value in one["points"]), default=0.0)
    return {**chart, "low": 0.0, "high": min(1.0, 1.05 * highest) or 1.0}


def _likeness(run: RunRecords, name: str, title: str, note: str) -> dict[str, Any]:
    chart = chart_of(
        title,
        note,
        series_of("each episode", "dots", "accent", _each(run.evaluations, name)),
        series_of("in training", "thin", "stall", _thinned(*_steps_of(run.episodes, name))),
        series_of(name, "line", "accent", _points(run.evaluations, name)),
    )
    if chart["series"]:
        least = min(value for one in chart["series"] for _, value in one["points"])
        set_range(chart, low=min(least, 1.0), high=1.0)
    return chart


def _similarity(run: RunRecords) -> tuple[str, str]:
    if section(run.config, "reward").get("reward") == "text":
        return "How much frames are like the sentence", "cosine of the embeddings, or the way to it; mean of an episode"
    return "How much episodes are like the video", "cosine of the embeddings of whole clips"


def _eye(run: RunRecords) -> dict[str, Any]:
    """Errors are 0 as long as there is no eye."""
    chart = chart_of(
        "How far off the eye is, in cm",
        "on frames that it has not learned from",
        *(
            series_of(text, kind, colour, [point for point in _thinned(*_steps_of(run.episodes, name)) if point[1]])
            for name, text, kind, colour in (
                ("eye_error", "the eye's error", "line", "accent"),
                ("floor", "what counts as reached", "dashed", "stall"),
            )
        ),
    )
    set_range(chart, low=0.0, high=1.0)
    return chart


def _discriminator(run: RunRecords) -> dict[str, Any]:
    """Half right is as good as a coin: there the learner's transitions look like the demo's."""
    chart = chart_of(
        "How often the discriminator is right",
        "before it learns anew: of the demo, and of episodes that it does not know; 0.5 is as good as a coin",
        *(
            series_of(text, kind, colour, _thinned(*_steps_of(run.episodes, name)))
            for name, text, kind, colour in (
                ("accuracy_demo", "the demo's transitions", "dashed", "stall"),
                ("accuracy_learner", "the learner's", "thin", "accent"),
                ("accuracy", "both", "line", "accent"),
            )
        ),
    )
    if chart["series"]:
        chart["rules"] = [{"value": 0.5, "text": "a coin"}]
    return chart


def _steps_of(episodes: Sequence[Record], name: str) -> tuple[list[float], npt.NDArray[np.float64]]:
    values = [np.nan if value is None else value for value in numbers(episodes, name)]
    return [float(record["step"]) for record in episodes], np.array(values, np.float64)


def _training(episodes: Sequence[Record], name: str, title: str, note: str) -> dict[str, Any]:
    values = numbers(episodes, name)
    if all(value is None for value in values):
        return chart_of(title, note)
    steps = [float(record["step"]) for record in episodes]
    raw = np.array([np.nan if value is None else value for value in values])
    width = _width(len(values))
    mean = smooth(values, width)
    chart = chart_of(
        title,
        note,
        series_of("each episode", "dots", "accent", _thinned(steps, raw)),
        series_of(f"mean of {width}", "line", "accent", _thinned(steps, mean)),
    )
    # One wild episode must not press all others flat, nor may the mean that it pulls along.
    finite, settled = raw[np.isfinite(raw)], mean[np.isfinite(mean)]
    low, high = np.quantile(finite, [0.01, 0.99]).tolist()
    span = high - low
    least, most = min(low, float(settled.min())), max(high, float(settled.max()))
    set_range(chart, max(least, low - span), min(most, high + span), fixed=True)
    outside = int(((finite < chart["low"]) | (finite > chart["high"])).sum())
    if outside:
        chart["note"] += f"; {outside} of {len(finite)} dots lie outside the picture"
    return chart


def chart_of(title: str, note: str, *series: dict[str, Any]) -> dict[str, Any]:
    """A chart from 0 to 1; series without points are left out."""
    drawn = [one for one in series if one["points"]]
    return {"title": title, "note": note, "series": drawn, "rules": [], "best": None, "low": 0.0, "high": 1.0}


def series_of(name: str, kind: str, colour: str, points: Points) -> dict[str, Any]:
    """A line or dots, as the page's script draws them."""
    return {"name": name, "kind": kind, "colour": colour, "points": points}


def set_range(chart: dict[str, Any], low: float, high: float, fixed: bool = False) -> None:
    """Set the range to `low` … `high`, widened to all values unless it is fixed, with a little room."""
    series = chart["series"]
    values = [value for one in series for _, *rest in (*one["points"], *one.get("band", ())) for value in rest]
    if values and not fixed:
        low, high = min(low, *values), max(high, *values)
    room = 0.04 * (high - low) or abs(high) or 1.0
    chart["low"], chart["high"] = (low - room if low else 0.0), high + room


def _points(records: Sequence[Record], name: str) -> Points:
    pairs = zip((float(record["step"]) for record in records), numbers(records, name), strict=True)
    return [[step, short(value)] for step, value in pairs if value is not None]


def _each(records: Sequence[Record], name: str, scale: float = 1.0) -> Points:
    """A point for each episode of the records."""
    return [
        [float(record["step"]), short(value / scale)]
        for record in records
        for value in {**record, **section(record, "each")}.get(name) or ()
    ][-MOST_POINTS:]


def _thinned(steps: Sequence[float], values: npt.NDArray[np.float64]) -> Points:
    """Points of finite values, evenly chosen where there are too many."""
    finite = np.flatnonzero(np.isfinite(values))
    if len(finite) > MOST_POINTS:
        finite = finite[np.linspace(0, len(finite) - 1, MOST_POINTS).round().astype(int)]
    return [[steps[i], short(float(values[i]))] for i in finite.tolist()]


def _width(count: int) -> int:
    return max(5, round(count / SMOOTHED_SHARE))


def short(value: float) -> float:
    """As many digits as a page needs."""
    return float(f"{value:.5g}")
