"""A scene and matchers → one picture: films, whom each matcher pairs with what, and whom it pays."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from orcalign.files import write_file
from orcalign.matching import Match, OrcaMatch
from orcalign.matching.match import FloatArray
from orcalign.report.figures import FigureSpec, Method
from orcalign.report.figures.pairs import matched_pairs, order_breaks
from orcalign.report.figures.scene import Agent, Frames, Scene
from orcalign.report.plots import moments
from orcalign.report.toy import RIGHT, WRONG

# Of Okabe and Ito's palette; the marks and dashes say it again.
COLOURS = ("#CC79A7", "#0072B2", "#009E73", "#56B4E9", "#000000")
DASHES = ("-", "--", "-.", ":")
HATCHES = ("//", "", "..", "\\\\")
BREAK = "#D55E00"
SHOWN = 9
"""Frames of a film."""
WIDTH, LEFT, RIGHT_EDGE, GAP = 12.0, 2.5, 0.15, 0.42
"""Inches: of all, for what is said beside a row, at the right, and between columns."""
FILM, FILM_GAP, MATRIX, MATRIX_GAP, REWARDS, TOTAL = 1.0, 0.25, 1.55, 0.42, 1.1, 0.3
"""Inches from top to bottom: films and matrices with the room below them, rewards, a bar."""
MOVED = 60
"""Grey levels by which a pixel changes where something moves."""
PHOTO_COLOURS = 150
"""Of the PNG's palette, for the films; those of the marks are added."""


class Sheet:
    """A figure on which axes are placed in inches, from the top."""

    def __init__(self, height: float) -> None:
        from matplotlib.figure import Figure

        self.figure = Figure(figsize=(WIDTH, height))
        self.height = height
        self.top = 0.0
        """Where the next row begins."""

    def axes(self, left: float, width: float, height: float) -> Any:
        """Axes in the row that begins at `top`."""
        bottom = self.height - self.top - height
        return self.figure.add_axes((left / WIDTH, bottom / self.height, width / WIDTH, height / self.height))

    def say(self, height: float, name: str, what: str = "", colour: str = "black") -> None:
        """What a row of that height shows, to the left of it."""
        name, what = textwrap.fill(name, 19), textwrap.fill(what, 30)
        lines = [0.19 * len(name.splitlines()), 0.145 * len(what.splitlines())]
        place, top = (LEFT - 0.55) / WIDTH, self.top + max(0.0, (height - sum(lines)) / 2)
        y = 1 - top / self.height
        self.figure.text(place, y, name, ha="right", va="top", fontsize=11.5, fontweight="bold", color=colour)
        y -= lines[0] / self.height
        self.figure.text(place, y, what, ha="right", va="top", fontsize=8.5, color="0.3", linespacing=1.15)


def draw_figure(spec: FigureSpec, scene: Scene) -> Any:
    """A matplotlib figure: films of demo and agents; per matcher (across) and agent (down) the assignment, then the
    rewards along the episode and their totals, with whom the matcher prefers."""
    agents, methods = scene.agents, spec.methods
    films = (1 + len(agents)) * (FILM + FILM_GAP) + 0.4
    matrices = len(agents) * (MATRIX + MATRIX_GAP) + REWARDS + 0.5 + len(agents) * TOTAL + 0.4
    sheet = Sheet(0.5 + films + matrices + 0.6)
    middle: dict[str, Any] = {"ha": "center", "va": "top"}
    sheet.figure.text(0.5, 1 - 0.12 / sheet.height, spec.title, fontsize=14.5, fontweight="bold", **middle)
    sheet.top = 0.5
    _draw_films(sheet, scene)
    sheet.top = 0.5 + films
    wide = (WIDTH - LEFT - RIGHT_EDGE - GAP * (len(methods) - 1)) / len(methods)
    columns = [LEFT + k * (wide + GAP) for k in range(len(methods))]
    for left, method in zip(columns, methods, strict=True):
        x, y = (left + wide / 2) / WIDTH, 1 - (sheet.top - 0.38) / sheet.height
        size = 13 if len(methods) < 4 else 11.5
        sheet.figure.text(x, y, method.label, fontsize=size, fontweight="bold", **middle)
    for agent in agents:
        sheet.say(MATRIX, agent.name, "matched with which frame of the demo?", _colour(agents, agent))
        for left, method in zip(columns, methods, strict=True):
            _draw_matrix(sheet.axes(left, wide, MATRIX), agent.match(method), left == columns[0])
        sheet.top += MATRIX + MATRIX_GAP
    sheet.say(REWARDS, "reward", "at each frame")
    for left, method in zip(columns, methods, strict=True):
        _draw_rewards(sheet.axes(left, wide, REWARDS), [agent.match(method) for agent in agents])
    sheet.top += REWARDS + 0.5
    sheet.say(len(agents) * TOTAL, "total reward", "a bar that ends further right is more")
    for left, method in zip(columns, methods, strict=True):
        _draw_totals(sheet.axes(left, wide, len(agents) * TOTAL), agents, method, spec.of_failing)
    _legend(sheet.figure, scene.note)
    return sheet.figure


def verdict(agents: Sequence[Agent], method: Method, of_failing: bool = False) -> tuple[str, bool | None]:
    """Whom a matcher pays most, in words, and whether that is the agent that succeeds for longest; None where no such
    question is asked, or nobody succeeds."""
    asked = [agent for agent in agents if not agent.success.any()] if of_failing else [*agents]
    if of_failing and len(asked) > 1:
        return f"of the failing, pays “{_top(asked, method).name}” most", None
    top = _top(agents, method)
    text = f"pays “{top.name}” most"
    best = max(int(agent.success.sum()) for agent in agents)
    return (text, int(top.success.sum()) == best) if best else (f"{text}; nobody succeeds", None)


def _top(agents: Sequence[Agent], method: Method) -> Agent:
    return max(agents, key=lambda agent: agent.total(method))


def _colour(agents: Sequence[Agent], agent: Agent) -> str:
    return COLOURS[agents.index(agent) % len(COLOURS)]


def _draw_films(sheet: Sheet, scene: Scene) -> None:
    rows: list[tuple[str, str, Frames, npt.NDArray[np.bool_], str]] = [
        ("demo", f"{len(scene.demo)} frames", scene.demo, np.zeros(len(scene.demo), bool), "black")
    ]
    for agent in scene.agents:
        solved = int(agent.success.sum())
        ending = f"success in {solved} of {len(agent.success)} frames" if solved else "no success"
        rows.append((agent.name, f"{agent.what}; {ending}", agent.frames, agent.success, _colour(scene.agents, agent)))
    part = moving_part([scene.demo, *(agent.frames for agent in scene.agents)])
    pitch = (WIDTH - LEFT - RIGHT_EDGE + 0.05) / SHOWN
    for name, what, frames, success, colour in rows:
        sheet.say(FILM, name, what, colour)
        for k, t in enumerate(moments(len(frames), SHOWN)):
            axis = sheet.axes(LEFT + k * pitch, pitch - 0.05, FILM)
            axis.imshow(frames[t][part])
            axis.set(xticks=[], yticks=[])
            axis.set_xlabel(f"{t} ✔" if success[t] else str(t), fontsize=8.5, labelpad=2.5)
            for spine in axis.spines.values():
                spine.set(color=RIGHT if success[t] else "0.6", linewidth=2.5 if success[t] else 0.8)
            if success[t]:
                axis.xaxis.label.set(color=RIGHT, fontweight="bold")
        sheet.top += FILM + FILM_GAP


def moving_part(films: Sequence[Frames]) -> tuple[slice, slice]:
    """Rows and columns of the square in which something moves in any of the films [T,H,W,3] of one size; if they differ
    in size, all.

    >>> film = np.zeros((2, 40, 40, 3), np.uint8)
    >>> film[1, 10:20, 12:20] = 255
    >>> moving_part([film])
    (slice(8, 22, None), slice(9, 23, None))
    """
    if len({film.shape[1:] for film in films}) > 1:
        return slice(None), slice(None)
    moves = np.max([np.ptp(film.astype(np.int16), axis=0).max(axis=-1) for film in films], axis=0) > MOVED
    if not moves.any():
        return slice(None), slice(None)
    sides = [np.flatnonzero(moves.any(axis=axis))[[0, -1]] for axis in (1, 0)]
    margin = 0.05 * min(moves.shape)
    side = min(int(max(last - first + 1 for first, last in sides) + 2 * margin), *moves.shape)
    starts = [
        int(np.clip((first + last + 1 - side) / 2, 0, size - side))
        for (first, last), size in zip(sides, moves.shape, strict=True)
    ]
    return slice(starts[0], starts[0] + side), slice(starts[1], starts[1] + side)


def shades(match: Match) -> FloatArray:
    """[T, J] The assignment from 0 to 1: coverage as it is; of others each learner frame on its own scale, as the
    entries of a plan with much entropy differ little; nan where a frame may not be matched at all."""
    if isinstance(match, OrcaMatch):
        return match.assignment
    plan = np.where(match.assignment > 0, match.assignment, np.nan)
    least, most = np.nanmin(plan, axis=1, keepdims=True), np.nanmax(plan, axis=1, keepdims=True)
    span = most - least
    shaded: FloatArray = np.where(span > 0, (plan - least) / np.where(span > 0, span, 1), plan / most)
    return shaded


def _draw_matrix(axis: Any, match: Match, first: bool) -> None:
    pairs = matched_pairs(match)
    broken = order_breaks(pairs)
    axis.set_facecolor("white")
    axis.imshow(shades(match).T, cmap="Blues", vmin=0, vmax=1.6, origin="lower", aspect="auto", interpolation="nearest")
    (t, j), (late, back) = pairs[~broken].T, pairs[broken].T
    axis.plot(t, j, "o", color="black", markersize=3.2, clip_on=False)
    axis.plot(late, back, "X", color=BREAK, markersize=6, markeredgecolor="white", markeredgewidth=0.4, clip_on=False)
    if broken.any():
        _tell(axis, f"order broken: {int(broken.sum())} of {len(pairs)}", BREAK)
    elif isinstance(match, OrcaMatch):
        _tell(axis, f"covered in order: {match.assignment[-1, -1]:.2f}", "#08519C")
    axis.tick_params(labelsize=8.5, length=2)
    if first:
        axis.set_ylabel("demo frame", fontsize=9)


def _tell(axis: Any, text: str, colour: str) -> None:
    axis.set_title(text, fontsize=9.5, color=colour, fontweight="bold", loc="right", y=1.0, pad=2)


def _draw_rewards(axis: Any, matches: Sequence[Match]) -> None:
    for k, match in enumerate(matches):
        axis.plot(match.reward, color=COLOURS[k % len(COLOURS)], linestyle=DASHES[k % len(DASHES)], linewidth=2)
    axis.set_xlim(-0.5, max(len(match.reward) for match in matches) - 0.5)
    axis.set_xlabel("agent's frame", fontsize=9)
    axis.tick_params(labelsize=8.5, length=2)
    axis.locator_params(axis="y", nbins=4)
    # Labels of one width: rewards of transport are thousandths.
    axis.ticklabel_format(axis="y", style="sci", scilimits=(-2, 3), useMathText=True)
    axis.yaxis.get_offset_text().set_fontsize(8)
    axis.grid(alpha=0.3)


def _draw_totals(axis: Any, agents: Sequence[Agent], method: Method, of_failing: bool) -> None:
    totals = [agent.total(method) for agent in agents]
    low, high = min(0.0, *totals), max(0.0, *totals)
    span = (high - low) or 1.0
    for k, (agent, total) in enumerate(zip(agents, totals, strict=True)):
        colour, hatch = COLOURS[k % len(COLOURS)], HATCHES[k % len(HATCHES)]
        axis.barh(k, total, color=colour, hatch=hatch, edgecolor="white", height=0.72)
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1.5, "alpha": 0.9}
        words = f"{agent.name}  {total:.3g}"
        left = total >= 0
        axis.annotate(
            words, (0, k), textcoords="offset points", xytext=(5 if left else -5, 0), ha="left" if left else "right",
            va="center", fontsize=9.5, fontweight="bold" if total == max(totals) else "normal", bbox=box,
        )  # fmt: skip
    axis.set(xlim=(low - 0.02 * span, high + 0.02 * span), ylim=(len(agents) - 0.5, -0.5), yticks=[], xticks=[])
    axis.axvline(0, color="0.3", linewidth=1)
    for side in ("top", "right", "left", "bottom"):
        axis.spines[side].set_visible(False)
    text, right = verdict(agents, method, of_failing)
    mark, colour = {True: ("✔ ", RIGHT), False: ("✘ ", WRONG), None: ("", "black")}[right]
    size = 11.5 if axis.get_position().width > 0.25 else 10
    axis.set_xlabel(f"{mark}{text}", fontsize=size, fontweight="bold", color=colour)


def _legend(figure: Any, note: str) -> None:
    from matplotlib.lines import Line2D

    marks = [
        Line2D([], [], marker="o", color="black", linestyle="none", markersize=4, label="matched pair"),
        Line2D([], [], marker="X", color=BREAK, linestyle="none", label="matched behind an earlier one: order broken"),
        Line2D([], [], marker="s", color="#6BAED6", linestyle="none", label="assignment; ORCA: coverage in order"),
    ]
    title = textwrap.fill(note, 150)
    legend = figure.legend(handles=marks, loc="lower center", ncols=3, fontsize=9.5, frameon=False, title=title)
    legend.get_title().set(fontsize=8.5, color="0.35")


def save_png(figure: Any, path: Path) -> None:
    """Write a figure with a palette of colours: films take a third of the bytes."""
    from matplotlib.colors import to_rgb
    from PIL import Image

    buffer, packed = io.BytesIO(), io.BytesIO()
    figure.savefig(buffer, format="png", dpi=100)
    picture = Image.open(buffer).convert("RGB")
    films = picture.quantize(PHOTO_COLOURS, dither=Image.Dither.NONE)
    # The commonest colours are those of the films; a few crosses would get the nearest red of a robot.
    marks = np.round([255 * np.array(to_rgb(colour)) for colour in (*COLOURS, BREAK, RIGHT, WRONG, "white")])
    pixels, indices = np.asarray(picture), np.array(films)
    for k, mark in enumerate(marks.astype(np.uint8)):
        indices[(pixels == mark).all(axis=-1)] = PHOTO_COLOURS + k
    packable = Image.fromarray(indices, "P")
    packable.putpalette([*(films.getpalette() or [])[: 3 * PHOTO_COLOURS], *marks.astype(int).ravel().tolist()])
    packable.save(packed, "png", optimize=True)
    write_file(path, packed.getvalue())
