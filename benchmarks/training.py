"""make bench: agent steps per second of `orcalign train` end to end, and each part of it alone.

python -m benchmarks.training [--quick]
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import gymnasium

from benchmarks.timing import machine, store
from benchmarks.training_parts import parts_alone
from benchmarks.training_table import COLLECT, COLLECTORS, FOLLOW, LEARN, PICTURES, TASK, Row, as_markdown
from orcalign.envs.wrappers import Frames
from orcalign.training import TrainConfig, Training, start_run
from orcalign.training.players import InProcess
from orcalign.training.presets import config as config_of

AUTHORS = "paper, as its authors' code"


class Clock:
    """Notes when each episode was learned from."""

    def __init__(self) -> None:
        self.seen: list[tuple[float, Row]] = []

    def write(self, record: Row) -> None:
        if record["kind"] == "episode":
            self.seen.append((time.perf_counter(), record))

    @property
    def steps(self) -> int:
        return self.seen[-1][1]["step"] if self.seen else 0


class BothFrames(gymnasium.Wrapper):  # type: ignore[type-arg]
    """Draws once more for every frame: the authors' code draws after each of the two simulation steps."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        while not isinstance(env, Frames):
            env = env.env
        self._frames = env

    def render(self) -> Any:
        self.env.render()
        self._frames._frame = None
        return self.env.render()


@dataclass(frozen=True)
class Amount:
    """How long to measure."""

    warm: int = 1000
    timed: int = 3000
    warm_paper: int = 63
    timed_paper: int = 126
    budget: float = 2.0
    episodes: int = 5


QUICK = Amount(warm=126, timed=252, timed_paper=63, budget=0.2, episodes=1)


def without_evaluations(config: TrainConfig) -> TrainConfig:
    """One short look before the first step is the least that a run can do."""
    nothing = replace(config.evaluation, eval_every=10**9, eval_episodes=1, eval_shown=0, eval_choosing=0)
    return replace(config, evaluation=nothing)


SMALL_EYE = {"follow.posed_frames": 300, "follow.posed_updates": 50}
"""How well it sees does not change how fast a run is; a run that makes it takes it from the cache afterwards."""


def laptop(quick: bool, recipe: str = "orca_np") -> TrainConfig:
    eye = SMALL_EYE if recipe == FOLLOW else {}
    config = without_evaluations(config_of(TASK, "laptop", recipe, eye))
    if not quick:
        return config
    return replace(config, collect=replace(config.collect, learning_starts=63, random_steps=63))


def paper(weights: Path, engine: str) -> TrainConfig:
    """Updates from the first episode on: what an update takes does not depend on how much there is to draw from."""
    config = without_evaluations(config_of(TASK, "paper", "orca_np"))
    return replace(
        config,
        encoder=replace(config.encoder, weights=str(weights), engine=engine),
        agent=replace(config.agent, hidden=1024),
        collect=replace(config.collect, learning_starts=0, random_steps=0),
    )


def random_resnet50(path: Path) -> Path:
    """A file in torchvision's layout with random weights: as much work as the real ones."""
    import torch
    from safetensors.torch import save_file

    from orcalign.encoders.networks.resnet import ResNet

    generator = torch.Generator().manual_seed(0)
    state = {}
    for name, tensor in ResNet(50).state_dict().items():
        if not name.endswith(".weight"):
            continue
        deviation = (2 / tensor[0].numel()) ** 0.5
        state[name] = torch.randn(tensor.shape, generator=generator) * deviation
        layer = name.removesuffix(".weight")
        norm = layer.replace("downsample.0", "downsample.1").replace("conv", "bn")
        # Halved, so that the sums of sixteen blocks stay in range.
        for part, value in (("weight", 0.5), ("bias", 0.0), ("running_mean", 0.0), ("running_var", 1.0)):
            state[f"{norm}.{part}"] = torch.full((len(tensor),), value)
    save_file(state, path)
    return path


def end_to_end(config: TrainConfig, out: Path, workers: int, warm: int, timed: int, both_frames: bool = False) -> Row:
    """Agent steps per second between the first episode that ends after `warm` steps and `timed` steps later."""
    clock = Clock()
    training = Training(start_run(config, out), workers, "cpu", [clock], checkpoint_minutes=1e6)
    sampled = timed_draws(training)
    if both_frames:
        (line,) = training.players._lines
        assert isinstance(line, InProcess)
        collector = line.collector
        collector.env = BothFrames(collector.env)
    try:
        training.go(lambda: clock.steps >= warm + timed)
    finally:
        training.close()
    first = next(k for k, (_, record) in enumerate(clock.seen) if record["step"] >= warm)
    (begin, before), *rest = clock.seen[first:]
    steps = rest[-1][1]["step"] - before["step"]
    timings = [record["timing"] for _, record in rest]
    parts = {name: sum(timing.get(name, 0.0) for timing in timings) / steps for name in (*COLLECT, *LEARN)}
    updates = rest[-1][1]["updates"] - before["updates"]
    parts["sample"] = sum(sampled) / max(1, len(sampled)) * updates / steps
    parts["update"] -= parts["sample"]
    spent = rest[-1][0] - begin
    return {
        "steps": steps,
        "seconds": spent,
        "steps/s": steps / spent,
        "updates": updates,
        "seconds per agent step": parts,
    }


def timed_draws(training: Training) -> list[float]:
    """Seconds of each draw from the replay, as they come."""
    replay, found = training.learner.replay, list[float]()
    draw = replay.sample

    def sample(*arguments: Any, **options: Any) -> Any:
        start = time.perf_counter()
        batch = draw(*arguments, **options)
        found.append(time.perf_counter() - start)
        return batch

    replay.sample = sample  # type: ignore[method-assign]
    return found


def bars(runs: dict[str, Row]) -> list[Row]:
    rate = {name: row["steps/s"] for name, row in runs.items()}
    fast = rate["laptop"]
    wanted = (
        ("laptop / paper", fast / rate["paper"], 45.0, "100"),
        (f"laptop / {AUTHORS}", fast / rate[AUTHORS], 45.0, "100"),
        ("laptop, agent steps/s, on a quiet machine", fast, 80.0, ""),
        (
            "collector and learner / one process",
            rate["laptop, one collector"] / rate["laptop, one process"],
            1.5,
            "",
        ),
        (f"{FOLLOW} / {PICTURES}", rate[FOLLOW] / rate[PICTURES], 2.0, "3"),
    )
    return [
        {"bar": name, "value": value, "needed": needed, "goal": goal, "met": value >= needed}
        for name, value, needed, goal in wanted
    ]


def main() -> None:
    quick = "--quick" in sys.argv
    amount = QUICK if quick else Amount()
    here = {**machine(), "torch": version("torch"), "load": os.getloadavg()[0]}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # A network with random weights has no place in the user's cache.
        os.environ["ORCALIGN_CACHE"] = str(folder / "cache")
        small, weights = laptop(quick), random_resnet50(folder / "resnet50.safetensors")
        times, few = (amount.warm, amount.timed), (amount.warm_paper, amount.timed_paper)
        runs = {
            "laptop": end_to_end(small, folder / "two", COLLECTORS, *times),
            "laptop, one collector": end_to_end(small, folder / "side", 1, *times),
            "laptop, one process": end_to_end(small, folder / "one", 0, *times),
            **{
                recipe: end_to_end(laptop(quick, recipe), folder / recipe, COLLECTORS, *times)
                for recipe in (PICTURES, FOLLOW)
            },
            "paper": end_to_end(paper(weights, "auto"), folder / "paper", 0, *few),
            AUTHORS: end_to_end(paper(weights, "torch"), folder / "authors", 0, *few, both_frames=True),
        }
        alone = parts_alone(small, folder / "two", amount.budget, amount.episodes)
    promised = bars(runs)
    table = as_markdown(here, runs, alone, promised)
    print(table)
    if not quick:
        content = {"machine": here, "bars": promised, "runs": runs, "alone, seconds per agent step": alone}
        store("training", {"command": "python -m benchmarks.training", **content}, table)
        print("stored in benchmarks/results")


if __name__ == "__main__":
    main()
