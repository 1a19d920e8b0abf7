"""Nearly the same pictures, many times faster on a CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from orcalign.envs.rendering.decimate import decimated
from orcalign.envs.rendering.layers import GLASS, MOVING, STATIC, Layers, compose, glaze, shrink
from orcalign.envs.rendering.paper import Depth, Frame, FrameRenderer

if TYPE_CHECKING:
    import mujoco

# Samples along each side of a pixel. The paper's pictures are smooth; a ragged arm would be another picture.
FINE = 2


class FastRenderer(FrameRenderer):
    """Small, without shadows, reflections and antialiasing, meshes decimated, the standing part drawn once."""

    mode = "fast"

    def __init__(
        self, model: mujoco.MjModel, data: mujoco.MjData, camera: mujoco.MjvCamera, size: int, flip: bool
    ) -> None:
        import mujoco

        lean = decimated(model, cell=_pixel(model, data, camera, size))
        lean.vis.quality.offsamples = lean.vis.quality.shadowsize = 0
        super().__init__(lean, data, camera, lean, size * FINE)
        self.size, self._flip = size, flip
        self._layers = Layers(model, lean)
        self._scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = 0
        self._scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = 0
        self._sky = int(mujoco.mjtRndFlag.mjRND_SKYBOX)
        everything = (STATIC, MOVING, GLASS)
        self._all, *layers = (_options(shown) for shown in (everything, (STATIC,), (MOVING,), (GLASS,)))
        self._still, self._moving, self._panes = layers
        self._depth = np.empty(self._rgb.shape[:2], np.float32)
        self._background, self._far = np.empty_like(self._rgb), np.empty_like(self._depth)
        self._glazed = self._background
        self._behind = np.empty((size, size, 3), np.uint8)
        self._glass, self._pane = np.empty_like(self._rgb), np.empty_like(self._depth)
        self._view: npt.NDArray[np.float64] | None = None
        self._kept = self._restless = False

    def render(self) -> Frame:
        """The scene as it is now, uint8 [S,S,3]."""
        changed = self._layers.update(self._data)
        self._update(self._moving)
        changed |= self._view_changed()
        self._kept &= not changed
        # Where everything moves (a camera on a body) a background would be drawn for one picture only.
        whole = self._layers.mixed or (changed and self._restless)
        self._restless = changed
        if whole:
            self._update(self._all)
            self._draw(self._rgb)
            return shrink(self._rgb, FINE, self._flip)
        glass = self._layers.glass
        if not self._kept or (glass is not None and self._layers.glass_moved):
            self._draw_behind(glass)
            self._kept = True
            self._update(self._moving)
        self._draw_alone(self._rgb, self._depth)
        if glass is not None:
            glaze(self._rgb, self._depth, self._glass, self._pane, glass)
        return compose(self._rgb, self._depth, self._glazed, self._far, self._behind, FINE, self._flip)

    def _draw_behind(self, glass: float | None) -> None:
        """The background, unless it is there, and glass before it; where panes overlap, the nearest is seen."""
        if not self._kept:
            self._update(self._still)
            self._draw(self._background, self._far)
        self._glazed = self._background
        if glass is not None:
            self._update(self._panes)
            for pane in self._scene.geoms[: self._scene.ngeom]:
                pane.rgba[3] = 1
            self._draw_alone(self._glass, self._pane)
            self._glazed = self._background.copy()
            glaze(self._glazed, self._far, self._glass, self._pane, glass)
        self._behind = shrink(self._glazed, FINE, self._flip)

    def _draw_alone(self, rgb: Frame, depth: Depth) -> None:
        self._scene.flags[self._sky] = 0
        self._draw(rgb, depth)
        self._scene.flags[self._sky] = 1

    def _view_changed(self) -> bool:
        eye = self._scene.camera[0]
        frustum = (eye.frustum_center, eye.frustum_bottom, eye.frustum_top, eye.frustum_near, eye.frustum_far)
        view = np.concatenate([eye.pos, eye.forward, eye.up, frustum])
        changed = self._view is None or not np.array_equal(view, self._view)
        self._view = view
        return changed


def _options(groups: tuple[int, ...]) -> mujoco.MjvOption:
    """What to draw: geoms and sites of the groups, and all that hangs between bodies if they can move."""
    import mujoco

    options = mujoco.MjvOption()
    for shown in (options.geomgroup, options.sitegroup):
        shown[:] = 0
        shown[list(groups)] = 1
    if MOVING not in groups:
        for hidden in (options.tendongroup, options.skingroup, options.flexgroup):
            hidden[:] = 0
        options.flags[mujoco.mjtVisFlag.mjVIS_RANGEFINDER] = 0
    return options


def _pixel(model: mujoco.MjModel, data: mujoco.MjData, camera: mujoco.MjvCamera, size: int) -> float:
    """Side in metres of what one pixel shows at the middle of the scene."""
    import mujoco

    distance, fovy = camera.distance, model.vis.global_.fovy
    if camera.type == mujoco.mjtCamera.mjCAMERA_FIXED:
        distance = float(np.linalg.norm(data.cam_xpos[camera.fixedcamid] - model.stat.center))
        fovy = model.cam_fovy[camera.fixedcamid]
    return float(2 * distance * np.tan(np.radians(fovy) / 2) / size)
