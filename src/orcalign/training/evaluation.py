"""What an evaluation says, and what is kept of it."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from orcalign.envs import episode_return, expert_return
from orcalign.envs.demo_making import FPS
from orcalign.files import write_file
from orcalign.rewards import Evidence, Reward
from orcalign.training.episode import EVIDENCE, PlayedEpisode
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


def summarise(
    episodes: list[PlayedEpisode], reward: Reward, task: str, expert: float | None
) -> dict[str, Any]:
    """One record of the metrics; the task says how a return is counted, the reward how the demo is followed."""
    returns = [episode_return(task, episode.success) for episode in episodes]
    summaries = [reward.summary(episode.evidence) for episode in episodes]
    each = {name: [one[name] for one in summaries] for name in summaries[0]}
    mean = float(np.mean(returns))
    return {
        "episodes": len(episodes),
        "return": mean,
        "normalised": None if expert is None else mean / expert,
        "success_rate": float(np.mean([episode.success[-1] for episode in episodes])),
        "any_success_rate": float(np.mean([episode.success.any() for episode in episodes])),
        "env_return": float(np.mean([episode.env_rewards.sum() for episode in episodes])),
        **{name: float(np.mean(values)) for name, values in each.items()},
        "returns": returns,
        "successes": [bool(episode.success[-1]) for episode in episodes],
        "each": each,
    }


def keep_shown(run: Path, step: int, episodes: list[PlayedEpisode]) -> None:
    """Videos and evidence of the episodes that are shown; `read_shown` reads them."""
    shown = [episode for episode in episodes if episode.frames is not None]
    if not shown:
        return
    arrays: dict[str, Any] = {"seeds": np.array([episode.seed for episode in shown])}
    for k, episode in enumerate(shown):
        assert episode.frames is not None
        arrays |= {f"{k}/{EVIDENCE}{name}": array for name, array in episode.evidence.arrays.items()}
        arrays[f"{k}/success"] = episode.success
        write_mp4(run / "videos" / f"{step:010d}-{k}.mp4", episode.frames, FPS)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    write_file(run / "evaluations" / f"{step:010d}.npz", buffer.getvalue())


def read_shown(path: Path) -> list[tuple[Evidence, Any]]:
    """Evidence and success [T] of each episode that an evaluation kept; a ValueError if the file is damaged."""
    shown = []
    try:
        # From memory: NumPy leaves a file open that is no archive.
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
            for k in range(len(arrays["seeds"])):
                prefix = f"{k}/{EVIDENCE}"
                kept = {name.removeprefix(prefix): arrays[name] for name in arrays if name.startswith(prefix)}
                success = arrays[f"{k}/success"]
                shown.append((Evidence(len(success), kept), success))
    except (BadZipFile, EOFError, KeyError) as error:
        raise ValueError(f"{path.name} is damaged: {error}") from None
    return shown
