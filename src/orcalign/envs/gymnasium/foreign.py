"""An environment that others wrote, as ours are: success under the one name, pictures whoever drew last, observations
that are what they are said to be."""

from __future__ import annotations

import os
import weakref
from typing import Any, final

import gymnasium

from orcalign.envs.gymnasium.observed import check_observation
from orcalign.envs.suite import Env, Reset, Step


@final
class Foreign(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Passes everything on, but for three things.

    - An observation that is not finite, or not of the shape that the observation space says, is a ValueError.
    - `info["is_success"]`, as goal environments report it, is in `info["success"]` as well.
    - Gymnasium's MuJoCo environments draw into whichever OpenGL context is current; once another environment or our
      own renderer has drawn, their pictures are black. Here their own context is made current first.

    >>> env = Foreign(gymnasium.make("Reacher-v5", render_mode="rgb_array", disable_env_checker=True))
    >>> _ = env.reset(seed=0)
    >>> env.render().shape
    (480, 480, 3)
    """

    def __init__(self, env: Env) -> None:
        super().__init__(env)
        self._mujoco: Any = getattr(env.unwrapped, "mujoco_renderer", None)
        self._finalizer: weakref.finalize[..., Any] | None = None
        self._steps = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Reset:
        """A new episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._steps = 0
        check_observation(self.env.observation_space, observation, 0)
        return observation, info

    def step(self, action: Any) -> Step:
        """One step, and whether it succeeded."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._steps += 1
        check_observation(self.env.observation_space, observation, self._steps)
        if "is_success" in info:
            info = {"success": bool(info["is_success"]), **info}
        return observation, reward, terminated, truncated, info

    def render(self) -> Any:
        """What the environment itself draws."""
        if self._mujoco is None:
            return self.env.render()
        from orcalign.envs.rendering.backend import choose_backend, gl_lock

        with gl_lock:
            if self._mujoco.viewer is None:
                # Left to itself, Gymnasium tries glfw first, and goes on without a display until MuJoCo gives up.
                os.environ["MUJOCO_GL"] = choose_backend()
                # At the end of Python OpenGL's functions are gone before the pictures are.
                self._finalizer = weakref.finalize(self, _free, self._mujoco)
            else:
                self._mujoco.viewer.make_context_current()
            return self.env.render()

    def close(self) -> None:
        """Give the pictures' memory back, then what else the environment has."""
        if self._finalizer is not None:
            self._finalizer()
        self.env.close()


def _free(renderer: Any) -> None:
    """Free what a `MujocoRenderer` draws with, in its own context: in another's, other pictures would be freed."""
    from orcalign.envs.rendering.backend import gl_lock

    with gl_lock:
        for viewer in renderer._viewers.values():
            viewer.make_context_current()
            viewer.con.free()
            viewer.free()
        renderer._viewers.clear()
        renderer.viewer = None
