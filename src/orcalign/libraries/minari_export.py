"""The episodes of a run as a Minari data set, for offline reinforcement learning."""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from orcalign.envs import make
from orcalign.training.collector import rescale
from orcalign.training.episode import EpisodeStore, PlayedEpisode
from orcalign.training.run_folder import RunFolder


def export_minari(run: RunFolder, name: str) -> Path:
    """Write the episodes that a run keeps as the data set `name` (such as `door-close/video-v0`); its folder.

    Observations [T+1, D] are those that the policy saw, actions [T, A] those that the environment was given, rewards
    [T] those that the run's reward pays with what it has learned; the environment's own are in `infos["env_reward"]`
    beside `infos["success"]`, both [T+1] with nothing at the reset. `minari.load_dataset(name)` reads it.
    """
    minari = _minari()
    from gymnasium.spaces import Box
    from minari.storage.datasets_root_dir import get_dataset_path

    numbers = sorted(int(path.stem) for path in (run.path / "episodes").glob("*.npz"))
    if not numbers:
        raise ValueError(f"the run {str(run.path)!r} keeps no episodes yet; export it when it has played some.")
    folder = Path(get_dataset_path(name))
    if folder.exists():
        raise FileExistsError(f"the data set {name!r} is there already, in {str(folder)!r}; give it another name.")
    store = EpisodeStore(run.path / "episodes")
    episodes = [PlayedEpisode.from_bytes(store.path(number).read_bytes()) for number in numbers]
    env = make(run.config.task, render=None, repeat=run.config.collect.repeat)
    space: Any = env.action_space
    env.close()
    rewards = run.reward().pay([one.evidence for one in episodes])
    first = episodes[0].observations
    low, high = (0, 255) if first.dtype == np.uint8 else (-np.inf, np.inf)
    facts: dict[str, Any] = {
        "observation_space": Box(low, high, first.shape[1:], first.dtype.type),
        "action_space": Box(space.low, space.high, dtype=np.float32),
        "algorithm_name": run.config.agent.agent,
        "description": f"{run.config.task}: episodes of a policy that learned with orcalign, recipe "
        f"{run.config.label}; rewards are those of following a video.",
    }
    buffers = [
        _buffer(minari, k, one, paid, rescale(one.actions, space.low, space.high))
        for k, (one, paid) in enumerate(zip(episodes, rewards, strict=True))
    ]
    try:
        with warnings.catch_warnings():
            # It wishes for an author, an e-mail address and a link.
            warnings.simplefilter("ignore", UserWarning)
            minari.create_dataset_from_buffers(name, buffers, jpeg_encoding=False, **facts)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


def _buffer(minari: Any, number: int, episode: PlayedEpisode, rewards: Any, actions: Any) -> Any:
    ends = np.zeros((2, len(episode)), bool)
    ends[0 if episode.terminated else 1, -1] = True
    return minari.data_collector.EpisodeBuffer(
        id=number,
        seed=episode.seed,
        observations=episode.observations,
        actions=actions,
        rewards=rewards.astype(np.float64).tolist(),
        terminations=ends[0].tolist(),
        truncations=ends[1].tolist(),
        infos={
            "env_reward": np.append(0.0, episode.env_rewards),
            "success": np.append(False, episode.success),
        },
    )


def _minari() -> Any:
    try:
        import h5py  # noqa: F401 (in which it writes)
        import minari
    except ModuleNotFoundError as error:
        raise ValueError(
            f"exporting needs {error.name}, which is not installed; install it with: pip install 'orcalign[minari]'."
        ) from None
    return minari
