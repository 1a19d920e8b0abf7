"""The episodes that a run's page shows, as a recording for the Rerun viewer."""

from __future__ import annotations

from pathlib import Path

from orcalign.report.rrd import Track, curves_of, write_rrd
from orcalign.report.training_run.reading import read_run
from orcalign.report.training_run.shown import shown_episodes
from orcalign.training.run_folder import run_reward


def write_run_recording(run: Path, path: Path) -> None:
    """Episodes of the first and the last evaluation with what the run pays for them as it is now, and the demos."""
    reward = run_reward(run)
    tracks = [Track(f"demo {k}", one.fps, {}, one.frames) for k, one in enumerate(reward.demos)]
    for episode in shown_episodes(read_run(run))[0]:
        told = reward.explain(episode.evidence)
        paid = reward.pay([episode.evidence])[0]
        covered = None if told is None else getattr(told.match.match, "progress", None)
        curves = {"next.reward": paid} if told is None or covered is None else curves_of(paid, covered, told.story)
        tracks.append(Track(episode.name.partition(",")[0], episode.fps, curves, episode.frames))
    write_rrd(path, run.name, tracks)
