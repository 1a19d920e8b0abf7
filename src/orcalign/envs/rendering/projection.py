"""Where in a picture a place is, by the camera of a MuJoCo scene that draws it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import mujoco


def camera_projection(
    model: mujoco.MjModel, data: mujoco.MjData, camera: str, flip: bool = False
) -> npt.NDArray[np.float64]:
    """[3, 4] From a place in metres, with a 1 behind it, to where it is in a square picture of a named camera.

    The result is (x, y, 1) times the depth: x from the left and y from the top as shares of the picture's side.
    `flip` as for `make_renderer`. The scene is posed anew, so that the camera is where it stands.

    >>> import mujoco
    >>> scene = "<mujoco><worldbody><camera name='above' pos='0 0 2' fovy='90'/></worldbody></mujoco>"
    >>> model = mujoco.MjModel.from_xml_string(scene)
    >>> x, y, depth = camera_projection(model, mujoco.MjData(model), "above") @ [1.0, 0.0, 1.0, 1.0]
    >>> [round(float(one), 3) for one in (x / depth, y / depth, depth)]
    [1.0, 0.5, 1.0]
    """
    import mujoco

    mujoco.mj_forward(model, data)
    k = model.camera(camera).id
    right, up, back = data.cam_xmat[k].reshape(3, 3).T
    reach = 0.5 / np.tan(np.radians(model.cam_fovy[k]) / 2)
    down = up if flip else -up
    turned = np.stack([reach * right - 0.5 * back, reach * down - 0.5 * back, -back])
    return np.concatenate([turned, -turned @ data.cam_xpos[k][:, None]], axis=1)
