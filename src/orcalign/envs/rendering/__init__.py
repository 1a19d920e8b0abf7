"""Pictures of MuJoCo scenes: fast ones for training, the paper's for comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orcalign.checks import near_miss
from orcalign.envs.rendering.backend import OpenGLError, choose_backend
from orcalign.envs.rendering.fast import FastRenderer
from orcalign.envs.rendering.paper import FrameRenderer, PaperRenderer

if TYPE_CHECKING:
    import mujoco

__all__ = ["RENDER_MODES", "FrameRenderer", "OpenGLError", "choose_backend", "make_renderer"]

RENDER_MODES: dict[str, int] = {"fast": 128, "paper": 224}
"""Modes and the size [S,S,3] of their pictures. 128 is what the default encoder sees, so nothing is resized."""
_LARGEST = 2048


def make_renderer(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    camera: str | mujoco.MjvCamera | None = None,
    mode: str = "fast",
    size: int | None = None,
    flip: bool = False,
) -> FrameRenderer:
    """Something that draws `camera`'s view of a simulation as uint8 [S,S,3], without touching the simulation.

    `camera` is a name in the model, a `mujoco.MjvCamera`, or None for MuJoCo's free camera. `size` is S, by default
    that of the mode in `RENDER_MODES`. `flip` turns the picture upside down, which Meta-world's corner cameras need.
    Works for every MuJoCo model; textures must not change while the renderer lives, all else may.

    >>> import mujoco
    >>> model = mujoco.MjModel.from_xml_string('''<mujoco><worldbody><light pos="0 0 3"/>
    ... <camera name="above" pos="0 0 2"/><geom size=".3" rgba="1 0 0 1"/></worldbody></mujoco>''')
    >>> data = mujoco.MjData(model)
    >>> mujoco.mj_forward(model, data)
    >>> renderer = make_renderer(model, data, "above", size=32)
    >>> picture = renderer.render()
    >>> picture.shape, bool(picture[16, 16, 0] > picture[16, 16, 1])
    ((32, 32, 3), True)
    >>> renderer.close()
    >>> make_renderer(model, data, "abvoe")
    Traceback (most recent call last):
        ...
    ValueError: There is no camera 'abvoe'; did you mean 'above'? The model has: above.
    """
    if mode not in RENDER_MODES:
        hint = near_miss(mode, RENDER_MODES)
        raise ValueError(f"There is no render mode {mode!r};{hint} The modes are: {', '.join(RENDER_MODES)}.")
    side = RENDER_MODES[mode] if size is None else size
    if not isinstance(side, int) or isinstance(side, bool) or not 1 <= side <= _LARGEST:
        raise ValueError(f"The size of a picture is {side!r}; it must be a whole number from 1 to {_LARGEST}.")
    renderer = FastRenderer if mode == "fast" else PaperRenderer
    return renderer(model, data, _camera(model, camera), side, flip)


def _camera(model: mujoco.MjModel, camera: str | mujoco.MjvCamera | None) -> mujoco.MjvCamera:
    import mujoco

    if isinstance(camera, mujoco.MjvCamera):
        return camera
    view = mujoco.MjvCamera()
    if camera is None:
        mujoco.mjv_defaultFreeCamera(model, view)
        return view
    view.type = mujoco.mjtCamera.mjCAMERA_FIXED
    view.fixedcamid = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_CAMERA, camera)
    if view.fixedcamid < 0:
        names = [model.camera(i).name for i in range(model.ncam)]
        known = ", ".join(names) or "none (use None for the free camera)"
        raise ValueError(f"There is no camera {camera!r};{near_miss(camera, names)} The model has: {known}.")
    return view
