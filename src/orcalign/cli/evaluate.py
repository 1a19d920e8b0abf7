"""orcalign eval"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console
from rich.progress import track
from rich.table import Table


def evaluate(
    run: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")],
    /,
    episodes: int = 10,
    policy: str = "last",
    video: bool = False,
    out: Path | None = None,
) -> None:
    """Play the policy of a run on held-out episodes, without exploration.

    Args:
        run: Folder of a run of `orcalign train`.
        episodes: How many; the first ones are those of the evaluations during training.
        policy: last, or best (by what the reward says of the evaluations; of a video, ordered coverage).
        video: Write a video of every episode; without, only as many are drawn, and measured by the reward, as the run
            shows of its evaluations. Return and success need no pictures.
        out: Folder for the numbers and videos; left out, RUN/eval.
    """
    from orcalign.checks import require
    from orcalign.cli.train import find_own_modules, outcome
    from orcalign.envs import eval_seed
    from orcalign.envs.demo_making import FPS
    from orcalign.files import read_arrays, require_writable, write_file
    from orcalign.training import RunFolder
    from orcalign.training.collector import Order
    from orcalign.training.episode import known_expert_return, summarise
    from orcalign.training.players import make_collector
    from orcalign.training.policy import WHICH, policy_file, policy_parts
    from orcalign.video import write_mp4

    require("episodes", episodes, at_least=1)
    require("policy", policy, WHICH)
    find_own_modules()
    folder = RunFolder(run)
    arrays, about = read_arrays(policy_file(folder, policy))
    where = out or run / "eval"
    numbers = where / f"{policy}.json"
    require_writable(numbers)
    collector = make_collector(folder.config, folder.path)
    weights, guide = policy_parts(arrays, about)
    played = []
    drawn = episodes if video else folder.config.evaluation.eval_shown
    for k in track(range(episodes), "playing", console=Console(stderr=True), transient=True):
        seed, step = eval_seed(k), about["step"]
        order = Order(k, seed, weights, show=video, observe=k < drawn, evaluation=step, reward=guide)
        episode = collector.play(order)
        if video and episode.frames is not None:
            write_mp4(where / f"{policy}-{k}.mp4", episode.frames, FPS)
        played.append(episode)
    collector.close()
    # How the demo is followed, by the reward that the run has come to.
    task, stored = folder.config.task, folder.facts.get("expert_return")
    expert = stored or known_expert_return(task, lambda text: print(text, file=sys.stderr))
    record = summarise(played, folder.reward(), task, expert)
    write_file(numbers, json.dumps({"policy": policy, "step": about["step"], **record}, indent=1).encode())
    table = Table("episode", title=f"{folder.config.task}: {policy} policy, after {about['step']:,} steps")
    silent = record["success_rate"] is None
    for heading in (*(("environment's own return",) if silent else ("return", "success at the end")), *record["each"]):
        table.add_column(heading, justify="right")
    measured = iter(zip(*record["each"].values(), strict=True))
    for k in range(episodes):
        if silent:
            told: tuple[str, ...] = (f"{record['env_returns'][k]:.3g}",)
        else:
            told = str(record["returns"][k]), "yes" if record["successes"][k] else "no"
        followed = next(measured) if played[k].observed else ()
        table.add_row(str(k), *told, *(f"{value:.2f}" for value in followed))
    console = Console()
    console.print(table)
    console.print(f"The policy {outcome(record)}.", highlight=False)
    if 0 < record["measured"] < episodes:
        console.print(
            f"{', '.join(record['each'])}: of the {record['measured']} episodes that were drawn", highlight=False
        )
    console.print(f"numbers: {numbers}", soft_wrap=True, highlight=False)
