"""A demo and agents' episodes beside it, from run folders or from the films that ship."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from orcalign.matching import Match, context, matcher
from orcalign.matching.match import FloatArray
from orcalign.report.figures import FigureSpec, Method
from orcalign.report.plots import LONGEST, video_of_run
from orcalign.rewards import VideoReward
from orcalign.video import VideoOptions, read_video

Frames = npt.NDArray[np.uint8]
CONTEXT = 3
"""Of films' costs, as in the paper."""


@dataclass(frozen=True, eq=False)
class Agent:
    """One episode of an agent."""

    name: str
    what: str
    """Who played it."""
    frames: Frames
    """[T, H, W, 3]"""
    success: npt.NDArray[np.bool_]
    """[T]"""
    match: Callable[[Method], Match]
    """Rewards [T] and assignment [T, J] under a matcher."""

    def total(self, method: Method) -> float:
        """Sum of the rewards."""
        return float(self.match(method).reward.sum())


@dataclass(frozen=True, eq=False)
class Scene:
    """Agents at one demo."""

    demo: Frames
    """[J, H, W, 3]"""
    agents: tuple[Agent, ...]
    note: str
    """Where agents and costs come from."""

    def failed_claims(self, spec: FigureSpec, margin: float = 0.0) -> list[str]:
        """What a figure says of its own films and is not so here, by that share of the larger total."""
        found = []
        for number, more, less in spec.claims:
            method, paid, other = spec.methods[number], self.agents[more], self.agents[less]
            totals = paid.total(method), other.total(method)
            if not totals[0] - totals[1] > margin * max(map(abs, totals)):
                found.append(f"{method.label} does not pay {paid.name!r} more than {other.name!r}")
        return found


def by_costs(cost: FloatArray, method: Method) -> Match:
    """The match by costs [T, J] before context."""
    return matcher(method.matcher)(context(cost, CONTEXT), **method.settings)


def from_films(name: str) -> Scene:
    """The films of a figure that ship; `python -m benchmarks.figure_films` makes them."""
    with as_file(files(__package__).joinpath("films", name)) as folder:
        return read_films(folder)


def read_films(folder: Path) -> Scene:
    """A folder of films: demo.mp4, and of each agent a video, costs [T, J] and success [T]."""
    about = json.loads((folder / "about.json").read_text("utf-8"))
    agents = []
    with np.load(io.BytesIO((folder / "costs.npz").read_bytes()), allow_pickle=False) as arrays:
        for k, words in enumerate(about["agents"]):
            frames, cost = read_video(folder / f"{k}.mp4").frames, arrays[f"cost_{k}"].astype(np.float64)
            agents.append(Agent(**words, frames=frames, success=arrays[f"success_{k}"], match=partial(by_costs, cost)))
    return Scene(read_video(folder / "demo.mp4").frames, tuple(agents), about["note"])


def from_runs(runs: Sequence[Path], task: str) -> Scene:
    """What the agents of runs do in the same episode of their last evaluations, by the costs of the runs.

    All runs must be of the task, with one demo and one way of seeing; a ValueError if they are not.
    """
    rewards = [_video_reward(run, task) for run in runs]
    first = rewards[0]
    for run, reward in zip(runs, rewards, strict=True):
        if not np.array_equal(reward.demos[0].frames, first.demos[0].frames):
            raise ValueError(f"'{run}' follows another demo than '{runs[0]}'; give runs of one demo.")
        if _seen(reward) != _seen(first):
            raise ValueError(
                f"'{run}' sees frames in another way than '{runs[0]}' ({_differences(_seen(reward), _seen(first))}), "
                "so their costs cannot be compared; give runs of one encoder, look, distance and context."
            )
    # One reward for all: what a run has measured besides its costs, such as a temperature, may differ.
    agents = [_played(run, first) for run in runs]
    names = [agent.name for agent in agents]
    if len({*names}) < len(names):
        named = zip(agents, runs, strict=True)
        agents = [replace(agent, name=f"{agent.name}, {run.name}") for agent, run in named]
    seen = _seen(first)
    by = "a joint predictor" if "predictor" in seen else f"{seen['encoder']}, {seen['size']} px"
    note = (
        f"{task}; trained agents, episode 0 of their last evaluations. Costs of the runs: {by}, look {seen['look']}, "
        f"{seen['distance']}, context {seen['context']}."
    )
    return Scene(first.demos[0].frames, tuple(agents), note)


def _video_reward(run: Path, task: str) -> VideoReward:
    from orcalign.envs import find_task
    from orcalign.training.run_folder import RunFolder, run_reward

    given = find_task(RunFolder(run).config.task).name
    if given != task:
        raise ValueError(f"'{run}' is a run on {given}, and this figure is about {task}; give runs on {task}.")
    found = run_reward(run).find(VideoReward)
    if found is None:
        raise ValueError(f"'{run}' is not rewarded by a video, so there is nothing to match; give a run that is.")
    return found


def _seen(reward: VideoReward) -> dict[str, Any]:
    settings = reward.settings
    return {**reward.describe()["costs"], "context": settings.context, "direction": settings.direction}


def _differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    names = sorted({*one, *other})
    return ", ".join(
        f"{name} {one.get(name)}, not {other.get(name)}" for name in names if one.get(name) != other.get(name)
    )


def _played(run: Path, reward: VideoReward) -> Agent:
    from orcalign.training.episode import read_shown
    from orcalign.training.presets import RECIPES
    from orcalign.training.run_folder import RunFolder, run_reward

    config, film = RunFolder(run).config, video_of_run(run)
    step = film.stem.rpartition("-")[0]
    evidence, success = read_shown(run / "evaluations" / f"{step}.npz")[0]
    told = run_reward(run).explain(evidence)
    assert told is not None  # it is rewarded by a video
    raw = told.match.raw_costs

    def match(method: Method) -> Match:
        other = reward.with_matcher(method.matcher, **method.settings)
        return other.score_costs(raw).matches[0]

    label = RECIPES[config.recipe].label if config.recipe in RECIPES else config.reward.matcher
    frames = read_video(film, VideoOptions(longest=LONGEST)).frames
    return Agent(f"{label} agent", f"trained with {label}, step {int(step):,}", frames, success, match)
