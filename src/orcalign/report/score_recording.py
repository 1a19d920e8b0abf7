"""Attempts at a demo as a recording for the Rerun viewer."""

from __future__ import annotations

from pathlib import Path

from orcalign.report.rrd import Track, curves_of, write_rrd
from orcalign.report.scoring import ScoreSheet


def write_score_recording(sheet: ScoreSheet, path: Path) -> None:
    """The demo and each attempt with its pictures, the first matcher's reward, and its progress."""
    tracks = [Track("demo", sheet.demo.fps, {}, sheet.demo.frames)]
    for k, attempt in enumerate(sheet.attempts):
        reward = next(iter(attempt.matches.values())).reward
        curves = curves_of(reward, attempt.progress, attempt.story)
        name = f"{k + 1} {Path(attempt.clip.path).stem}"
        tracks.append(Track(name, attempt.clip.fps, curves, attempt.clip.frames))
    write_rrd(path, Path(sheet.demo.path).name, tracks)
