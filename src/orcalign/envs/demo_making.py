"""Demos out of expert episodes, as they are or with their time warped."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from orcalign.checks import require, require_count
from orcalign.envs.experts import Episode, rollout_expert
from orcalign.envs.seeds import demo_seed
from orcalign.envs.suite import find_suite
from orcalign.envs.tasks import TASKS, TaskSpec, find_task
from orcalign.video import Demo, DemoSet, Warp, keep, random_misalignments, success_start

FPS = 20.0
"""Half the speed of Meta-world's own clock, which is too fast to watch."""
ORDERED = 64
"""Demos that are numbered by how typical they are; later ones come as they are drawn."""
CATEGORIES = ("fast-low", "fast-high", "slow-low", "slow-high")


def make_demo(
    task: str | TaskSpec,
    seed: int = 0,
    misaligned: bool = False,
    random_warp: str | None = None,
    render: str = "fast",
    size: int | None = None,
    tries: int = 10,
    camera: str | None = None,
) -> tuple[Demo, tuple[str, ...]]:
    """One successful expert episode as a demo, and notes on how it came about.

    Frame k is drawn after agent step k + 1; the reset frame is not part of it. Seeds are of `demo_seed`, so no
    evaluation or training episode is shown. An episode that fails is not a demo: the next is drawn, and said so.

    Settings that are not named here are those of `make`.

    Args:
        task: a name (see `find_task`), or a `TaskSpec`.
        seed: number of the demo; another number, another episode. Of the first 64, those with low numbers begin
            in the middle of what the task has to offer (`demo_order`).
        misaligned: keep the frames of the task's keep-list only, as in the paper.
        random_warp: the paper's random protocol: "fast-low", "fast-high", "slow-low", "slow-high".
        tries: episodes to play at most.

    >>> demo, notes = make_demo("nav2d-grid", misaligned=True)
    >>> demo.indices, demo.task, notes
    ((0, 1, 4, 7), 'nav2d-grid', ())
    """
    spec = find_task(task)
    _check_warp(spec, misaligned, random_warp)
    if render is None:
        raise ValueError("render is None, and a demo is made of pictures; use 'fast' or 'paper'.")
    require_count(tries, "tries", at_least=1)
    if camera is not None:
        spec = replace(spec, camera=camera)
    episode, number, notes = _successful(spec, seed, tries, render, size)
    assert episode.frames is not None
    extra: dict[str, Any] = {
        "demo_number": number,
        "env_seed": episode.seed,
        "episode_steps": spec.episode_steps,
        "expert_return": episode.total,
        "first_success": int(episode.success.argmax()),
        "size": episode.frames.shape[1],
    }
    warp: Warp | None = None
    if misaligned and spec.misaligned is not None:
        warp = keep(spec.misaligned, len(episode))
        extra["warp"] = "misaligned"
    elif random_warp is not None:
        speed, level = random_warp.split("-")
        rng, success_at = np.random.default_rng(number), success_start(episode.success.tolist())
        six = random_misalignments(len(episode), "fast" if speed == "fast" else "slow", rng, success_at)
        warp = next(one.warp for one in six if one.level == level)
        extra["warp"] = random_warp
    source = f"{find_suite(spec.suite).demonstrator} of {spec.name}, episode {number}"
    demo = Demo(episode.frames, FPS, source, spec.name, spec.camera, episode.render, extra=extra)
    return (demo if warp is None else demo.warp(warp)), notes


def make_demos(
    task: str | TaskSpec, count: int, seed: int = 0, random_warp: str | None = None, **settings: Any
) -> tuple[DemoSet, tuple[str, ...]]:
    """`count` demos of different episodes; other settings are those of `make_demo`.

    With `random_warp="mixed"` they take turns in the paper's four categories, from fast-low to slow-high.

    >>> demos, _ = make_demos("nav2d-grid", 2)
    >>> [demo.extra["demo_number"] for demo in demos]
    [0, 1]
    """
    require_count(count, "count", at_least=1)
    demos: list[Demo] = []
    notes: list[str] = []
    for k in range(count):
        # After a failed episode the next number is taken, so the following demo starts beyond it.
        number = seed if not demos else demos[-1].extra["demo_number"] + 1
        warp = CATEGORIES[k % len(CATEGORIES)] if random_warp == "mixed" else random_warp
        demo, said = make_demo(task, number, random_warp=warp, **settings)
        demos.append(demo)
        notes += said
    return DemoSet(tuple(demos)), tuple(notes)


@lru_cache(maxsize=64)
def demo_order(spec: TaskSpec) -> tuple[int, ...]:
    """Seeds of demos 0 to 63 of a task: the same episodes as ever, those first that begin in the middle.

    Who films one demonstration puts the object in the middle of the table, not at its edge: from there it is as
    near as can be to whatever the agent will meet. Only the first observation of an episode is looked at, and
    in it the coordinates that vary: how far are they from the middle of their range, in units of the range?

    >>> sorted(demo_order(find_task("nav2d-grid"))) == [demo_seed(k) for k in range(64)]
    True
    """
    seeds = [demo_seed(number) for number in range(ORDERED)]
    env, _ = find_suite(spec.suite).build(spec, pictures=False, size=None)
    try:
        starts = np.stack([np.ravel(env.reset(seed=seed)[0]) for seed in seeds])
    finally:
        env.close()
    low, high = starts.min(axis=0), starts.max(axis=0)
    # What hardly varies (a hand that settles to within a millimetre) does not tell episodes apart.
    varies = high - low > 0.01 * np.abs(starts).max()
    off = ((starts - (low + high) / 2) / np.where(varies, high - low, 1))[:, varies]
    return tuple(seeds[k] for k in np.argsort(np.linalg.norm(off, axis=1), kind="stable"))


def _check_warp(spec: TaskSpec, misaligned: bool, random_warp: str | None) -> None:
    if misaligned and random_warp is not None:
        raise ValueError(f"misaligned and random_warp={random_warp!r} were both given; give one of them.")
    if random_warp is not None:
        require("random_warp", random_warp, CATEGORIES)
    if misaligned and spec.misaligned is None:
        have = ", ".join(name for name, one in TASKS.items() if one.misaligned)
        raise ValueError(
            f"task {spec.name!r} has no misalignment of its own; use random_warp='fast-low', "
            f"or one of the tasks that have one: {have}."
        )


def _successful(
    spec: TaskSpec, seed: int, tries: int, render: str, size: int | None
) -> tuple[Episode, int, tuple[str, ...]]:
    """The first episode from number `seed` on that succeeds; failures are found without drawing them."""
    notes: list[str] = []
    for number in range(seed, seed + tries):
        env_seed = demo_order(spec)[number] if 0 <= number < ORDERED else demo_seed(number)
        if rollout_expert(spec, env_seed).succeeded:
            return rollout_expert(spec, env_seed, render, size), number, tuple(notes)
        notes.append(f"the expert failed {spec.name!r} in episode {number}, so episode {number + 1} was drawn.")
    raise ValueError(
        f"the expert succeeded in none of the episodes {seed} to {seed + tries - 1} of {spec.name!r} within "
        f"{spec.episode_steps} steps; try another seed, more tries, or a longer episode."
    )
