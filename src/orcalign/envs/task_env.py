"""The outermost layer of an environment made here: which task it is, and which episode comes next."""

from __future__ import annotations

from typing import Any, final

import gymnasium

from orcalign.envs.seeds import train_seed
from orcalign.envs.spec import TaskSpec


@final
class TaskEnv(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Knows its `task_spec`; `reset()` without a seed plays training episode after training episode.

    `reset(seed=s)` plays exactly the episode s, and the unseeded resets after it are those of the run s, from its
    first on. `info["seed"]` of a reset is the seed of the episode, which alone plays it again.

    >>> from orcalign.envs import make, train_seed
    >>> env = make("nav2d", render=None, seed=3)
    >>> [env.reset()[1]["seed"] for _ in range(2)] == [train_seed(0, run=3), train_seed(1, run=3)]
    True
    """

    def __init__(self, env: gymnasium.Env[Any, Any], spec: TaskSpec, run: int) -> None:
        super().__init__(env)
        train_seed(0, run)
        self.task_spec = spec
        self._run, self._episodes = run, 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin the episode `seed`, or the next training episode."""
        if seed is None:
            episode = train_seed(self._episodes, self._run)
            self._episodes += 1
        else:
            episode, self._run, self._episodes = seed, seed, 0
        observation, info = self.env.reset(seed=episode, options=options)
        return observation, {**info, "seed": episode}
