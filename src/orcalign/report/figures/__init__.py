"""The paper's qualitative figures, by name: the same agents under several matchers, with their films."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from orcalign.checks import near_miss


@dataclass(frozen=True)
class Method:
    """A column of a figure."""

    label: str
    matcher: str
    settings: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """Beside the matcher's own, which are the paper's."""


@dataclass(frozen=True)
class FigureSpec:
    """What a figure shows; what it finds is computed from the episodes."""

    name: str
    source: str
    """In the paper."""
    task: str
    title: str
    summary: str
    methods: tuple[Method, ...] = ()
    claims: tuple[tuple[int, int, int], ...] = ()
    """(method, a, b): on the films that ship this method pays agent a more than agent b. Those that make the films
    look for episodes on which all of them hold."""
    of_failing: bool = False
    """Compare only agents that fail: where do they go from there?"""
    draws: str = ""
    """A function of runs, as module:name, that draws what compares no agents."""
    plays: str = ""
    """A function, as module:name, that plays the scene where no runs are given; else there are films."""


OT = Method("OT", "ot")
NARROW = Method("TemporalOT", "temporal_ot")
ORCA = Method("ORCA", "orca")

FIGURES: dict[str, FigureSpec] = {
    spec.name: spec
    for spec in (
        FigureSpec(
            "slow-agent",
            "Figure 3",
            "door-open",
            "Which agent does the reward prefer: the slow one, or the one that opens the door?",
            "TemporalOT prefers a slow agent",
            (NARROW, ORCA),
            ((0, 0, 1), (1, 1, 0)),
        ),
        FigureSpec(
            "order",
            "Figure 17",
            "stick-push",
            "Does the reward keep the order: first the stick, then the bottle?",
            "OT and TemporalOT break the order",
            (
                OT,
                Method("TemporalOT, window 10", "temporal_ot", {"window": 10}),
                Method("TemporalOT, window 2", "temporal_ot", {"window": 2}),
                ORCA,
            ),
            ((0, 0, 1), (1, 0, 1), (3, 1, 0)),
        ),
        FigureSpec(
            "subgoal",
            "Figure 18",
            "lever-pull",
            "Which agent does the reward prefer: the one that stays, or the one that pulls the lever?",
            "DTW stays at a subgoal",
            (Method("DTW", "dtw"), ORCA),
            ((0, 0, 1), (1, 1, 0)),
        ),
        FigureSpec(
            "pretraining",
            "Figure 19",
            "stick-push",
            "Where does the reward lead an agent that cannot do the task yet?",
            "why ORCA needs pretraining",
            (NARROW, ORCA),
            ((0, 1, 0), (1, 0, 1), (1, 2, 0)),
            of_failing=True,
        ),
        FigureSpec(
            "humanoid-demos",
            "Figure 10",
            "humanoid-arm-up-left",
            "The demos of the humanoid",
            "ten posed frames of each of the four motions",
            draws="orcalign.report.figures.humanoid:demos",
        ),
        FigureSpec(
            "humanoid-rewards",
            "Figure 11",
            "humanoid-arm-up-left",
            "How near is the goal?",
            "an off-the-shelf encoder against the joint predictor",
            draws="orcalign.report.figures.humanoid:rewards",
        ),
        FigureSpec(
            "humanoid-confidence",
            "Figure 12",
            "humanoid-arm-up-left",
            "What is a fall worth?",
            "confidence lowers the reward of what is read wrong",
            draws="orcalign.report.figures.humanoid:confidence",
        ),
        FigureSpec(
            "humanoid-agents",
            "Figure 15",
            "humanoid-arm-up-left",
            "Which agent does the reward prefer: the one that waits half way, or the one that raises its arm?",
            "ORCA against frame-level matching, through the predictor",
            (Method("OT", "ot", {"epsilon": 0}), NARROW, Method("DTW", "dtw"), ORCA),
            plays="orcalign.report.figures.humanoid:agents",
        ),
    )
}


def find_figure(name: str) -> FigureSpec:
    """The figure of that name.

    >>> find_figure("order").task
    'stick-push'
    >>> find_figure("slow-agnet")
    Traceback (most recent call last):
        ...
    ValueError: no figure is called 'slow-agnet'; did you mean 'slow-agent'? Known: slow-agent, order, ...
    """
    if name in FIGURES:
        return FIGURES[name]
    raise ValueError(f"no figure is called {name!r};{near_miss(name, FIGURES)} Known: {', '.join(FIGURES)}.")


def make_figure(name: str, runs: Sequence[Path] = (), out: Path = Path("runs/figures")) -> tuple[Path, Path]:
    """Draw a figure of the paper into a folder as PNG and SVG; returns the two files.

    Args:
        name: one of `FIGURES`.
        runs: folders of runs on the figure's task and one demo; of each, an episode of its last evaluation is shown.
            None: the films that ship.
        out: it is made if it is not there.
    """
    from orcalign.files import require_writable
    from orcalign.report.figures.drawing import draw_figure, save_png
    from orcalign.report.figures.scene import from_films, from_runs
    from orcalign.report.plots import save_figure

    spec = find_figure(name)
    png, svg = out / f"{name}.png", out / f"{name}.svg"
    for path in (png, svg):
        require_writable(path)
    import matplotlib

    # Fixed names inside the SVG, no date: the same code gives the same bytes.
    with matplotlib.rc_context({"svg.hashsalt": "orcalign", "svg.fonttype": "path"}):
        if spec.draws:
            figure = pkgutil.resolve_name(spec.draws)(runs)
            save_figure(figure, png)
        else:
            played = pkgutil.resolve_name(spec.plays) if spec.plays else partial(from_films, name)
            figure = draw_figure(spec, from_runs(runs, spec.task) if runs else played())
            save_png(figure, png)
        save_figure(figure, svg, metadata={"Date": None})
    return png, svg
