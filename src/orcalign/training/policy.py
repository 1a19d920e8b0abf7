"""The policy of a run, to act with anywhere."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, final

import numpy as np
import numpy.typing as npt

from orcalign.checks import require
from orcalign.training.checkpoint import read_policy
from orcalign.training.collector import rescale
from orcalign.training.run_folder import RunFolder

WHICH = ("last", "best")


@final
class LoadedPolicy:
    """From an observation to an action, in the environment's own units.

    Call it with an observation of `orcalign.envs.make(task)`: a state with the time appended [D], or stacked frames
    uint8 [9,84,84]. It remembers nothing between calls.
    """

    def __init__(self, run: RunFolder, weights: dict[str, Any], about: dict[str, Any]) -> None:
        from orcalign.agents import make_policy

        world = about["world"]
        self.task: str = about["task"]
        self.step: int = about["step"]
        """Agent steps after which it was taken."""
        self.observation_shape = tuple(world["observation_shape"])
        self._low = np.array(world["action_low"], np.float32)
        self._high = np.array(world["action_high"], np.float32)
        self._policy = make_policy(run.config.agent, self.observation_shape, len(self._low))
        self._policy.load(weights)

    def __call__(self, observation: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """The action [A] that the policy thinks best."""
        return rescale(self._policy.act(np.asarray(observation)), self._low, self._high)


def load_policy(run: str | os.PathLike[str], which: str = "last") -> LoadedPolicy:
    """The policy of a run's folder: the last, or the best by ordered coverage (on episodes kept for that).

    Args:
        run: the folder that `orcalign train` wrote.
        which: "last" or "best".
    """
    require("which", which, WHICH)
    folder = RunFolder(run)
    return LoadedPolicy(folder, *read_policy(policy_file(folder, which)))


def policy_file(run: RunFolder, which: str) -> Path:
    """Where the policy is; an error that says what to do if it is not there yet."""
    path = run.path / f"policy-{which}.safetensors"
    if not path.is_file():
        raise FileNotFoundError(
            f"the run {str(run.path)!r} has no {which} policy yet; it is written at its first checkpoint or evaluation."
        )
    return path
