"""How the humanoid looks: sky, tiles and skin that are computed here, and a camera at its height.

Nothing of it changes what is simulated. That an ordinary encoder sees more in such a scene than in the plain one is
Rocamonde et al.'s finding (Vision-Language Models are Zero-Shot Reward Models, ICLR 2024); the textures are our own.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

CAMERA = "front"
CAMERA_PLACE, CAMERA_TARGET, CAMERA_ANGLE = (3.6, -0.7, 1.35), (0.05, 0.0, 1.0), 34.0
"""In metres and degrees: as high as the head, a little to its right, so that what points forward is seen too."""
SIDE = 256
"""Pixels of a texture's side."""
Texture = npt.NDArray[np.uint8]


def noise(side: int, cells: int, seed: int, octaves: int = 4) -> npt.NDArray[np.float64]:
    """[side, side] Smooth numbers from 0 to 1 that go on over the edges: waves of random phases.

    >>> one = noise(32, 2, seed=0)
    >>> one.shape, float(one.min()), float(one.max())
    ((32, 32), 0.0, 1.0)
    """
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:side, 0:side] * (2 * np.pi / side)
    total = np.zeros((side, side))
    for octave in range(octaves):
        for _ in range(6):
            a, b = rng.integers(-cells * 2**octave, cells * 2**octave + 1, 2)
            total += 0.6**octave * np.sin(a * x + b * y + rng.uniform(0, 2 * np.pi))
    total -= total.min()
    found: npt.NDArray[np.float64] = total / total.max()
    return found


def blend(low: tuple[float, ...], high: tuple[float, ...], share: npt.NDArray[np.float64]) -> Texture:
    """[..., 3] Colours between two, from 0 to 255."""
    mixed = np.array(low) + share[..., None] * (np.array(high) - np.array(low))
    colours: Texture = np.clip(mixed, 0, 255).round().astype(np.uint8)
    return colours


def tiles(side: int = SIDE) -> Texture:
    """[side, side, 3] Four stone tiles, two light and two dark, with joints between them."""
    y, x = np.mgrid[0:side, 0:side]
    stone = noise(side, 3, seed=1)
    dark = ((2 * y // side + 2 * x // side) % 2)[..., None].astype(bool)
    picture = np.where(
        dark, blend((96, 90, 84), (128, 120, 110), stone), blend((168, 160, 150), (196, 188, 176), stone)
    )
    joint, half = max(1, side // 64), side // 2
    picture[((y % half < joint) | (x % half < joint))] = (70, 66, 62)
    return picture


def skin(side: int = SIDE) -> Texture:
    """[side, side, 3] Skin: two tones, clouded."""
    return blend((168, 112, 84), (214, 160, 126), noise(side, 2, seed=2))


def sky(side: int = SIDE) -> Texture:
    """[6 side, side, 3] The faces of a cube (right, left, up, down, front, back): blue, paler below, with clouds."""
    faces = []
    for k in range(6):
        height = np.tile(np.linspace(1, 0, side)[:, None], side)
        if k in (2, 3):
            height = np.full((side, side), 2.0 if k == 2 else 0.0)
        clouds = np.clip(noise(side, 2, seed=10 + k) * 2 - 1.1, 0, 1) * np.clip(height * 2, 0, 1)
        blue = blend((196, 214, 228), (88, 140, 200), np.clip(height * 1.4 - 0.5, 0, 1))
        faces.append(np.round(blue + clouds[..., None] * (245.0 - blue)).astype(np.uint8))
    return np.concatenate(faces)


def dressed(path: Path, side: int = SIDE) -> Any:
    """The MuJoCo model of a file of Gymnasium's humanoid, dressed and with the camera `CAMERA`."""
    import mujoco

    spec = mujoco.MjSpec.from_file(str(path))
    kinds = {"sky": mujoco.mjtTexture.mjTEXTURE_SKYBOX, "skin": mujoco.mjtTexture.mjTEXTURE_CUBE}
    pictures = {"sky": sky(side), "skin": np.concatenate([skin(side)] * 6), "tiles": tiles(side)}
    for texture, name in zip(spec.textures, ("sky", "skin", "tiles"), strict=True):
        picture = pictures[name]
        texture.name, texture.type = name, kinds.get(name, mujoco.mjtTexture.mjTEXTURE_2D)
        texture.builtin, texture.mark, texture.random = (
            mujoco.mjtBuiltin.mjBUILTIN_NONE, mujoco.mjtMark.mjMARK_NONE, 0.0,
        )  # fmt: skip
        texture.height, texture.width, texture.nchannel = *picture.shape[:2], 3
        texture.data = picture.tobytes()
    floor, body = spec.materials
    floor.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "tiles"
    floor.texrepeat, floor.reflectance, floor.specular, floor.shininess = (1, 1), 0.1, 0.2, 0.2
    floor.texuniform = True
    body.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = "skin"
    body.specular, body.shininess = 0.15, 0.2
    for geom in spec.geoms:
        geom.rgba = (1, 1, 1, 1)
    spec.visual.map.fogstart, spec.visual.map.fogend = 8, 20
    (sun,) = spec.lights
    sun.pos, sun.dir, sun.diffuse, sun.ambient = (2, -2, 4), (-0.45, 0.35, -1.0), (0.75, 0.75, 0.72), (0.25, 0.25, 0.28)
    spec.visual.headlight.ambient, spec.visual.headlight.diffuse = (0.25,) * 3, (0.3,) * 3
    back = np.array(CAMERA_PLACE) - CAMERA_TARGET
    right = np.cross((0, 0, 1), back)
    up = np.cross(back, right)
    camera = spec.worldbody.add_camera(name=CAMERA, pos=CAMERA_PLACE, fovy=CAMERA_ANGLE)
    camera.alt.type = mujoco.mjtOrientation.mjORIENTATION_XYAXES
    camera.alt.xyaxes = np.concatenate([right / np.linalg.norm(right), up / np.linalg.norm(up)])
    return spec.compile()
