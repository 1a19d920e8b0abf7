"""Pictures as Meta-world draws them and the paper used them."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import numpy as np

from orcalign.encoders.resize import resize
from orcalign.envs.rendering.canvas import MAX_GEOMS, Canvas, Frame

if TYPE_CHECKING:
    import mujoco

# The side that is drawn before the picture is shrunk, as the authors did.
DRAWN = 480


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
