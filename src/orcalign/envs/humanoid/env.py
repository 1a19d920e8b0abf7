"""The humanoid that is to move its arms and stand: Gymnasium's Humanoid-v4, dressed, with a success of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any, final

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.envs.mujoco.humanoid_v4 import HumanoidEnv

from orcalign.envs.humanoid.look import dressed
from orcalign.envs.humanoid.poses import ARMS, goal_arms, joint_places
from orcalign.envs.suite import Reset, Step
from orcalign.envs.tasks import TaskSpec

STANDING = 1.1
"""Height in metres of the torso above which it stands."""
FALLEN = 1.0
"""And below which it has fallen."""
NEAR = 1.0
"""Radians from the goal's arm angles within which the arms are there."""
FASTEST = 1e3
"""Of any joint, in radians or metres a second: beyond it the simulation has burst, or is about to."""
ROOT = 7
"""Numbers of a position before the hinges'."""


class _Dressed(HumanoidEnv):
    """Gymnasium's, with our model: what is simulated is the same."""

    def _initialize_simulation(self) -> Any:
        import mujoco

        model = dressed(Path(self.fullpath))
        return model, mujoco.MjData(model)


@final
class HumanoidArms(gymnasium.Env[npt.NDArray[np.float64], npt.NDArray[np.float32]]):
    """One humanoid task; observation float64 [376], action float32 [17] from -0.4 to 0.4, 0.015 s a step.

    It begins upright with the arms curled to the chest, each joint within 0.01 of that, and never ends early, fallen
    or not; only where the simulation bursts the episode is over, terminated, without success. `info["success"]`: the
    torso is above 1.1 m, and the six arm angles are within a Euclidean distance of 1 of the goal's; `info["fallen"]`:
    the torso is below 1.0 m. The reward is Gymnasium's own.

    >>> from orcalign.envs.tasks import find_task
    >>> env = HumanoidArms(find_task("humanoid-arms-out"))
    >>> observation, info = env.reset(seed=7)
    >>> observation.shape, round(info["height"], 1), round(info["distance"], 1), info["success"]
    ((376,), 1.4, 2.5, False)
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (Gymnasium's way)

    def __init__(self, spec: TaskSpec) -> None:
        self.task_spec = spec
        make: Any = _Dressed
        self._sim = make(terminate_when_unhealthy=False)
        self.goal = goal_arms(spec.name)
        """[6] Arm angles."""
        space: Any = self._sim.observation_space
        self.observation_space = space
        self.action_space = gymnasium.spaces.Box(-0.4, 0.4, (17,), np.float32)
        self._steps = 0
        self._last = np.zeros(space.shape)
        self._over = False

    @property
    def model(self) -> Any:
        """The mujoco.MjModel that is simulated."""
        return self._sim.model

    @property
    def data(self) -> Any:
        """The mujoco.MjData that is simulated."""
        return self._sim.data

    @property
    def angles(self) -> npt.NDArray[np.float64]:
        """[17] Of the hinges, in radians, in the order of `HINGES`."""
        found: npt.NDArray[np.float64] = self.data.qpos[ROOT:].copy()
        return found

    def put(self, angles: npt.NDArray[np.float64], root: npt.NDArray[np.float64] | None = None) -> None:
        """Put the joints at these angles [17], at rest, and the torso [7] where one says."""
        position = self._sim.init_qpos.copy()
        position[ROOT:] = angles
        if root is not None:
            position[:ROOT] = root
        self._sim.set_state(position, np.zeros_like(self._sim.init_qvel))

    def observe(self) -> npt.NDArray[np.float64]:
        """The observation [376] of the world as it is, however it came about."""
        observation: npt.NDArray[np.float64] = self._sim._get_obs()
        return observation

    def joints(self) -> npt.NDArray[np.float64]:
        """Places [18, 3] of the joints in metres."""
        return joint_places(self.model, self.data)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Reset:
        """Upright, arms curled."""
        super().reset(seed=seed)
        # Gymnasium's own seeding, so that a seed is the episode that it is there.
        observation, _ = self._sim.reset(seed=seed)
        self._clear_warnings()
        self._steps, self._over, self._last = 0, False, observation
        return observation.copy(), self.facts()

    def step(self, action: npt.NDArray[np.float32]) -> Step:
        """One step of 0.015 s."""
        if self._over:
            raise ValueError(
                f"the episode of {self.task_spec.name!r} ended after {self._steps} steps; call reset() before step()."
            )
        given = np.asarray(action, np.float32)
        if given.shape != (17,) or not np.isfinite(given).all():
            raise ValueError(f"the action is {action!r}; it must be seventeen finite numbers from -0.4 to 0.4.")
        observation, reward, _, _, info = self._sim.step(np.clip(given, -0.4, 0.4))
        self._steps += 1
        truncated = self._steps == self.task_spec.episode_steps
        if self._burst(observation):
            # MuJoCo has put the humanoid back to its start, or will: what is seen last is what was sane last.
            self._over = True
            info = {"success": False, "fallen": True, "burst": True, "height": 0.0, "distance": float(np.pi)}
            return self._last.copy(), 0.0, True, False, info
        self._over, self._last = truncated, observation
        facts = {name: float(info[name]) for name in ("reward_alive", "reward_quadctrl", "reward_linvel")}
        return observation.copy(), float(reward), False, truncated, {**facts, **self.facts()}

    def render(self) -> None:
        """Refused: physics draws no pictures."""
        raise ValueError(
            f"this environment of {self.task_spec.name!r} was made without pictures; "
            "use orcalign.envs.make(task, render='fast') or render='paper'."
        )

    def facts(self) -> dict[str, Any]:
        """What `info` says of now: success, fallen, height of the torso in metres, distance of the arms in radians."""
        height = float(self.data.qpos[2])
        distance = float(np.linalg.norm(self.angles[ARMS] - self.goal))
        success = height > STANDING and distance < NEAR
        return {"success": success, "fallen": height < FALLEN, "height": height, "distance": distance}

    def _burst(self, observation: npt.NDArray[np.float64]) -> bool:
        import mujoco

        kinds = mujoco.mjtWarning
        bad = (kinds.mjWARN_BADQPOS, kinds.mjWARN_BADQVEL, kinds.mjWARN_BADQACC)
        warned = any(self.data.warning[int(kind)].number for kind in bad)
        return warned or not np.isfinite(observation).all() or bool(np.abs(self.data.qvel).max() > FASTEST)

    def _clear_warnings(self) -> None:
        for warning in self.data.warning:
            warning.number = 0
