"""Which parts of a scene stand still, drawn once and kept as a background with its depth; what moves; what is glass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from orcalign.envs.rendering.paper import Depth, Frame
from orcalign.matching.kernel import kernel

if TYPE_CHECKING:
    import mujoco

STATIC, MOVING, GLASS, HIDDEN = 0, 1, 2, 5

_PLAIN = np.array([0.5, 0.5, 0.5, 1], np.float32)
"""Colour of what has none of its own: MuJoCo takes the material's then."""

# What a picture depends on in the physics model, apart from poses: environments rewrite these at reset.
LOOKS = (
    "geom_size", "geom_rgba", "geom_matid", "geom_dataid", "site_size", "site_rgba", "site_matid",
    "mat_rgba", "mat_emission", "mat_specular", "mat_shininess", "mat_texid", "mat_texrepeat", "mat_texuniform",
    "light_active", "light_ambient", "light_diffuse", "light_specular", "light_attenuation", "light_cutoff",
    "light_exponent", "light_directional", "cam_fovy", "cam_ipd", "cam_intrinsic", "cam_sensorsize",
    "tendon_rgba", "tendon_width", "tendon_matid", "skin_rgba", "flex_rgba",
)  # fmt: skip


class Layers:
    """Sorts a render-only copy's geoms and sites into the background, what moves in front of it, and glass.

    `lean` is a copy of `model` with the same sizes. `update` brings its looks up to date and says whether the
    background has to be drawn anew. Something on a body that cannot move may still be moved by the environment
    (Meta-world places objects through ``model.body_pos``); what moves in two pictures running counts as moving
    from then on. What can be seen through is drawn by itself, as if it was solid, and blended over the rest.

    >>> import copy, mujoco
    >>> model = mujoco.MjModel.from_xml_string(
    ...     '<mujoco><worldbody><geom size=".1"/><body><freejoint/><geom size=".1"/></body></worldbody></mujoco>')
    >>> data = mujoco.MjData(model)
    >>> mujoco.mj_forward(model, data)
    >>> layers = Layers(model, copy.copy(model))
    >>> layers.update(data), layers.update(data)
    (True, False)
    >>> data.geom_xpos[1] += 1
    >>> layers.update(data)
    False
    >>> data.geom_xpos[0] += 1
    >>> layers.update(data)
    True
    """

    def __init__(self, model: mujoco.MjModel, lean: mujoco.MjModel) -> None:
        self.model, self.lean = model, lean
        self.glass: float | None = None
        """What glass takes away of what is behind it, from 0 to 1; None where there is no glass."""
        self.mixed = False
        """Whether panes differ in that, and none is in a layer: then only a picture of everything is right."""
        self.glass_moved = False
        """Whether glass is not where it was at the update before."""
        self._looks = [(getattr(model, name), getattr(lean, name)) for name in LOOKS]
        movable = _movable(model)
        moving = movable[self._both(model, "bodyid")]
        # MuJoCo draws groups 0 to 2 unless told otherwise, and so does Meta-world.
        self._groups = np.where(self._both(model, "group") > 2, HIDDEN, np.where(moving, MOVING, STATIC))
        self._poses: npt.NDArray[np.float64] | None = None
        self._moved_last = np.zeros(model.ngeom + model.nsite, bool)
        self._lights: npt.NDArray[np.float64] | None = None

    def update(self, data: mujoco.MjData) -> bool:
        """Copy the looks from the physics model; True where the background differs from the last picture's."""
        changed = False
        for now, kept in self._looks:
            if not np.array_equal(now, kept):
                kept[:] = now
                changed = True
        if changed or self._poses is None:
            self._find_glass()
        lights = np.concatenate([data.light_xpos.ravel(), data.light_xdir.ravel()])
        changed |= self._lights is None or not np.array_equal(lights, self._lights)
        self._lights = lights
        return self._pose_changed(data) or changed

    def _pose_changed(self, data: mujoco.MjData) -> bool:
        geoms = np.concatenate([data.geom_xpos, data.geom_xmat], axis=1)
        sites = np.concatenate([data.site_xpos, data.site_xmat], axis=1)
        poses = np.concatenate([geoms, sites])
        if self._poses is None:
            self._poses = poses
            return True
        moved = (poses != self._poses).any(axis=1)
        self._poses = poses
        group = self._both(self.lean, "group")
        self.glass_moved = bool((moved & (group == GLASS)).any())
        moved &= group == STATIC
        restless, self._moved_last = moved & self._moved_last, moved
        if restless.any():
            self._groups[restless] = MOVING
            self._find_glass()
        return bool(moved.any())

    def _find_glass(self) -> None:
        material, colour = self._both(self.lean, "matid"), self._both(self.lean, "rgba")
        own = (material < 0) | (colour != _PLAIN).any(axis=1)
        # The last row stands for what has no material, number -1.
        alpha = np.where(own, colour[:, 3], np.append(self.lean.mat_rgba[:, 3], 1.0)[material])
        glass = (self._groups != HIDDEN) & (alpha > 0) & (alpha < 1)
        shares = np.unique(alpha[glass])
        # OpenGL blends the front of a pane and its back.
        self.glass = 1 - (1 - float(shares[0])) ** 2 if len(shares) == 1 else None
        self.mixed = len(shares) > 1
        group = np.where(glass, GLASS, self._groups)
        self.lean.geom_group[:], self.lean.site_group[:] = np.split(group, [self.model.ngeom])

    @staticmethod
    def _both(model: mujoco.MjModel, what: str) -> npt.NDArray[Any]:
        """Something of all geoms, then of all sites."""
        return np.concatenate([getattr(model, f"{kind}_{what}") for kind in ("geom", "site")])


def _movable(model: mujoco.MjModel) -> npt.NDArray[np.bool_]:
    """Which bodies [nbody] simulation can move: with a joint or a mocap above them."""
    movable: npt.NDArray[np.bool_] = model.body_weldid != 0
    for body in range(1, model.nbody):
        movable[body] |= model.body_mocapid[body] >= 0 or movable[model.body_parentid[body]]
    return movable


@kernel
def glaze(picture: Frame, depth: Depth, glass: Frame, pane: Depth, share: float) -> None:
    """Blend glass over the samples [S,S,3] of a picture that are behind it, by ``share`` of the glass.

    >>> picture, glass = np.zeros((1, 2, 3), np.uint8), np.full((1, 2, 3), 200, np.uint8)
    >>> glaze(picture, np.array([[0.5, 0.5]], "f"), glass, np.array([[0.4, 0.6]], "f"), 0.25)
    >>> picture[..., 0].tolist()
    [[50, 0]]
    """
    takes = np.uint32(round(256 * share))
    leaves = np.uint32(256) - takes
    for i in range(len(picture)):
        for j in range(len(picture)):
            if pane[i, j] < depth[i, j]:
                for channel in range(3):
                    blended = leaves * picture[i, j, channel] + takes * glass[i, j, channel] + np.uint32(128)
                    picture[i, j, channel] = blended >> np.uint32(8)


@kernel
def compose(front: Frame, near: Depth, back: Frame, far: Depth, behind: Frame, fine: int, flip: bool) -> Frame:
    """The nearer of two pictures [S*fine,S*fine,3] at each sample, then the mean of each pixel's: [S,S,3].

    The first row given is at the bottom, as OpenGL has it, and stays there if `flip`. `behind` is `back`, shrunk with
    the same `fine` and `flip`: most of a picture is background, and is taken from there.

    >>> red, blue = np.zeros((2, 2, 3), np.uint8), np.zeros((2, 2, 3), np.uint8)
    >>> red[..., 0] = blue[..., 2] = 200
    >>> near, far = np.array([[0, 1], [0, 1]], np.float32), np.full((2, 2), 0.5, np.float32)
    >>> compose(red, near, blue, far, shrink(blue, 2, False), 2, False).tolist()
    [[[100, 0, 100]]]
    >>> compose(red, near, blue, far, shrink(blue, 1, False), 1, False)[0].tolist()
    [[200, 0, 0], [0, 0, 200]]
    """
    out = np.empty_like(behind)
    side = len(out)
    count = np.uint32(fine * fine)
    for y in range(side):
        row = y if flip else side - 1 - y
        for x in range(side):
            covered = False
            for i in range(y * fine, (y + 1) * fine):
                for j in range(x * fine, (x + 1) * fine):
                    covered |= near[i, j] < far[i, j]
            if not covered:
                for channel in range(3):
                    out[row, x, channel] = behind[row, x, channel]
                continue
            red = green = blue = count // np.uint32(2)
            for i in range(y * fine, (y + 1) * fine):
                for j in range(x * fine, (x + 1) * fine):
                    # Branch by branch: choosing the array instead takes three times as long.
                    if near[i, j] < far[i, j]:
                        red += front[i, j, 0]
                        green += front[i, j, 1]
                        blue += front[i, j, 2]
                    else:
                        red += back[i, j, 0]
                        green += back[i, j, 1]
                        blue += back[i, j, 2]
            out[row, x, 0] = red // count
            out[row, x, 1] = green // count
            out[row, x, 2] = blue // count
    return out


@kernel
def shrink(picture: Frame, fine: int, flip: bool) -> Frame:
    """The mean of each pixel's samples, [S*fine,S*fine,3] to [S,S,3].

    >>> shrink(np.array([[[0] * 3, [9] * 3], [[0] * 3, [9] * 3]], np.uint8), 2, False).tolist()
    [[[5, 5, 5]]]
    """
    side = len(picture) // fine
    out = np.empty((side, side, 3), np.uint8)
    count = np.uint32(fine * fine)
    for y in range(side):
        row = y if flip else side - 1 - y
        for x in range(side):
            for channel in range(3):
                total = count // np.uint32(2)
                for i in range(y * fine, (y + 1) * fine):
                    for j in range(x * fine, (x + 1) * fine):
                        total += picture[i, j, channel]
                out[row, x, channel] = total // count
    return out
