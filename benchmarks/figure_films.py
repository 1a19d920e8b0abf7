"""The films that `orcalign figure` draws from: scripted agents that succeed or fail in the way of the paper's figures.

Agents are Meta-world's script, altered. Of evaluation episodes in their order the first is taken on which every claim
of the figure holds; if there is none, nothing is written. The same code gives the same files. The pictures of
docs/figures.md are drawn from them.

    python -m benchmarks.figure_films [NAME ...]
"""

from __future__ import annotations

import io
import json
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from orcalign.costs import FrameCosts
from orcalign.encoders import make_encoder
from orcalign.envs import find_suite, find_task
from orcalign.envs.demo_making import FPS, make_demo
from orcalign.envs.experts import Episode, play
from orcalign.envs.making import with_frames
from orcalign.envs.seeds import eval_seed
from orcalign.files import atomic_folder, write_file
from orcalign.report.figures import FIGURES, FigureSpec, find_figure, make_figure
from orcalign.report.figures.scene import CONTEXT, Agent, Scene, by_costs
from orcalign.video import write_mp4

ROOT = Path(__file__).parent.parent
FILMS = ROOT / "src" / "orcalign" / "report" / "figures" / "films"
PICTURES = ROOT / "docs" / "images"
SIDE, SEEN = 192, 128
"""Pixels: of the films, and of what the encoder sees, as in the `laptop` preset."""
ENCODER = "efficientnet-lite0"
MARGIN = 0.04
"""Share of a total by which a claim must hold."""
EPISODES = 10
"""Evaluation episodes that are tried."""
CRF = 23
Place = Callable[[Any], Any]
"""Observation → where the hand is to go [3]."""


class Script:
    """Meta-world's script at a pace, which may go to places first, and may stay where it is after some steps."""

    def __init__(
        self,
        task: str,
        pace: float = 1.0,
        first: Sequence[tuple[int, Place, float]] = (),
        stay_after: int | None = None,
    ) -> None:
        self._expert = find_suite("metaworld").expert(find_task(task), None)  # type: ignore[arg-type]
        self._pace, self._first, self._stay_after = pace, first, stay_after
        self._steps = 0
        self._stays_at: Any = None

    def __call__(self, observation: Any, success: bool) -> Any:
        step, self._steps = self._steps, self._steps + 1
        for steps, place, grip in self._first:
            if step < steps:
                return self._towards(place(observation), observation, grip)
            step -= steps
        action = np.clip(self._expert(observation, False), -1, 1)
        if self._stays_at is None and (success or self._steps == self._stay_after):
            self._stays_at = observation[:3].copy()
        if self._stays_at is not None:
            return self._towards(self._stays_at, observation, action[3])
        return np.float32([*self._pace * action[:3], action[3]])

    def _towards(self, place: Any, observation: Any, grip: float) -> Any:
        return np.float32([*np.clip(10 * (place - observation[:3]), -1, 1), grip])


class Film(NamedTuple):
    """One episode, drawn twice."""

    frames: Any
    """[T, SIDE, SIDE, 3] To be shown."""
    seen: Any
    """[T, SEEN, SEEN, 3] What the encoder sees."""
    success: Any
    """[T]"""
    end: Any
    """[3] Where the hand is in the end."""


def roll(task: str, number: int, **settings: Any) -> Film:
    """The evaluation episode of that number, played by a script."""
    shown, seen = (_play(task, number, side, **settings) for side in (SIDE, SEEN))
    return Film(shown.frames, seen.frames, shown.success, shown.observations[-1][:3].copy())


def _play(task: str, number: int, side: int, **settings: Any) -> Episode:
    spec = find_task(task)
    env, spec = find_suite(spec.suite).build(spec, True, side)
    env = with_frames(env, spec, "fast", side)
    try:
        return play(Script(task, **settings), env, spec, eval_seed(number), True)
    finally:
        env.close()


Cast = list[tuple[str, str, Film]]
"""Name, who it is, and what it did."""


def door_open(number: int) -> Iterator[Cast]:
    quick = roll("door-open", number)
    for pace in (0.3, 0.4):
        slow = roll("door-open", number, pace=pace)
        yield [
            ("slow", f"the task's script at {pace} of its speed", slow),
            ("opens the door", "the task's script, which stays once it succeeds", quick),
        ]


def wrong_order(number: int) -> Iterator[Cast]:
    right = roll("stick-push", number)

    def beside_bottle(observation: Any) -> Any:
        return observation[11:14] + np.array([-0.1, 0.0, 0.02])

    for steps in (28, 24, 20, 16):
        wrong = roll("stick-push", number, first=[(steps, beside_bottle, 0.7)], pace=0.6)
        yield [
            ("bottle first", "a script that goes for the bottle with its bare hand, then for the stick", wrong),
            ("stick first", "the task's script, which stays once it succeeds", right),
        ]


def lever_pull(number: int) -> Iterator[Cast]:
    pulls = roll("lever-pull", number)
    for steps in (40, 32, 24, 16):
        stays = roll("lever-pull", number, stay_after=steps)
        what = f"the task's script, which stays where it is after {steps // 2} frames"
        yield [
            ("stays at a subgoal", what, stays),
            ("pulls the lever", "the task's script, which stays once it succeeds", pulls),
        ]


def without_stick(number: int) -> Iterator[Cast]:
    pushes = roll("stick-push", number)

    def over_stick(observation: Any) -> Any:
        return observation[4:7] + np.array([0.015, 0.0, 0.13])

    rushes = roll("stick-push", number, first=[(14, over_stick, -1.0), (1000, lambda _: pushes.end, 0.7)])
    for pace in (0.5, 0.3):
        slow = roll("stick-push", number, pace=pace)
        yield [
            ("pushes, no stick", "a script that passes over the stick, like the paper's ORCA (NP)", rushes),
            ("slow, tries each", f"the task's script at {pace} of its speed, like the paper's TemporalOT", slow),
            ("stick, then pushes", "the task's script, like the paper's ORCA", pushes),
        ]


CASTS: dict[str, Callable[[int], Iterator[Cast]]] = {
    "slow-agent": door_open,
    "order": wrong_order,
    "subgoal": lever_pull,
    "pretraining": without_stick,
}


@cache
def encoder() -> Any:
    return make_encoder(ENCODER, size=SEEN)


def make_films(spec: FigureSpec, folder: Path = FILMS) -> None:
    """Find an episode for a figure and write its films."""
    demo, seen = (make_demo(spec.task, misaligned=True, size=side)[0].frames for side in (SIDE, SEEN))
    costs = FrameCosts(encoder()(seen))
    for number in range(EPISODES):
        for cast in CASTS[spec.name](number):
            # What is stored is what is claimed of.
            found = [costs(encoder()(film.seen)).astype(np.float32) for *_, film in cast]
            agents = [
                Agent(name, what, film.frames, film.success, partial(by_costs, cost.astype(np.float64)))
                for (name, what, film), cost in zip(cast, found, strict=True)
            ]
            failed = Scene(demo, tuple(agents), "").failed_claims(spec, MARGIN)
            # The last agent is the one that can do it.
            if not agents[-1].success[-1] or any(agent.success.any() for agent in agents[:-1]):
                failed.append("success is not where it should be")
            if not failed:
                _write(folder / spec.name, spec, demo, agents, found, number)
                return
            print(f"{spec.name}, episode {number}: {'; '.join(failed)}")
    raise ValueError(f"none of {EPISODES} episodes shows what {spec.name!r} claims; alter its agents in {__file__}.")


def _write(
    folder: Path, spec: FigureSpec, demo: Any, agents: Sequence[Agent], costs: Sequence[Any], number: int
) -> None:
    folder.parent.mkdir(exist_ok=True)
    note = (
        f"{spec.task}, misaligned demo 0, evaluation episode {number}; scripted agents, not trained ones. "
        f"Costs: {ENCODER}, {SEEN} px, cosine, context {CONTEXT}."
    )
    about = {"agents": [{"name": agent.name, "what": agent.what} for agent in agents], "note": note}
    buffer = io.BytesIO()
    # np.savez would put the time of day into the file.
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for k, (cost, agent) in enumerate(zip(costs, agents, strict=True)):
            for name, array in (("cost", cost), ("success", agent.success)):
                content = io.BytesIO()
                np.lib.format.write_array(content, array, allow_pickle=False)
                entry = zipfile.ZipInfo(f"{name}_{k}.npy")
                archive.writestr(entry, content.getvalue(), zipfile.ZIP_DEFLATED)
    with atomic_folder(folder, replace=True) as part:
        (part / "about.json").write_text(json.dumps(about, indent=1) + "\n", "utf-8")
        (part / "costs.npz").write_bytes(buffer.getvalue())
        write_mp4(part / "demo.mp4", demo, FPS, CRF)
        for k, agent in enumerate(agents):
            write_mp4(part / f"{k}.mp4", agent.frames, FPS, CRF)
    print(f"{folder.name}: episode {number}, {sum(path.stat().st_size for path in folder.iterdir()) / 1000:.0f} kB")


def draw_for_docs(name: str) -> None:
    """The picture of a figure in the documents."""
    with tempfile.TemporaryDirectory() as folder:
        png, _ = make_figure(name, out=Path(folder))
        write_file(PICTURES / png.name, png.read_bytes())


if __name__ == "__main__":
    for name in sys.argv[1:] or [name for name, spec in FIGURES.items() if not spec.draws]:
        make_films(find_figure(name))
        draw_for_docs(name)
