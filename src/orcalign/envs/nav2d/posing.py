"""Posed scenes of the 2D navigation: the agent anywhere on the map."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from orcalign.envs.nav2d.env import Nav2DBase
from orcalign.envs.posing import Posed, layout_numbers, layout_seed

PLACES = 16
"""Of a layout: after its start, which is a little random."""


def pose_places(world: Nav2DBase, seed: int, first: int = 0, time: bool = True) -> Iterator[Posed]:
    """The start of an episode, then the agent elsewhere; without an end, from layout `first` on.

    Subgoals that were visited are not seen in a picture, and their share is 0 throughout.
    """
    group = first
    while True:
        rng = layout_numbers(group, seed)
        world.reset(seed=layout_seed(group, seed))
        for place in range(1 + PLACES):
            if place:
                world.put(rng.uniform(0.0, world.cells - 1.0, 2))
            state = world.observe()
            yield Posed(world.render(), np.append(state, 0.0).astype(state.dtype) if time else state, group, not place)
        group += 1
