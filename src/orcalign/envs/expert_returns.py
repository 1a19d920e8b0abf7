"""What the expert earns on each task (see `episode_return`): measured, stored with its origin, used for normalising."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from orcalign.checks import require_count
from orcalign.envs.metaworld import HELD_OUT_TASKS
from orcalign.envs.seeds import eval_seed
from orcalign.envs.suite import find_suite
from orcalign.envs.tasks import TASKS, TaskSpec, find_task
from orcalign.files import write_file

FILE = "expert_returns.json"
COMMAND = "orcalign tasks --measure-experts"
MEASURED = (*(name for name, spec in TASKS.items() if find_suite(spec.suite).plays), *HELD_OUT_TASKS)
PACKAGES = ("orcalign", "metaworld", "mujoco", "gymnasium", "numpy")


def measure_expert_returns(
    tasks: Sequence[str | TaskSpec] = MEASURED,
    seeds: int = 10,
    progress: Callable[[str, float], None] | None = None,
) -> dict[str, Any]:
    """Play the expert on the first `seeds` evaluation episodes of each task; physics only.

    Returns the record that `store_expert_returns` writes. `progress` is told each task and its mean return.

    >>> record = measure_expert_returns(["nav2d-grid"], seeds=2)
    >>> record["tasks"]["nav2d-grid"]["returns"], record["seeds"] == [eval_seed(0), eval_seed(1)]
    ([9, 9], True)
    """
    from orcalign.envs.experts import rollout_expert

    require_count(seeds, "seeds", at_least=1)
    played = [eval_seed(k) for k in range(seeds)]
    measured: dict[str, Any] = {}
    for spec in map(find_task, tasks):
        episodes = [rollout_expert(spec, seed) for seed in played]
        mean = sum(episode.total for episode in episodes) / seeds
        measured[spec.name] = {
            "mean": mean,
            "returns": [episode.total for episode in episodes],
            "succeeded": sum(episode.succeeded for episode in episodes),
            "episode_steps": spec.episode_steps,
            "action_repeat": spec.action_repeat,
        }
        if progress is not None:
            progress(spec.name, mean)
    versions = {name: metadata.version(name) for name in PACKAGES}
    versions["python"] = platform.python_version()
    return {
        "what": "agent steps that report success, scripted expert acting at every simulation step",
        "command": COMMAND,
        "versions": versions,
        "machine": f"{platform.system()} {platform.machine()}",
        "seeds": played,
        "tasks": measured,
    }


def store_expert_returns(record: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Write a record as JSON, whole or not at all.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store_expert_returns(measure_expert_returns(["nav2d-grid"], seeds=1), Path(folder) / FILE)
    ...     expert_return("nav2d-grid", Path(folder) / FILE)
    9.0
    """
    write_file(Path(path), (json.dumps(record, indent=1) + "\n").encode())


def expert_return(task: str | TaskSpec, path: str | os.PathLike[str] | None = None) -> float:
    """Mean return of the expert on the task, from the record of this package or the one at `path`.

    >>> expert_return("door-close") > 20
    True
    >>> expert_return("reach")
    Traceback (most recent call last):
    ...
    ValueError: no expert return of 'reach' has been measured; measure it with: orcalign tasks --measure-experts ...
    """
    spec = find_task(task)
    record = load_expert_returns(path)
    entry = record["tasks"].get(spec.name)
    if entry is None:
        raise ValueError(
            f"no expert return of {spec.name!r} has been measured; measure it with: {COMMAND} "
            f"(known: {', '.join(record['tasks'])})."
        )
    if (entry["episode_steps"], entry["action_repeat"]) != (spec.episode_steps, spec.action_repeat):
        raise ValueError(
            f"the expert return of {spec.name!r} was measured with {entry['episode_steps']} steps and action "
            f"repeat {entry['action_repeat']}, and the task has {spec.episode_steps} and {spec.action_repeat}; "
            f"measure it again with: {COMMAND}."
        )
    return float(entry["mean"])


def load_expert_returns(path: str | os.PathLike[str] | None = None) -> dict[str, Any]:
    """The record of this package, or the one at `path`.

    >>> sorted(load_expert_returns())
    ['command', 'machine', 'seeds', 'tasks', 'versions', 'what']
    """
    if path is None:
        return _packaged()
    try:
        record: dict[str, Any] = json.loads(Path(path).read_text("utf-8"))
        for entry in record["tasks"].values():
            float(entry["mean"]), int(entry["episode_steps"]), int(entry["action_repeat"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{str(path)!r} is not a record of expert returns ({error!r}); write a new one with: {COMMAND}."
        ) from None
    return record


@cache
def _packaged() -> dict[str, Any]:
    return load_expert_returns(Path(__file__).with_name(FILE))
