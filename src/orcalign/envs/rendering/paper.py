"""Pictures as Meta-world draws them and the paper used them; and the canvas on which all renderers draw."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from orcalign.encoders.resize import resize
from orcalign.envs.rendering import backend

if TYPE_CHECKING:
    import mujoco

Frame = npt.NDArray[np.uint8]
# More than any scene has; MuJoCo reserves the memory at once.
MAX_GEOMS = 10_000
# The side that is drawn before the picture is shrunk, as the authors did.
DRAWN = 480


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


class PaperRenderer:
    """480x480 with shadows, reflections and antialiasing as Meta-world draws, shrunk to the asked size."""

    mode = "paper"

    def __init__(
        self, model: mujoco.MjModel, data: mujoco.MjData, camera: mujoco.MjvCamera, size: int, flip: bool
    ) -> None:
        import mujoco

        self.size = size
        self._model, self._data, self._camera, self._flip = model, data, camera, flip
        self._canvas = Canvas(copy.copy(model), max(DRAWN, size))
        self._scene = mujoco.MjvScene(model, MAX_GEOMS)
        self._options = mujoco.MjvOption()
        self._rgb = np.empty((self._canvas.side, self._canvas.side, 3), np.uint8)

    def render(self) -> Frame:
        """The scene as it is now, uint8 [S,S,3]."""
        import mujoco

        everything = mujoco.mjtCatBit.mjCAT_ALL
        mujoco.mjv_updateScene(
            self._model, self._data, self._options, None, self._camera, everything, self._scene
        )
        self._canvas.draw(self._scene, self._rgb, None)
        picture = (self._rgb if self._flip else self._rgb[::-1]).copy()
        small: Frame = resize(picture[None], self.size)[0]
        return small

    def close(self) -> None:
        """Give the memory back."""
        self._canvas.close()
