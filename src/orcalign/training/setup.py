"""From the folder of a run to its parts: reward, collector, players."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from orcalign.rewards import Staged, load_reward
from orcalign.training.collector import Collector
from orcalign.training.config import TrainConfig
from orcalign.training.players import InProcess, Players, Processes
from orcalign.training.run_folder import RunFolder


def make_collector(config: TrainConfig, folder: Path) -> Collector:
    """Everything that plays, in this process; `folder` holds what the reward is made from."""
    limit_threads(config)
    return Collector(config, load_reward(folder))


def make_players(run: RunFolder, workers: int | str) -> tuple[Players, Staged]:
    """As many collector processes (for 0, this one; for "ray:8", Ray actors), and the reward, side by side."""
    kind, count = parse_workers(workers)
    players: Players
    if count == 0:
        collector = make_collector(run.config, run.path)
        players = InProcess(collector)
        if not collector.reward.guide_dim:
            # Nothing in it changes while it only observes, so that one object serves both.
            return players, cast(Staged, collector.reward)
    elif kind == "ray":
        from orcalign.training.ray_players import RayPlayers

        players = RayPlayers(run.config, run.path, count)
    else:
        players = Processes(run.config, run.path, count)
    try:
        reward = cast(Staged, load_reward(run.path))
        # What has to be measured is measured now, while the collectors get ready.
        reward.state()
        return players, reward
    except BaseException:
        players.close()
        raise


def parse_workers(given: int | str) -> tuple[str, int]:
    """What kind of collectors, and how many.

    >>> parse_workers("2"), parse_workers("ray:8")
    (('process', 2), ('ray', 8))
    >>> parse_workers("many")
    Traceback (most recent call last):
    ...
    ValueError: workers is 'many'; it must be a number of processes from 0, or of Ray actors, as in ray:8.
    """
    kind, colon, number = str(given).rpartition(":")
    if (colon and kind != "ray") or not number.isdigit() or (colon and int(number) == 0):
        raise ValueError(
            f"workers is {given!r}; it must be a number of processes from 0, or of Ray actors, as in ray:8."
        )
    return ("ray" if colon else "process"), int(number)


def limit_threads(config: TrainConfig) -> None:
    """Torch in this process; sums of other numbers of threads round otherwise."""
    import torch

    torch.set_num_threads(config.threads)


def choose_device(name: str) -> str:
    """cuda, mps or cpu; `auto` takes the first that is there.

    >>> choose_device("cpu")
    'cpu'
    """
    import torch

    there = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    if name == "auto":
        return next(device for device, found in there.items() if found)
    if name.split(":")[0] not in there:
        raise ValueError(f"device is {name!r}; it must be one of auto, {', '.join(there)}.")
    if not there[name.split(":")[0]]:
        raise ValueError(f"device is {name!r}, which this machine does not have; use --device auto.")
    return name
