"""From a config to the parts of a run: demos, reward, collector, players."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from orcalign.encoders import make_encoder
from orcalign.envs import find_task, make, make_demo, make_demos, train_seed
from orcalign.rewards import Finder, ObjectView, VideoReward
from orcalign.rewards.demos import as_demos
from orcalign.training.collector import Collector
from orcalign.training.config import TrainConfig
from orcalign.training.players import InProcess, Players, Processes
from orcalign.video import Demo

LOOKED_AT = 10
"""First frames in which the object is looked for."""
LOOKING = 2**61
"""Instead of a run's seed, so that these episodes are none that a run is trained with."""


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
    demos = as_demos(str(demo))
    finder = find_object(config, demos[0]) if encoder.look != "whole" and len(demos) == 1 else None
    if finder is not None:
        made = ObjectView(made, finder, changes=encoder.look != "square")
    return VideoReward(demos, made, reward.distance, reward.context, reward.direction, pool=reward.pooling)


def find_object(config: TrainConfig, demo: Demo) -> Finder | None:
    """What finds the demo's object in an episode's first frame; None where there is none to find."""
    collect = config.collect
    env = make(config.task, collect.render, config.seed, size=collect.frame_size)
    env.action_space.seed(0)
    firsts, nexts = [], []
    for k in range(LOOKED_AT):
        env.reset(seed=train_seed(k, LOOKING))
        firsts.append(np.array(env.render()))
        env.step(env.action_space.sample())
        nexts.append(np.array(env.render()))
    env.close()
    if demo.frames.shape[1:] != firsts[0].shape:
        # A video of somebody's own has its own size; in it an object of these pictures cannot be looked for.
        return None
    return Finder.learn(demo.frames, firsts, nexts, follow=config.encoder.look == "object")


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
