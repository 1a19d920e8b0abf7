"""Whether an observation is what its space says: refused where it comes in, before anything is made of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict, Space


def check_observation(space: Space[Any], observation: Any, step: int, name: str = "observation") -> None:
    """Refuse numbers that are not finite, and arrays of another shape than the space's; other spaces are passed over.

    >>> check_observation(Box(-1, 1, (2,)), np.zeros(2), 0)
    >>> check_observation(Dict({"place": Box(-1, 1, (2,))}), {"place": np.zeros(3)}, 7)
    Traceback (most recent call last):
    ...
    ValueError: observation['place'] has shape (3,) at step 7, and the environment's observation_space says (2,); ...
    """
    if isinstance(space, Dict):
        for key, inner in space.spaces.items():
            if not isinstance(observation, Mapping) or key not in observation:
                raise ValueError(f"{name} has no {key!r} at step {step}, and the environment's observation_space has.")
            check_observation(inner, observation[key], step, f"{name}[{key!r}]")
    elif isinstance(space, Box):
        seen = np.asarray(observation)
        if seen.shape != space.shape:
            raise ValueError(
                f"{name} has shape {seen.shape} at step {step}, and the environment's observation_space says "
                f"{space.shape}; they must agree in every step."
            )
        if seen.dtype.kind == "f" and not np.isfinite(seen).all():
            d = int(np.flatnonzero(~np.isfinite(seen.ravel()))[0])
            raise ValueError(
                f"{name}[{d}] is {seen.ravel()[d]} at step {step}; the environment must give finite numbers."
            )
