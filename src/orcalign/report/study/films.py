"""Run folders of a study → rows of short films: the demo, then what the policy of each column does in the end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from orcalign.experiments.results import StudyCell, StudyResults, label
from orcalign.experiments.tables import heading
from orcalign.report.explainer.embedding import embed_frames
from orcalign.report.study.grid import study_settings
from orcalign.training.evaluation import read_shown
from orcalign.video import DemoSet, VideoOptions, read_video

PAGE_BYTES = 6_500_000
"""What all pictures of the page may take, before base64 makes a third more of them."""
LEAST_BYTES = 50_000
"""Of a film; where there would be less for each, those at the end are left out."""
LONGEST = 320
FRAMES = 120
"""Of a film; longer ones are shown at a lower rate."""


@dataclass(frozen=True)
class Film:
    """A place in a row: a clip, or the reason why there is none."""

    name: str
    score: str = ""
    note: str = ""
    clip: dict[str, Any] | None = None
    hole: str = ""
    link: Path | None = None
    """The page of the run, if it was written."""


@dataclass(frozen=True)
class FilmRow:
    """The films of one task."""

    name: str
    films: tuple[Film, ...]


def film_rows(runs: StudyResults) -> tuple[tuple[FilmRow, ...], tuple[str, ...]]:
    """A row for every setting, of its first seed; and what could not be shown."""
    settings = study_settings(runs)
    columns = runs.labels(runs.study.columns)
    budget = _Budget(len(settings) * (1 + len(columns)))
    problems: list[str] = []
    rows = []
    for name, cells in settings.items():
        firsts = [
            next(cell for cell in cells if label(cell.values, runs.study.columns) == column)
            for column in columns
            if any(label(cell.values, runs.study.columns) == column for cell in cells)
        ]
        films = [_demo(firsts, budget, problems, runs.from_file)]
        films += [
            _episode(cell, heading(label(cell.values, runs.study.columns)), budget, problems, runs.from_file)
            for cell in firsts
        ]
        rows.append(FilmRow(name, tuple(films)))
    if budget.refused:
        problems.append(
            f"Videos that were left out to keep the page below 10 MB: {budget.refused}. Narrow it with --only."
        )
    return tuple(rows), tuple(problems)


class _Budget:
    """Shares out the bytes of the page."""

    def __init__(self, films: int) -> None:
        self._each = max(LEAST_BYTES, PAGE_BYTES // max(films, 1))
        self._left = PAGE_BYTES
        self.refused = 0

    def clip(self, frames: npt.NDArray[np.uint8], fps: float) -> dict[str, Any] | None:
        """The frames as the page carries them; None if there is no room."""
        if self._left < LEAST_BYTES:
            self.refused += 1
            return None
        every = math.ceil(len(frames) / FRAMES)
        # The end tells most, so it is there whatever is left out.
        frames = frames[::-1][::every][::-1]
        clip = embed_frames(frames, min(self._each, self._left))
        self._left -= sum(len(picture) for picture in clip["pictures"]) * 3 // 4
        return {"fps": float(fps) / every, "count": len(frames), **clip}


def _demo(cells: Sequence[StudyCell], budget: _Budget, problems: list[str], from_file: bool) -> Film:
    words = cells[0].demo
    for cell in cells:
        folder = None if cell.run is None else cell.run / "demo"
        if folder is None or not folder.is_dir():
            continue
        try:
            demos = DemoSet.load(folder).demos
            clip = budget.clip(demos[0].frames, demos[0].fps)
        except (OSError, ValueError) as error:
            problems.append(f"The demo of run {cell.key} cannot be shown ({error}).")
            continue
        note = f"{len(demos[0])} frames" + (f", the first of {len(demos)}" if len(demos) > 1 else "")
        return Film("Demo", words, note, clip, "" if clip else "left out for the size of the page")
    hole = "no video: made from a file of results" if from_file else "not made yet"
    return Film("Demo", words, hole=hole)


def _episode(cell: StudyCell, name: str, budget: _Budget, problems: list[str], from_file: bool) -> Film:
    score = final_words(cell)
    page = None if cell.run is None else cell.run / "report.html"
    link = page if page is not None and page.is_file() else None
    if cell.result is None:
        return Film(name, hole=state_words(cell), link=link)
    if from_file or cell.run is None:
        return Film(name, score, hole="no video: made from a file of results", link=link)
    video = last_video(cell.run)
    if video is None:
        return Film(name, score, hole="the run kept no video", link=link)
    try:
        read = read_video(video, VideoOptions(longest=LONGEST))
        clip = budget.clip(read.frames, read.fps)
    except (OSError, ValueError) as error:
        problems.append(f"The video of {name} in run {cell.key} cannot be shown ({error}).")
        return Film(name, score, hole="the video cannot be read", link=link)
    note = _success_words(cell.run, _step(video), len(read.frames))
    return Film(name, score, note, clip, "" if clip else "left out for the size of the page", link)


def state_words(cell: StudyCell) -> str:
    """How far a cell is that is not done.

    >>> state_words(StudyCell({}, "", "", 40_000, "running", played=5_000))
    'running: 5,000 of 40,000 steps'
    """
    if cell.state == "failed":
        return f"failed: {cell.error}"
    if cell.state == "missing":
        return "missing: not run yet"
    return f"{cell.state}: {cell.played:,} of {cell.steps:,} steps"


def final_words(cell: StudyCell) -> str:
    """The score of the last evaluation, and of how many episodes."""
    if cell.result is None:
        return ""
    count = len(cell.result.last["returns"])
    share = cell.result.score("normalised")
    if share is not None:
        return f"final normalised return {share:.2f} (mean of {count} episodes)"
    return f"final return {cell.result.score('return'):.1f} steps (mean of {count} episodes)"


def last_video(run: Path, episode: int = 0) -> Path | None:
    """That episode of the last evaluation of a run that kept it: its seed is the same for all columns.

    >>> last_video(Path("no-such-run")) is None
    True
    """
    found = [path for path in (run / "videos").glob(f"*-{episode}.mp4") if _step(path).isdigit()]
    return max(found, key=lambda path: int(_step(path)), default=None)


def _step(video: Path) -> str:
    return video.stem.rpartition("-")[0]


def _success_words(run: Path, step: str, T: int) -> str:
    path = run / "evaluations" / f"{step}.npz"
    text = f"evaluation of step {int(step):,}"
    if not path.is_file():
        return text
    try:
        solved = int(read_shown(path)[0][1].sum())
    except (OSError, ValueError):
        return text
    return (
        f"{text}; solved in {solved} of the {T} steps shown" if solved else f"{text}; not solved in this one"
    )
