"""Demos out of expert episodes, as they are or with their time warped."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from orcalign.checks import require, require_count
from orcalign.envs.demo_warps import CATEGORIES, Warped, check_mixed, check_variant, demo_warps
from orcalign.envs.experts import DEMO_ENDS, Episode, rollout_expert
from orcalign.envs.seeds import demo_seed
from orcalign.envs.suite import find_suite
from orcalign.envs.tasks import TASKS, TaskSpec, find_task
from orcalign.video import Demo, DemoSet

FPS = 20.0
"""Half the speed of Meta-world's own clock, which is too fast to watch."""
ORDERED = 64
"""Demos that are numbered by how typical they are; later ones come as they are drawn."""
ORDERS = ("central", "drawn")


def make_demo(task: str | TaskSpec, seed: int = 0, **settings: Any) -> tuple[Demo, tuple[str, ...]]:
    """One expert episode that ends in success as a demo, and notes on how it came about.

    Frame k is drawn after agent step k + 1; the reset frame is not part of it. Seeds are of `demo_seed`, so no
    evaluation or training episode is shown. An episode that fails is not a demo: the next is drawn, and said so.

    Settings that are not named here are those of `make`.

    Args:
        task: a name (see `find_task`), or a `TaskSpec`.
        seed: number of the demo; another number, another episode.
        misaligned: keep the frames of the task's keep-list only, as in the paper.
        random_warp: the paper's random protocol: "fast-low", "fast-high", "slow-low", "slow-high".
        variant: which of the three warps that the category has for this task and number.
        tries: episodes to play at most.
        end: what the expert does after its first success: "hold" its hand where it is, and the demo ends in success
            in any case, if need be earlier; or go on as the "script" that it is, and the demo ends as it ends.
        order: numbers 0 to 63 are episodes as they are "drawn"; or sorted, those first that begin in the middle of
            what the task has to offer ("central", see `demo_order`).
        states: keep what the environment observed beside the frames, for rewards that imitate states.

    >>> demo, notes = make_demo("nav2d-grid", misaligned=True)
    >>> demo.indices, demo.task, notes, demo.success_words
    ((0, 1, 4, 7), 'nav2d-grid', (), '1 of 4 frames, the last one too')
    """
    if settings.get("random_warp") is not None:
        require("random_warp", settings["random_warp"], CATEGORIES)
    (demo,), notes = _film(task, seed, **settings)
    return demo, notes


def make_demos(
    task: str | TaskSpec, count: int, seed: int = 0, random_warp: str | None = None, **settings: Any
) -> tuple[DemoSet, tuple[str, ...]]:
    """`count` demos of different episodes; other settings are those of `make_demo`.

    With `random_warp="mixed"` they are four of one episode, one of each category of random warps, drawn from the
    three that each has; `variant` is then the number of the draw.

    >>> demos, _ = make_demos("nav2d-grid", 2)
    >>> [demo.extra["demo_number"] for demo in demos]
    [0, 1]
    >>> [demo.extra["warp"] for demo in make_demos("nav2d", 4, random_warp="mixed")[0]]
    ['fast-low', 'fast-high', 'slow-low', 'slow-high']
    """
    require_count(count, "count", at_least=1)
    if random_warp == "mixed":
        check_mixed("count", count)
        made, notes = _film(task, seed, random_warp=random_warp, **settings)
        return DemoSet(tuple(made)), notes
    demos: list[Demo] = []
    said: list[str] = []
    for _ in range(count):
        # After a failed episode the next number is taken, so the following demo starts beyond it.
        number = seed if not demos else demos[-1].extra["demo_number"] + 1
        demo, notes = make_demo(task, number, random_warp=random_warp, **settings)
        demos.append(demo)
        said += notes
    return DemoSet(tuple(demos)), tuple(said)


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


def _film(
    task: str | TaskSpec,
    seed: int,
    misaligned: bool = False,
    random_warp: str | None = None,
    variant: int = 0,
    render: str = "fast",
    size: int | None = None,
    tries: int = 10,
    camera: str | None = None,
    end: str = "hold",
    order: str = "central",
    states: bool = False,
) -> tuple[list[Demo], tuple[str, ...]]:
    """Demos of the first episode from number `seed` on that is fit for them, and notes; others are not drawn."""
    spec = find_task(task)
    _check(spec, misaligned, random_warp, variant)
    if render is None:
        raise ValueError("render is None, and a demo is made of pictures; use 'fast' or 'paper'.")
    require_count(tries, "tries", at_least=1)
    require("end", end, DEMO_ENDS)
    require("order", order, ORDERS)
    if camera is not None:
        spec = replace(spec, camera=camera)
    kind = "misaligned" if misaligned else random_warp
    notes: list[str] = []
    for number in range(seed, seed + tries):
        central = order == "central" and 0 <= number < ORDERED
        env_seed = demo_order(spec)[number] if central else demo_seed(number)
        played = rollout_expert(spec, env_seed, end=end)
        said = f"failed {spec.name!r}"
        if played.succeeded:
            warps, clipped = demo_warps(spec.name, spec.misaligned, number, played, kind, variant, end)
            if warps:
                episode = rollout_expert(spec, env_seed, render, size, end)
                return _demos(spec, episode, number, warps, end, order, states), (*notes, *clipped)
            said = f"succeeded too late in {spec.name!r} for the frames that are kept"
        notes.append(f"the expert {said} in episode {number}, so episode {number + 1} was drawn.")
    raise ValueError(
        f"the expert succeeded in none of the episodes {seed} to {seed + tries - 1} of {spec.name!r} within "
        f"{spec.episode_steps} steps; try another seed, more tries, or a longer episode."
    )


def _demos(
    spec: TaskSpec, episode: Episode, number: int, warps: list[Warped], end: str, order: str, states: bool
) -> list[Demo]:
    assert episode.frames is not None
    extra: dict[str, Any] = {
        "demo_number": number,
        "demo_order": order,
        "demo_end": end,
        "env_seed": episode.seed,
        "episode_steps": spec.episode_steps,
        "return": episode.total,
        "first_success": int(episode.success.argmax()),
        "size": episode.frames.shape[1],
    }
    source = f"{find_suite(spec.suite).demonstrator} of {spec.name}, episode {number}"
    whole = Demo(
        episode.frames, FPS, source, spec.name, spec.camera, episode.render, success=tuple(episode.success.tolist()),
        states=episode.observations.reshape(len(episode), -1) if states else None,
    )  # fmt: skip
    return [replace(whole.warp(warp), extra=extra | about) for warp, about in warps]


def _check(spec: TaskSpec, misaligned: bool, random_warp: str | None, variant: int) -> None:
    if misaligned and random_warp is not None:
        raise ValueError(f"misaligned and random_warp={random_warp!r} were both given; give one of them.")
    check_variant("variant", variant, random_warp)
    if misaligned and spec.misaligned is None:
        have = ", ".join(name for name, one in TASKS.items() if one.misaligned)
        raise ValueError(
            f"task {spec.name!r} has no misalignment of its own; use random_warp='fast-low', "
            f"or one of the tasks that have one: {have}."
        )
