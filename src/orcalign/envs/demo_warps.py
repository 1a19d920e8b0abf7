"""The warps that make demos of an expert's episode: the paper's keep-list of the task, and its random protocol."""

from __future__ import annotations

import zlib
from typing import Any, TypeAlias

import numpy as np

from orcalign.checks import require_count
from orcalign.envs.experts import Episode
from orcalign.video import (
    Misalignment,
    Warp,
    compose,
    identity,
    keep,
    one_of_each,
    random_misalignments,
    success_start,
)

Warped: TypeAlias = tuple[Warp, dict[str, Any]]
"""A warp, and what the manifest of the demo says of it."""
CATEGORIES = ("fast-low", "fast-high", "slow-low", "slow-high")
VARIANTS = 3
"""Random warps of each category."""


def check_mixed(name: str, count: int) -> None:
    """Refuse another number than that of the categories.

    >>> check_mixed("demos", 1)
    Traceback (most recent call last):
    ...
    ValueError: demos is 1, and mixed is one demo of each of fast-low, fast-high, slow-low, slow-high; give 4.
    """
    if count != len(CATEGORIES):
        raise ValueError(
            f"{name} is {count}, and mixed is one demo of each of {', '.join(CATEGORIES)}; give {len(CATEGORIES)}."
        )


def check_variant(name: str, variant: int, kind: str | None) -> None:
    """Refuse a warp that a category does not have; a mixed draw has any number.

    >>> check_variant("variant", 3, "mixed")
    >>> check_variant("variant", 3, "fast-low")
    Traceback (most recent call last):
    ...
    ValueError: variant is 3, and fast-low has 3 warps; give 0 to 2.
    """
    require_count(variant, name, at_least=0)
    if kind in CATEGORIES and variant >= VARIANTS:
        raise ValueError(f"{name} is {variant}, and {kind} has {VARIANTS} warps; give 0 to {VARIANTS - 1}.")


def random_pool(task: str, number: int, length: int, success_at: int | None) -> tuple[Misalignment, ...]:
    """The paper's twelve random warps of one demo: number 0 to 5 of the fast ones, then of the slow ones.

    The draw depends on the task's name and on the number of the demo.

    Args:
        task, number: name of the task, and number of the demo.
        length: frames of the demo.
        success_at: as for `random_misalignments`.

    >>> pool = random_pool("door-open", 0, 63, 40)
    >>> [len(one.changes) for one in pool], pool == random_pool("door-close", 0, 63, 40)
    ([1, 1, 1, 3, 3, 3, 1, 1, 1, 3, 3, 3], False)
    """
    rng = np.random.default_rng([zlib.crc32(task.encode()), number])
    fast, slow = (random_misalignments(length, speed, rng, success_at) for speed in ("fast", "slow"))
    return (*fast, *slow)


def demo_warps(
    name: str, kept: str | None, number: int, episode: Episode, kind: str | None, variant: int, end: str
) -> tuple[list[Warped], list[str]]:
    """The warps that make demos of that kind of an episode that succeeds, with what is to be said of each, and notes;
    none if a demo is to end in success and has no frame that shows it."""
    T, last = len(episode), int(np.flatnonzero(episode.success)[-1])
    whole, clips = T, end == "hold"
    warps: list[Warped] = [(identity(T), {})]
    if kind == "misaligned":
        assert kept is not None
        warps = [(keep(kept, T), {"warp": kind})]
    elif kind is not None:
        success_at = success_start(episode.success.tolist())
        # Success that does not hold for long cuts nothing; what comes after the last of it is no part of a demo.
        if clips and success_at is None:
            whole = last + 1
        pool = random_pool(name, number, whole, success_at)
        if kind == "mixed":
            # The first words are those of the pool, whose draw must be another one.
            rng = np.random.default_rng([zlib.crc32(name.encode()), number, variant, len(pool)])
            chosen = list(one_of_each(pool, rng).values())
        else:
            chosen = [[one for one in pool if f"{one.speed}-{one.level}" == kind][variant]]
        warps = [(compose(Warp(tuple(range(whole)), T), one.warp), _about(one, pool)) for one in chosen]
    if not clips:
        return warps, []
    found: list[Warped] = []
    notes: list[str] = []
    for warp, about in warps:
        shown = np.flatnonzero(warp.apply(episode.success))
        if not len(shown):
            return [], []
        clipped = Warp(warp.indices[: shown[-1] + 1], T)
        if len(clipped) < len(warp) or whole < T:
            notes.append(
                f"success is lost after frame {last} of episode {number}, so the demo ends with its frame "
                f"{clipped.indices[-1]}, and later ones are left out."
            )
        found.append((clipped, about))
    return found, notes


def _about(one: Misalignment, pool: tuple[Misalignment, ...]) -> dict[str, Any]:
    """What the manifest says of a random warp."""
    return {
        "warp": f"{one.speed}-{one.level}",
        "warp_number": pool.index(one) % (len(pool) // 2),
        "changes": [list(change) for change in one.changes],
        "deviation": one.deviation,
    }
