"""Meta-world tasks as plain Gymnasium environments: goal visible, every episode fixed by its seed; and their experts.

Physics only; pictures are drawn from `model` and `data` by `orcalign.envs.rendering`, which never writes to them.
"""

from __future__ import annotations

import warnings
from typing import Any, final

import gymnasium
import numpy as np
import numpy.typing as npt

from orcalign.envs.suite import Reset, Step
from orcalign.envs.tasks import TaskSpec

STOPS = ("lever-pull-v3",)
"""Tasks whose script would undo its work: the expert sends zeros once it has succeeded."""


@final
class MetaworldEnv(gymnasium.Env[npt.NDArray[np.float64], npt.NDArray[np.float32]]):
    """One Meta-world v3 task; observation float64 [39] with the goal in it, action float32 [4] from -1 to 1.

    Objects and goal are drawn anew at each reset, from the seed and nothing else: the same seed gives the same
    episode, whatever was played before. Truncated after exactly `spec.episode_steps` steps; never terminated.
    `info["success"]` is a bool; the reward is Meta-world's own.

    >>> from orcalign.envs.tasks import find_task
    >>> env = MetaworldEnv(find_task("door-close"))
    >>> first, _ = env.reset(seed=7)
    >>> again, _ = env.reset(seed=7)
    >>> first.shape, bool((first == again).all()), bool((first == env.reset(seed=8)[0]).all())
    ((39,), True, False)
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (Gymnasium's way)

    def __init__(self, spec: TaskSpec) -> None:
        from metaworld.env_dict import ALL_V3_ENVIRONMENTS

        if spec.env_id not in ALL_V3_ENVIRONMENTS:
            raise ValueError(
                f"this Meta-world has no task {spec.env_id!r}; orcalign needs metaworld 3.1 or newer: "
                "pip install 'orcalign[train]'"
            )
        self.task_spec = spec
        self._sim = ALL_V3_ENVIRONMENTS[spec.env_id]()
        self._sim._partially_observable = False
        self._sim.seeded_rand_vec = True
        # It would demand one of Meta-world's fifty stored goals; here every seed is a goal.
        self._sim._set_task_called = True
        self._sim.__dict__.pop("sawyer_observation_space", None)
        space: Any = self._sim.sawyer_observation_space
        self.observation_space = space
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (4,), np.float32)
        self._steps = 0

    @property
    def model(self) -> Any:
        """The mujoco.MjModel that is simulated."""
        return self._sim.model

    @property
    def data(self) -> Any:
        """The mujoco.MjData that is simulated."""
        return self._sim.data

    @property
    def frame_skip(self) -> int:
        """Steps of MuJoCo in one of the environment's."""
        return int(self._sim.frame_skip)

    @property
    def hand_bounds(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Lowest and highest place [3] to which the hand is led."""
        return self._sim.mocap_low, self._sim.mocap_high

    def observe(self) -> npt.NDArray[np.float64]:
        """The observation [39] of the world as it is, however it came about; as at a reset, nothing lies behind it."""
        import mujoco

        mujoco.mj_forward(self.model, self.data)
        observation: npt.NDArray[np.float64] = self._sim._get_obs()
        observation[18:36] = observation[:18]
        return self._inside(observation)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Reset:
        """Place objects and goal and put the hand at its start."""
        import mujoco
        from gymnasium.envs.mujoco import MujocoEnv

        super().reset(seed=seed)
        sim: Any = self._sim
        # The first pass draws the new places, among the objects of the last episode; the hand, which takes most of
        # a reset's time to come to its start, stays where it is. The second, with the drawn places held, starts
        # from MuJoCo's blank state. Meta-world's own reset has one more pass before that, which leaves no trace.
        sim._freeze_rand_vec = False
        sim.np_random = np.random.default_rng(self.np_random.integers(2**63))
        sim.curr_path_length = 0
        hand = sim._reset_hand
        sim._reset_hand = lambda steps=50: hand(steps=0)
        try:
            sim.reset_model()
        finally:
            del sim._reset_hand
        sim._freeze_rand_vec = True
        MujocoEnv.reset(sim)
        # Some tasks move a thing last of all and observe it where it was; of the physics nothing changes by this.
        mujoco.mj_kinematics(sim.model, sim.data)
        observation = sim._get_obs()
        # No step lies behind: what was seen before is what is seen now.
        sim._prev_obs = observation[:18].copy()
        observation[18:36] = sim._prev_obs
        self._steps = 0
        return self._inside(observation), {"success": False}

    def step(self, action: npt.NDArray[np.float32]) -> Step:
        """One simulation step."""
        if self._steps >= self.task_spec.episode_steps:
            raise ValueError(
                f"the episode of {self.task_spec.name!r} ended after {self._steps} steps; call reset() before step()."
            )
        given = np.asarray(action, np.float32)
        if given.shape != (4,) or not np.isfinite(given).all():
            raise ValueError(f"the action is {action!r}; it must be four finite numbers from -1 to 1.")
        observation, reward, _, _, info = self._sim.step(np.clip(given, -1.0, 1.0))
        self._steps += 1
        info = {name: float(value) for name, value in info.items()}
        info["success"] = bool(info["success"])
        truncated = self._steps == self.task_spec.episode_steps
        return self._inside(observation), float(reward), False, truncated, info

    def render(self) -> None:
        """Refused: physics draws no pictures."""
        raise ValueError(
            f"this environment of {self.task_spec.name!r} was made without pictures; "
            "use orcalign.envs.make(task, render='fast') or render='paper'."
        )

    def _inside(self, observation: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        # Meta-world clips at every step but not at reset; a policy should see one kind of observation.
        space: Any = self.observation_space
        return np.clip(observation, space.low, space.high)


@final
class MetaworldExpert:
    """Meta-world's script for a task; float32 [4] from -1 to 1.

    >>> from orcalign.envs.tasks import find_task
    >>> expert = MetaworldExpert(find_task("door-close"))
    >>> expert(np.zeros(39), success=False).shape
    (4,)
    """

    def __init__(self, spec: TaskSpec) -> None:
        from metaworld.policies import ENV_POLICY_MAP

        script: Any = ENV_POLICY_MAP[spec.env_id]
        self._policy = script()
        self._stops, self._stopped = spec.env_id in STOPS, False

    def __call__(self, observation: npt.NDArray[Any], success: bool) -> npt.NDArray[np.float32]:
        """Follow the script; where it would undo its work, rest after the first success."""
        self._stopped |= self._stops and success
        if self._stopped:
            return np.zeros(4, np.float32)
        with warnings.catch_warnings():
            # The scripts ask for more than full speed and say so at every step; the action is clipped.
            warnings.filterwarnings("ignore", message=r"Constant\(s\) may be too high")
            # A copy, because some scripts write into what they are given.
            action = self._policy.get_action(observation[:39].copy())
        return np.asarray(np.clip(action, -1.0, 1.0), np.float32)
