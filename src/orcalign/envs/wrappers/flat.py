"""Observations that are several arrays under names, as one row of numbers."""

from __future__ import annotations

from typing import Any, final

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, Dict

from orcalign.envs.suite import Env


def layout_of(space: gymnasium.Space[Any]) -> dict[str, slice] | None:
    """Where each array of a Dict is in the row: by name, in alphabetical order, each ravelled; parts of parts have
    a slash in their names. None for another space, and where a part is not a Box of at most one dimension.

    The order is the names' and not the space's, which depends on how it was made.

    >>> layout_of(Dict({"b": Box(0, 1, (2,)), "a": Dict({"x": Box(0, 1, (3,))})}))
    {'a/x': slice(0, 3, None), 'b': slice(3, 5, None)}
    >>> layout_of(Box(0, 1, (2,))) is None
    True
    """
    boxes = _boxes(space) if isinstance(space, Dict) else None
    if not boxes:
        return None
    layout, start = {}, 0
    for keys, box in boxes.items():
        stop = start + int(np.prod(box.shape))
        layout["/".join(keys)] = slice(start, stop)
        start = stop
    return layout


def _boxes(space: Dict) -> dict[tuple[str, ...], Box] | None:
    found: dict[tuple[str, ...], Box] = {}
    for key in sorted(space.spaces):
        inner = space.spaces[key]
        if isinstance(inner, Dict):
            parts = _boxes(inner)
            if parts is None:
                return None
            found |= {(key, *keys): box for keys, box in parts.items()}
        elif isinstance(inner, Box) and len(inner.shape) <= 1:
            found[key,] = inner
        else:
            return None
    return found


@final
class Flat(gymnasium.ObservationWrapper[Any, Any, Any]):
    """A Dict observation as one row [D] of floats; `observation_layout` says which slice of it is which part.

    >>> from orcalign.envs.nav2d.env import Nav2D
    >>> env = gymnasium.wrappers.TransformObservation(
    ...     Nav2D(), lambda seen: {"place": seen[:2], "done": seen[2:]},
    ...     Dict({"place": Box(0, 1, (2,)), "done": Box(0, 1, (1,))}))
    >>> Flat(env).observation_layout, Flat(env).reset(seed=0)[0].shape
    ({'done': slice(0, 1, None), 'place': slice(1, 3, None)}, (3,))
    """

    def __init__(self, env: Env) -> None:
        space = env.observation_space
        layout, boxes = layout_of(space), _boxes(space) if isinstance(space, Dict) else None
        if layout is None or boxes is None:
            raise ValueError(
                f"observations are {space}; only a Dict of Boxes of at most one dimension can be flattened."
            )
        super().__init__(env)
        self.observation_layout = layout
        self._keys = tuple(boxes)
        kind: Any = np.result_type(np.float32, *(box.dtype for box in boxes.values())).type
        low, high = (
            np.concatenate([np.ravel(getattr(box, end)) for box in boxes.values()]).astype(kind)
            for end in ("low", "high")
        )
        self.observation_space = Box(low, high, dtype=kind)
        self._kind = kind

    def observation(self, observation: Any) -> npt.NDArray[Any]:
        """[D]"""
        parts = []
        for keys in self._keys:
            part = observation
            for key in keys:
                part = part[key]
            parts.append(np.ravel(part))
        return np.concatenate(parts).astype(self._kind)
