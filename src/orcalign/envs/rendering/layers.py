"""Which parts of a scene stand still: they are drawn once and kept as a background with its depth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import mujoco

STATIC, MOVING, HIDDEN = 0, 1, 5

# What a picture depends on in the physics model, apart from poses: environments rewrite these at reset.
LOOKS = (
    "geom_size", "geom_rgba", "geom_matid", "geom_dataid", "site_size", "site_rgba", "site_matid",
    "mat_rgba", "mat_emission", "mat_specular", "mat_shininess", "mat_texid", "mat_texrepeat", "mat_texuniform",
    "light_active", "light_ambient", "light_diffuse", "light_specular", "light_attenuation", "light_cutoff",
    "light_exponent", "light_directional", "cam_fovy", "cam_ipd", "cam_intrinsic", "cam_sensorsize",
    "tendon_rgba", "tendon_width", "tendon_matid", "skin_rgba", "flex_rgba",
)  # fmt: skip


class Layers:
    """Sorts a render-only copy's geoms and sites into the background and what moves in front of it.

    `lean` is a copy of `model` with the same sizes. `update` brings its looks up to date and says whether the
    background has to be drawn anew. Something on a body that cannot move may still be moved by the environment
    (Meta-world places objects through ``model.body_pos``); what moves in two pictures running counts as moving
    from then on.

    >>> import mujoco
    >>> model = mujoco.MjModel.from_xml_string(
    ...     '<mujoco><worldbody><geom size=".1"/><body><freejoint/><geom size=".1"/></body></worldbody></mujoco>')
    >>> data = mujoco.MjData(model)
    >>> mujoco.mj_forward(model, data)
    >>> layers = Layers(model, mujoco.MjModel.from_xml_string(
    ...     '<mujoco><worldbody><geom size=".1"/><body><freejoint/><geom size=".1"/></body></worldbody></mujoco>'))
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
        self.see_through = False
        self._looks = [(getattr(model, name), getattr(lean, name)) for name in LOOKS]
        movable = _movable(model)
        self._group(lean.geom_group, model.geom_group, movable[model.geom_bodyid])
        self._group(lean.site_group, model.site_group, movable[model.site_bodyid])
        self._poses: npt.NDArray[np.float64] | None = None
        self._moved_last = np.zeros(model.ngeom + model.nsite, bool)
        self._lights: npt.NDArray[np.float64] | None = None

    def _group(
        self, groups: npt.NDArray[np.int32], given: npt.NDArray[np.int32], moving: npt.NDArray[np.bool_]
    ) -> None:
        # MuJoCo draws groups 0 to 2 unless told otherwise, and so does Meta-world.
        groups[:] = np.where(given > 2, HIDDEN, np.where(moving, MOVING, STATIC))

    def update(self, data: mujoco.MjData) -> bool:
        """Copy the looks from the physics model; True where the background differs from the last picture's."""
        changed = False
        for now, kept in self._looks:
            if not np.array_equal(now, kept):
                kept[:] = now
                changed = True
        if changed or self._poses is None:
            self.see_through = self._any_see_through()
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
        groups = np.concatenate([self.lean.geom_group, self.lean.site_group])
        moved &= groups == STATIC
        restless = moved & self._moved_last
        self._moved_last = moved
        if restless.any():
            ngeom = self.model.ngeom
            self.lean.geom_group[restless[:ngeom]] = MOVING
            self.lean.site_group[restless[ngeom:]] = MOVING
        return bool(moved.any())

    def _any_see_through(self) -> bool:
        lean = self.lean
        for kind in ("geom", "site"):
            shown = getattr(lean, f"{kind}_group") != HIDDEN
            material = getattr(lean, f"{kind}_matid")
            alpha = getattr(lean, f"{kind}_rgba")[:, 3]
            through = (alpha > 0) & (alpha < 1)
            if lean.nmat:
                through |= (material >= 0) & (lean.mat_rgba[np.maximum(material, 0), 3] < 1)
            if bool((through & shown).any()):
                return True
        return False


def _movable(model: mujoco.MjModel) -> npt.NDArray[np.bool_]:
    """Which bodies [nbody] simulation can move: with a joint or a mocap above them."""
    movable: npt.NDArray[np.bool_] = model.body_weldid != 0
    for body in range(1, model.nbody):
        movable[body] |= model.body_mocapid[body] >= 0 or movable[model.body_parentid[body]]
    return movable
