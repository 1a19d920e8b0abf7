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
from orcalign.envs.wrappers import Frames
from orcalign.training import TrainConfig, Training, start_run
from orcalign.training.players import InProcess
from orcalign.training.presets import config as config_of

TASK = "door-close"
COLLECT = ("simulate", "render", "observe")
LEARN = ("keep", "sample", "update", "wait")
COLLECTORS = 2
"""As `orcalign train` has it."""
AUTHORS = "paper, as its authors' code"
Row = dict[str, Any]


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
        self._frames._draw()
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


def laptop(quick: bool) -> TrainConfig:
    config = without_evaluations(config_of(TASK, "laptop", "orca_np"))
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
    )
    return [
        {"bar": name, "value": value, "needed": needed, "goal": goal, "met": value >= needed}
        for name, value, needed, goal in wanted
    ]


def as_markdown(here: Row, runs: dict[str, Row], alone: dict[str, float], promised: list[Row]) -> str:
    played_alone = sum(alone[name] for name in ("simulator", "policy", "renderer", "observe"))
    learned_alone = alone["pay"] + alone["sample"] + alone["update"]
    work = played_alone + learned_alone
    lines = [
        "# Training: how fast",
        "",
        f"`python -m benchmarks.training` on {here['cpu']}, {here['cores']} cores, Python {here['python']}, torch "
        f"{here['torch']}; load before it began: {here['load']:.1f}.",
        f"{TASK}, from the demo to the updated networks, evaluations left out. `paper` has 1,024 hidden units, 480 px",
        "rendering and ResNet50's layout with **random weights** (the work is the same, the features mean nothing),",
        "measured from the second episode on, with updates from the first. *As its authors' code* also draws a frame",
        "after each of the two simulation steps and runs ResNet50 in eager torch; our `paper` draws the one that is",
        "used and runs the network in OpenVINO.",
        "",
        "| bar | measured | needed | goal | met |",
        "|---|---|---|---|---|",
        *(
            f"| {one['bar']} | {one['value']:.3g} | {one['needed']:g} | {one['goal']} "
            f"| {'yes' if one['met'] else '**no**'} |"
            for one in promised
        ),
        "",
        f"Milliseconds per agent step. `laptop` has {COLLECTORS} collectors beside the learner, as `orcalign train`.",
        "Collectors simulate, render and observe (encode and compare) while the learner does the rest; in one process",
        "*wait* is the playing.",
        "",
        f"| run | agent steps/s | steps timed | {' | '.join((*COLLECT, *LEARN))} |",
        "|---" * (3 + len(COLLECT) + len(LEARN)) + "|",
    ]
    for name, row in runs.items():
        spent = " | ".join(f"{1e3 * row['seconds per agent step'][part]:.3g}" for part in (*COLLECT, *LEARN))
        lines.append(f"| {name} | {row['steps/s']:.3g} | {row['steps']:,} | {spent} |")
    lines += [
        "",
        "## Each part of `laptop`, and what is left to its limit",
        "",
        "*In the loop* is the part in the run with collectors and a learner, which share cores, caches, memory and",
        "whatever else the machine does; *share* is that of all work there. The *limit* is the part alone, with the",
        "machine to itself, one thread, best of several; for an update, its matrix products. *Left* is what the loop",
        "would save per agent step at the limit. Encode and match are one measurement in the loop, shared out as alone.",
        "",
        "| part | in the loop, ms | share | alone, ms | limit, ms | left, ms |",
        "|---|---|---|---|---|---|",
        *left_of(runs["laptop"]["seconds per agent step"], alone),
        "",
    ]
    rate, cores = runs["laptop"]["steps/s"], here["cores"]
    two = alone["update, second thread"]
    lines += [
        f"Playing alone would reach {1 / played_alone:.0f} agent steps/s and learning alone {1 / learned_alone:.0f}; "
        f"both spread over {cores} cores without loss {cores / work:.0f}, and the run is at "
        f"{rate * work / cores:.0%} of that.",
        f"Matrix products are {alone['update, matrix products'] / alone['update']:.0%} of an update in one thread. "
        f"Where a core is free, half of an update is done there, which takes {1e3 * two:.3g} ms instead of "
        f"{1e3 * alone['update']:.3g}: {alone['update'] / two:.2f} times as fast.",
    ]
    return "\n".join(lines) + "\n"


def left_of(loop: dict[str, float], alone: dict[str, float]) -> list[str]:
    """Rows of the table, one a part."""
    encoding = loop["observe"] * alone["encode"] / (alone["encode"] + alone["match"])
    rows = {
        "simulate, with the policy": (loop["simulate"], alone["simulator"] + alone["policy"]),
        "render": (loop["render"], alone["renderer"]),
        "encode, 128 px": (encoding, alone["encode"]),
        "match": (loop["observe"] - encoding, alone["match"]),
        "pay and keep": (loop["keep"], alone["pay"]),
        "sample": (loop["sample"], alone["sample"]),
        "update": (loop["update"], alone["update"]),
    }
    work = sum(value for value, _ in rows.values())
    lines = []
    for name, (value, by_itself) in rows.items():
        limit = alone["update, matrix products"] if name == "update" else by_itself
        numbers = " | ".join(f"{1e3 * one:.3g}" for one in (by_itself, limit, max(0.0, value - limit)))
        lines.append(f"| {name} | {1e3 * value:.3g} | {value / work:.0%} | {numbers} |")
    return [*lines, f"| wait | {1e3 * loop['wait']:.3g} | no work | | 0 | {1e3 * loop['wait']:.3g} |"]


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
