"""The 2D navigation of the paper's counterexamples: small worlds in which a run takes a minute."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np
import numpy.typing as npt

from orcalign.envs.gymnasium import make_registered
from orcalign.envs.suite import Env, Suite
from orcalign.envs.tasks import TaskSpec

if TYPE_CHECKING:
    from orcalign.costs.predicted.entities import Entities
    from orcalign.envs.experts import Expert
    from orcalign.envs.posing import Posed

MAP_WIDTH = 60.0
"""Centimetres that the map counts as: about what a robot's arm has in front of it."""


@final
class Nav2DSuite(Suite):
    """Worlds that draw themselves, at any size, and know the way.

    >>> list(Nav2DSuite().tasks)
    ['nav2d', 'nav2d-order', 'nav2d-squares', 'nav2d-grid', 'nav2d-grid-order']
    """

    name = "nav2d"
    poses = True
    # Coloured blobs on a map: the pixels themselves say where the agent is. Each frame of the demo is a place of
    # its own, and the agent acts on the demo's very map: what keeps its first episodes off is not the scene.
    defaults: Mapping[str, Mapping[str, Any]] = {
        "laptop": {
            "reward.context": 1,
            "reward.calibration_episodes": 0,
            "encoder.encoder": "pixels",
            "encoder.encoder_size": None,
            "collect.frame_size": None,
            "follow.posed_frames": 1000,
            "follow.posed_updates": 600,
        }
    }

    @cached_property
    def tasks(self) -> Mapping[str, TaskSpec]:
        """Two layouts, in the plane and on a grid, and one in the plane with coloured squares."""
        # The squares are for goals in words: to pixels, all of their pictures are nearly the same.
        # fmt: off
        rows = (
            # name               environment              layout      steps  misaligned
            ("nav2d",            "orcalign/Nav2D-v0",     "slowness", 30, "1,3,5,7,9,12"),
            ("nav2d-order",      "orcalign/Nav2D-v0",     "order",    24, "1,3,5,7,9,11"),
            ("nav2d-squares",    "orcalign/Nav2D-v0",     "squares",  30, None),
            ("nav2d-grid",       "orcalign/Nav2DGrid-v0", "slowness", 16, "0,1,4,7"),
            ("nav2d-grid-order", "orcalign/Nav2DGrid-v0", "order",    12, "1,3,5"),
        )
        # fmt: on
        done = "all subgoals were visited in order, and the agent is at the last one"
        return {
            name: TaskSpec(
                name, "nav2d", env_id, episode_steps=steps, difficulty="easy", success=done, misaligned=kept,
                settings=(("layout", layout),),
            )
            for name, env_id, layout, steps, kept in rows
        }  # fmt: skip

    def build(self, spec: TaskSpec, pictures: bool, size: int | None) -> tuple[Env, TaskSpec]:
        """The registered environment, which draws at the size that is wanted."""
        given = {} if size is None else {"size": size}
        return make_registered(spec, "rgb_array" if pictures else None, **given), spec

    def pose(
        self, spec: TaskSpec, seed: int = 0, render: str = "fast", size: int | None = None, first: int = 0
    ) -> Iterator[Posed]:
        """The agent anywhere."""
        from orcalign.envs.making import with_frames
        from orcalign.envs.nav2d.posing import pose_places

        env, _ = self.build(spec, True, size)
        world: Any = with_frames(env, spec, render, size).unwrapped
        return pose_places(world, seed, first, spec.time)

    def expert(self, spec: TaskSpec, env: Env) -> Expert:
        """To one subgoal after the other."""
        world: Any = env.unwrapped
        expert: Expert = world.expert_action
        return expert

    def entities(self, spec: TaskSpec) -> Entities:
        """The agent on its map; what is to be visited is the same in every episode and not observed."""
        from orcalign.costs.predicted.entities import Entities

        return Entities(hand=(0, 1), unit=MAP_WIDTH)

    def projection(self, spec: TaskSpec) -> npt.NDArray[np.float64]:
        """The map from above, a margin of half a cell about it, y upwards."""
        env, _ = self.build(spec, False, None)
        world: Any = env.unwrapped
        margin, width = 0.5 / world.cells, (world.cells - 1) / world.cells / MAP_WIDTH
        return np.array([[width, 0.0, margin], [0.0, -width, 1 - margin], [0.0, 0.0, 1.0]])
