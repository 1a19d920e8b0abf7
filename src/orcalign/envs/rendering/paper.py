"""Pictures as Meta-world draws them and the paper used them; and what all renderers have."""

from __future__ import annotations

import abc
import copy
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from orcalign.encoders.resize import resize
from orcalign.envs.rendering import backend

if TYPE_CHECKING:
    import mujoco

Frame = npt.NDArray[np.uint8]
Depth = npt.NDArray[np.float32]
# More than any scene has; MuJoCo reserves the memory at once.
MAX_GEOMS = 10_000
# The side that is drawn before the picture is shrunk, as the authors did.
DRAWN = 480


class FrameRenderer(abc.ABC):
    """Draws one camera's view of one simulation; `make_renderer` makes them.

    Within the process's one OpenGL context it has an own drawing context of MuJoCo's, for `canvas`: a model like the
    simulation's, whose picture is `side` pixels wide. Poses come from `data`, which is read and never written.
    """

    mode: str
    size: int

    def __init__(
        self,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        camera: mujoco.MjvCamera,
        canvas: mujoco.MjModel,
        side: int,
    ) -> None:
        import mujoco

        self._model, self._data, self._camera = model, data, camera
        self._scene = mujoco.MjvScene(model, MAX_GEOMS)
        self._rgb = np.empty((side, side, 3), np.uint8)
        self._area = mujoco.MjrRect(0, 0, side, side)
        canvas.vis.global_.offwidth = canvas.vis.global_.offheight = side
        with backend.gl_lock:
            backend.make_current()
            self._context = mujoco.MjrContext(canvas, mujoco.mjtFontScale.mjFONTSCALE_50)
            self._free = backend.free_with(self, self._context.free)

    @abc.abstractmethod
    def render(self) -> Frame:
        """The scene as it is now, uint8 [S,S,3], in an array of its own."""

    def close(self) -> None:
        """Give the memory back; drawing afterwards is an error, closing twice is not."""
        self._free()

    def _update(self, options: mujoco.MjvOption) -> None:
        import mujoco

        everything = mujoco.mjtCatBit.mjCAT_ALL
        mujoco.mjv_updateScene(self._model, self._data, options, None, self._camera, everything, self._scene)

    def _draw(self, rgb: Frame, depth: Depth | None = None) -> None:
        """Draw the scene into `rgb` [side,side,3] and `depth` [side,side], first row at the bottom."""
        import mujoco

        if not self._free.alive:
            raise ValueError("This renderer is closed; make a new one with make_renderer.")
        with backend.gl_lock:
            backend.make_current()
            # Another renderer may have bound its own framebuffer since.
            mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._context)
            mujoco.mjr_render(self._area, self._scene, self._context)
            mujoco.mjr_readPixels(rgb, depth, self._area, self._context)


class PaperRenderer(FrameRenderer):
    """480x480 with shadows, reflections and antialiasing as Meta-world draws, shrunk to the asked size."""

    mode = "paper"

    def __init__(
        self, model: mujoco.MjModel, data: mujoco.MjData, camera: mujoco.MjvCamera, size: int, flip: bool
    ) -> None:
        import mujoco

        super().__init__(model, data, camera, copy.copy(model), max(DRAWN, size))
        self.size, self._flip, self._options = size, flip, mujoco.MjvOption()

    def render(self) -> Frame:
        """The scene as it is now, uint8 [S,S,3]."""
        self._update(self._options)
        self._draw(self._rgb)
        picture = (self._rgb if self._flip else self._rgb[::-1]).copy()
        small: Frame = resize(picture[None], self.size)[0]
        return small
