"""From a config to the parts of a run: demos, reward, collector, players."""

from __future__ import annotations

from pathlib import Path

from orcalign.encoders import make_encoder
from orcalign.envs import find_task, make_demo, make_demos
from orcalign.rewards import VideoReward
from orcalign.rewards.demos import as_demos
from orcalign.training.collector import Collector
from orcalign.training.config import TrainConfig
from orcalign.training.players import InProcess, Players, Processes
from orcalign.video import Demo


def find_demos(config: TrainConfig) -> tuple[tuple[Demo, ...], tuple[str, ...]]:
    """The demos of a run, read or made by the expert, and notes on how they came about.

    >>> from orcalign.training.config import TrainConfig
    >>> demos, _ = find_demos(TrainConfig("nav2d"))
    >>> len(demos[0]), demos[0].task
    (6, 'nav2d')
    """
    demo, collect = config.demo, config.collect
    if demo.demo:
        return as_demos(list(demo.demo)), ()
    spec = find_task(config.task)
    misaligned = demo.demo_kind == "misaligned"
    warp = None if demo.demo_kind in ("misaligned", "aligned") else demo.demo_kind
    if demo.demos == 1 and warp != "mixed":
        made, notes = make_demo(
            spec, demo.demo_seed, misaligned, warp, render=collect.render, size=collect.frame_size
        )
        return (made,), notes
    several, notes = make_demos(
        spec, demo.demos, demo.demo_seed, random_warp=warp, misaligned=misaligned, render=collect.render,
        size=collect.frame_size,
    )  # fmt: skip
    return several.demos, notes


def make_reward(config: TrainConfig, demo: Path) -> VideoReward:
    """The costs of a run; which method turns them into rewards is for `Labels` to say."""
    encoder, reward = config.encoder, config.reward
    made = make_encoder(
        encoder.encoder, size=encoder.encoder_size, weights=encoder.weights, engine=encoder.engine,
        threads=encoder.encoder_threads,
    )  # fmt: skip
    return VideoReward(
        as_demos(str(demo)), made, reward.distance, reward.context, reward.direction, pool=reward.pool
    )


def make_collector(config: TrainConfig, demo: Path) -> Collector:
    """Everything that plays, in this process."""
    limit_threads(config)
    return Collector(config, make_reward(config, demo))


def make_players(config: TrainConfig, demo: Path, workers: int | str) -> tuple[Players, VideoReward]:
    """As many collector processes (for 0, this one; for "ray:8", Ray actors), and the reward, side by side."""
    kind, count = parse_workers(workers)
    players: Players
    if count == 0:
        collector = make_collector(config, demo)
        return InProcess(collector), collector.reward
    if kind == "ray":
        from orcalign.training.ray_players import RayPlayers

        players = RayPlayers(config, demo, count)
    else:
        players = Processes(config, demo, count)
    try:
        return players, make_reward(config, demo)
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
