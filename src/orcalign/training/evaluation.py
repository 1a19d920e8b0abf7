"""What an evaluation says, and what is kept of it."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from orcalign.envs import expert_return
from orcalign.envs.demo_making import FPS
from orcalign.files import write_file
from orcalign.training.episode import PlayedEpisode
from orcalign.training.labels import Labels
from orcalign.video import write_mp4


def known_expert_return(task: str) -> float | None:
    """What the expert earns on the task; None where nobody has measured it, or it earns nothing.

    >>> known_expert_return("Pendulum-v1") is None
    True
    """
    try:
        return expert_return(task) or None
    except ValueError:
        return None


def summarise(episodes: list[PlayedEpisode], labels: Labels, expert: float | None) -> dict[str, Any]:
    """One record of the metrics; the return of an episode is the number of its steps that report success."""
    returns = [int(episode.success.sum()) for episode in episodes]
    followed = [labels.summary(episode.costs) for episode in episodes]
    mean = float(np.mean(returns))
    return {
        "episodes": len(episodes),
        "return": mean,
        "normalised": None if expert is None else mean / expert,
        "success_rate": float(np.mean([episode.success[-1] for episode in episodes])),
        "any_success_rate": float(np.mean([episode.success.any() for episode in episodes])),
        "env_return": float(np.mean([episode.env_rewards.sum() for episode in episodes])),
        **{
            name: float(np.mean([one[name] for one in followed]))
            for name in ("reward", "progress", "coverage")
        },
        "returns": returns,
        "successes": [bool(episode.success[-1]) for episode in episodes],
        "coverages": [one["coverage"] for one in followed],
        "progresses": [one["progress"] for one in followed],
    }


def mean_coverage(episodes: list[PlayedEpisode], labels: Labels) -> float:
    """How far the episodes follow the video: what a checkpoint is chosen by."""
    return float(np.mean([labels.summary(episode.costs)["coverage"] for episode in episodes]))


def keep_shown(run: Path, step: int, episodes: list[PlayedEpisode]) -> None:
    """Videos and costs of the episodes that are shown."""
    shown = [episode for episode in episodes if episode.frames is not None]
    if not shown:
        return
    arrays: dict[str, Any] = {"seeds": np.array([episode.seed for episode in shown])}
    for k, episode in enumerate(shown):
        assert episode.frames is not None
        for demo, cost in enumerate(episode.costs):
            arrays[f"cost_{k}" if demo == 0 else f"cost_{k}_{demo}"] = cost
        arrays[f"success_{k}"] = episode.success
        write_mp4(run / "videos" / f"{step:010d}-{k}.mp4", episode.frames, FPS)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    write_file(run / "evaluations" / f"{step:010d}.npz", buffer.getvalue())
