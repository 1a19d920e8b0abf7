"""Run folders of a study → rows of short films: the demo, then what the policy of each column does in the end."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import numpy.typing as npt

from orcalign.experiments.results import StudyCell, StudyResults, label
from orcalign.experiments.study import SEEDED, parts
from orcalign.experiments.tables import heading
from orcalign.report.explainer.document import as_text
from orcalign.report.explainer.embedding import embed_frames
from orcalign.training.episode import read_shown
from orcalign.video import DemoSet, VideoOptions, read_video

PAGE_BYTES = 6_500_000
"""What all pictures of the page may take, before base64 makes a third more of them."""
LEAST_BYTES = 50_000
"""Of a film; where there would be less for each, those at the end are left out."""
LONGEST = 320
FRAMES = 120
"""Of a film; longer ones are shown at a lower rate."""
NO_VIDEO = "no video: made from a file of results"
NO_ROOM = "left out for the size of the page"


def study_settings(runs: StudyResults) -> dict[str, list[StudyCell]]:
    """Cells by what is neither column nor seed, in the order of the study: mostly by task.

    An axis that is the same everywhere is not part of the name, except the task.
    """
    sides = {*parts(runs.study.columns), *SEEDED}
    axes = [name for name in runs.cells[0].values if name not in sides]
    axes = [name for name in axes if name == "task" or len(runs.labels(name)) > 1]
    axes.sort(key=lambda name: name != "task")
    found: dict[str, list[StudyCell]] = {}
    for cell in runs.cells:
        words = [cell.values[name] if name == "task" else f"{name} {cell.values[name]}" for name in axes]
        found.setdefault(", ".join(words) or "all", []).append(cell)
    return found


def film_rows(runs: StudyResults, page: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """A row for every setting, of its first seed, as the page's script reads it; and what could not be shown."""
    settings, columns = study_settings(runs), runs.labels(runs.study.columns)
    budget = _Budget(len(settings) * (1 + len(columns)))
    problems: list[str] = []
    rows = []
    for name, cells in settings.items():
        firsts: dict[str, StudyCell] = {}
        for cell in cells:
            firsts.setdefault(label(cell.values, runs.study.columns), cell)
        films = [_demo(list(firsts.values()), budget, problems, runs.from_file)]
        for column in columns:
            if column in firsts:
                cell = firsts[column]
                film = _episode(cell, heading(column), budget, problems)
                own = link_to(None if cell.run is None else cell.run / "report.html", page)
                films.append({**film, "link": own})
        rows.append({"name": as_text(name), "films": films})
    if budget.refused:
        problems.append(
            f"Videos that were left out to keep the page below 10 MB: {budget.refused}. Narrow it with --only."
        )
    return rows, problems


def _film(
    name: str, score: str = "", note: str = "", clip: dict[str, Any] | None = None, hole: str = ""
) -> dict[str, Any]:
    """A place in a row: a clip, or the reason why there is none."""
    words = {"name": name, "score": score, "note": note, "hole": hole}
    return {**{key: as_text(value) for key, value in words.items()}, "clip": clip, "link": None}


def link_to(target: Path | None, page: Path) -> str | None:
    """A relative link from a page to a file; None if the file is not there."""
    if target is None or not target.is_file():
        return None
    return quote(Path(os.path.relpath(target.resolve(), page.parent.resolve())).as_posix())


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


def _demo(cells: Sequence[StudyCell], budget: _Budget, problems: list[str], from_file: bool) -> dict[str, Any]:
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
        return _film("Demo", words, note, clip, "" if clip else NO_ROOM)
    return _film("Demo", words, hole=NO_VIDEO if from_file else "not made yet")


def _episode(cell: StudyCell, name: str, budget: _Budget, problems: list[str]) -> dict[str, Any]:
    if cell.result is None:
        return _film(name, hole=state_words(cell))
    count, share = len(cell.result.last["returns"]), cell.result.score("normalised")
    steps = f"return {cell.result.score('return'):.1f} steps"
    score = steps if share is None else f"normalised return {share:.2f}"
    score = f"final {score} (mean of {count} episodes)"
    if cell.run is None:
        return _film(name, score, hole=NO_VIDEO)
    video = last_video(cell.run)
    if video is None:
        return _film(name, score, hole="the run kept no video")
    try:
        read = read_video(video, VideoOptions(longest=LONGEST))
        clip = budget.clip(read.frames, read.fps)
    except (OSError, ValueError) as error:
        problems.append(f"The video of {name} in run {cell.key} cannot be shown ({error}).")
        return _film(name, score, hole="the video cannot be read")
    note = _success_words(cell.run, _step(video), len(read.frames))
    return _film(name, score, note, clip, "" if clip else NO_ROOM)


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
    text = f"evaluation of step {int(step):,}"
    try:
        solved = int(read_shown(run / "evaluations" / f"{step}.npz")[0][1].sum())
    except (OSError, ValueError):
        return text
    return f"{text}; solved in {solved} of the {T} steps shown" if solved else f"{text}; not solved in this one"
