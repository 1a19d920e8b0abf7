"""Every episode turned about the vertical, so that the way from object to goal points as in the demo."""

from __future__ import annotations

from typing import Any, final

import gymnasium
import numpy as np
import numpy.typing as npt

from orcalign.checks import require_number
from orcalign.costs.predicted.entities import Entities
from orcalign.envs.plane import Plane, rotation
from orcalign.envs.suite import Env, Reset, Step

SHORT = 1.0
"""Centimetres from object to goal below which they have no direction, and nothing is turned."""


def way(entities: Entities, state: npt.ArrayLike) -> float | None:
    """Where the goal lies from the first object (or the hand, where there is none), in radians; None if they are
    at one place, or there is no goal.

    >>> entities = Entities(hand=(0, 1), goal=(2, 3))
    >>> way(entities, [0.0, 0.0, 0.0, 2.0]) == np.pi / 2, way(entities, [0.0, 0.0, 0.0, 0.0])
    (True, None)
    """
    if not entities.goal or len(entities.hand) < 2:
        return None
    read = entities.read(state)
    start = entities.at("object 1" if entities.objects else "hand").start
    x, y = read[entities.at("goal")][:2] - read[start : start + 2]
    return float(np.arctan2(y, x)) if np.hypot(x, y) >= SHORT else None


def turned_states(
    states: npt.NDArray[Any], entities: Entities, angle: float, about: npt.ArrayLike
) -> npt.NDArray[np.floating[Any]]:
    """States [..., D] with the places of their entities turned to the left about a point (x, y); all else as it is.

    >>> entities = Entities(hand=(0, 1))
    >>> turned_states(np.array([2.0, 1.0, 7.0]), entities, np.pi / 2, (1.0, 1.0)).round(6).tolist()
    [1.0, 2.0, 7.0]
    """
    made, centre = np.array(states), np.asarray(about)
    for place in (entities.hand, *entities.objects, *([entities.goal] if entities.goal else [])):
        at = list(place[:2])
        made[..., at] = (made[..., at] - centre) @ rotation(angle).T + centre
    return made


@final
class Turned(gymnasium.Wrapper[Any, Any, Any, Any]):
    """The policy sees and acts in a world turned about where the hand begins; what is drawn stays as it is.

    Places of entities are turned, and the two actions that move the hand in the plane. Other numbers of the
    observation are passed as they are: velocities and what was seen before still point where they pointed. An action
    that is too long for its limits once it is turned is cut off. `turned_by` is the angle of this episode.

    Args:
        env: with a flat observation, and actions that `find_plane` finds to move the hand along straight lines.
        entities: of the observation, with a goal.
        angle_of_demo: where the goal lies from the object in the demo (`way`), in radians.
        plane: which actions they are, and where they lead.

    >>> from orcalign.envs import make
    >>> entities = Entities(hand=(0, 1, 2), gripper=3, objects=((4, 5, 6),), goal=(36, 37, 38))
    >>> env = Turned(make("push", render=None), entities, angle_of_demo=0.5)
    >>> round(way(entities, env.reset(seed=1)[0]), 6), env.turned_by != 0
    (0.5, True)
    """

    def __init__(self, env: Env, entities: Entities, angle_of_demo: float, plane: Plane | None = None) -> None:
        super().__init__(env)
        if not entities.goal or len(entities.hand) < 2:
            raise ValueError(
                "a world is turned so that object and goal lie as in the demo, and these entities have no goal in a "
                "plane; name it, or leave the world as it is."
            )
        space: Any = env.observation_space
        entities.check(space.shape[0])
        require_number(angle_of_demo, "angle_of_demo", at_least=-np.inf)
        self.entities, self.angle_of_demo = entities, float(angle_of_demo)
        self.plane = Plane() if plane is None else plane
        self.turned_by = 0.0
        # What is turned may leave the box that it was in.
        low, high = space.low.copy(), space.high.copy()
        for place in (entities.hand, *entities.objects, entities.goal):
            low[list(place[:2])], high[list(place[:2])] = -np.inf, np.inf
        self.observation_space = gymnasium.spaces.Box(low, high, dtype=space.dtype.type)
        self._about: npt.NDArray[Any] = np.zeros(2)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Reset:
        """Turn the world of this episode."""
        state, info = self.env.reset(seed=seed, options=options)
        here = way(self.entities, state)
        self.turned_by = 0.0 if here is None else self.angle_of_demo - here
        self._about = np.array(state[list(self.entities.hand[:2])], np.float64)
        return self._seen(state), {**info, "turned_by": self.turned_by}

    def step(self, action: npt.NDArray[Any]) -> Step:
        """The action turned back, and what follows turned."""
        space: Any = self.env.action_space
        own = self.plane.turned(np.asarray(action, np.float64), -self.turned_by)
        state, *rest = self.env.step(np.clip(own, space.low, space.high).astype(space.dtype))
        return self._seen(state), *rest  # type: ignore[return-value]

    def _seen(self, state: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return turned_states(state, self.entities, self.turned_by, self._about).astype(state.dtype)
