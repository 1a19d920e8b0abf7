"""The policy of a run, to act with anywhere."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, final

import numpy as np
import numpy.typing as npt

from orcalign.checks import require
from orcalign.costs.predicted.turning import Turning
from orcalign.files import read_arrays
from orcalign.rewards import Stream, load_reward
from orcalign.rewards.base import State
from orcalign.training.checkpoint import under
from orcalign.training.collector import rescale
from orcalign.training.run_folder import RunFolder

WHICH = ("last", "best")


@final
class LoadedPolicy:
    """From an observation to an action, in the environment's own units.

    Call it with an observation of `orcalign.envs.make(task)`: a state with the time appended [D], or stacked frames
    uint8 [9,84,84]. A policy that the reward guides follows the demo while it acts: call `reset` when an episode
    begins, and give it the frame uint8 [H,W,3] of each observation but the first, if the reward looks at frames.
    """

    def __init__(self, run: RunFolder, arrays: dict[str, Any], about: dict[str, Any]) -> None:
        from orcalign.agents import make_policy

        world = about["world"]
        self.task: str = about["task"]
        self.step: int = about["step"]
        """Agent steps after which it was taken."""
        guide_dim = world["guide_dim"]
        size, *rest = world["observation_shape"]
        self.observation_shape = (size - guide_dim, *rest)
        self._low = np.array(world["action_low"], np.float32)
        self._high = np.array(world["action_high"], np.float32)
        turned = world.get("turning")
        self._turning = None if turned is None else Turning.from_plain(turned)
        self._first: npt.NDArray[Any] = np.zeros(0)
        self._policy = make_policy(run.config.agent, tuple(world["observation_shape"]), len(self._low))
        weights, state = policy_parts(arrays, about)
        self._policy.load(weights)
        self._stream: Stream | None = None
        self._action: npt.NDArray[np.float32] | None = None
        if state is not None:
            reward = load_reward(run.path)
            reward.load_state(state)
            self._stream = reward.stream()

    def reset(self) -> None:
        """An episode begins; only a policy that is guided or turned has to be told."""
        self._action = None

    def __call__(
        self, observation: npt.ArrayLike, frame: npt.NDArray[np.uint8] | None = None
    ) -> npt.NDArray[np.float32]:
        """The action [A] that the policy thinks best."""
        seen = state = np.asarray(observation)
        if self._turning is not None:
            self._first = state if self._action is None else self._first
            seen = self._turning.observation(state, self._first).astype(state.dtype)
        if self._stream is not None:
            if self._action is None:
                self._stream.reset(state)
            else:
                self._stream.push(frame, state, self._action)
            seen = np.append(seen, self._stream.guide)
        self._action = self._policy.act(seen)
        own = self._action if self._turning is None else self._turning.action(self._action, self._first)
        return rescale(np.asarray(own, np.float32), self._low, self._high)


def policy_parts(arrays: dict[str, Any], about: dict[str, Any]) -> tuple[dict[str, Any], State | None]:
    """Weights of a policy's file, and the state of the reward that guides it, if one does."""
    weights, state = under("policy/", arrays), under("reward/", arrays)
    return weights, (about["reward"], state) if about["world"]["guide_dim"] else None


def load_policy(run: str | os.PathLike[str], which: str = "last") -> LoadedPolicy:
    """The policy of a folder that `orcalign train` wrote: the last, or the best by what the reward says of episodes
    kept for that."""
    require("which", which, WHICH)
    folder = RunFolder(run)
    return LoadedPolicy(folder, *read_arrays(policy_file(folder, which)))


def policy_file(run: RunFolder, which: str) -> Path:
    """Where the policy is; an error that says what to do if it is not there yet."""
    path = run.path / f"policy-{which}.safetensors"
    if not path.is_file():
        raise FileNotFoundError(
            f"the run {str(run.path)!r} has no {which} policy yet; it is written at its first checkpoint or evaluation."
        )
    return path
