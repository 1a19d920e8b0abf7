"""MuJoCo's drawing context, within the process's one OpenGL context."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from orcalign.envs.rendering import backend

if TYPE_CHECKING:
    import mujoco

Frame = npt.NDArray[np.uint8]
# More than any scene has; MuJoCo reserves the memory at once.
MAX_GEOMS = 10_000


class Canvas:
    """MuJoCo's drawing context for one model at one size, within the process's one OpenGL context."""

    def __init__(self, model: mujoco.MjModel, side: int) -> None:
        import mujoco

        self.side = side
        model.vis.global_.offwidth = model.vis.global_.offheight = side
        self.area = mujoco.MjrRect(0, 0, side, side)
        with backend.gl_lock:
            backend.make_current()
            self._context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_50)
            self.close = backend.free_with(self, self._context.free)

    def draw(self, scene: mujoco.MjvScene, rgb: Frame, depth: npt.NDArray[np.float32] | None) -> None:
        """Draw the scene into `rgb` [S,S,3] and `depth` [S,S], first row at the bottom."""
        import mujoco

        if not self.close.alive:
            raise ValueError("This renderer is closed; make a new one with make_renderer.")
        with backend.gl_lock:
            backend.make_current()
            # Another renderer may have bound its own framebuffer since.
            mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)
            mujoco.mjr_render(self.area, scene, self._context)
            mujoco.mjr_readPixels(rgb, depth, self.area, self._context)
