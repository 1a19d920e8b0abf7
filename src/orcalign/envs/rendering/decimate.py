"""A copy of a compiled model whose meshes have fewer faces, for drawing only."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import mujoco

Points = npt.NDArray[np.float32]
Triangles = npt.NDArray[np.int32]

# A mesh of this many faces is drawn as fast as a box: what costs is the draw call.
SMALLEST = 300
_NEIGHBOURS = 12


def decimated(model: mujoco.MjModel, cell: float, smallest: int = SMALLEST) -> mujoco.MjModel:
    """A copy of `model` whose meshes show nothing finer than `cell` metres.

    The arrays are rewritten in place and keep their sizes, so every index stays what it was and the copy can be
    drawn with the original's `MjData`. It is for drawing only: its collision hulls no longer fit its meshes.
    Meshes of at most `smallest` faces and those with texture coordinates are left as they are.

    >>> import mujoco
    >>> angle = np.linspace(0, 6.28, 40)
    >>> ring = " ".join(f"{np.cos(a):.3f} {np.sin(a):.3f} {z}" for a in angle for z in (0, 1))
    >>> model = mujoco.MjModel.from_xml_string(
    ...     f'<mujoco><asset><mesh name="tin" vertex="{ring}"/></asset>'
    ...     '<worldbody><geom type="mesh" mesh="tin"/></worldbody></mujoco>')
    >>> lean = decimated(model, cell=0.5, smallest=20)
    >>> bool(lean.mesh_facenum[0] < model.mesh_facenum[0] / 2), lean.nmeshface == model.nmeshface
    (True, True)
    """
    lean = copy.copy(model)
    for mesh in range(model.nmesh):
        if cell > 0 and model.mesh_facenum[mesh] > smallest and model.mesh_texcoordnum[mesh] == 0:
            _decimate(lean, mesh, cell)
    return lean


def _decimate(model: mujoco.MjModel, mesh: int, cell: float) -> None:
    vertices = model.mesh_vert[model.mesh_vertadr[mesh] :][: model.mesh_vertnum[mesh]]
    faces = model.mesh_face[model.mesh_faceadr[mesh] :][: model.mesh_facenum[mesh]]
    corners = model.mesh_facenormal[model.mesh_faceadr[mesh] :][: model.mesh_facenum[mesh]]
    normals = model.mesh_normal[model.mesh_normaladr[mesh] :][: model.mesh_normalnum[mesh]]
    points, triangles = clustered(vertices, faces, cell)
    # A mesh smaller than a cell would vanish; whole, it costs little.
    if len(triangles) < 4:
        return
    at = np.zeros(len(normals), np.int64)
    at[corners.ravel()] = faces.ravel()
    chosen = _nearest_normals(points, triangles, vertices[at], normals)
    vertices[: len(points)] = points
    faces[: len(triangles)] = triangles
    corners[: len(triangles)] = chosen
    model.mesh_facenum[mesh] = len(triangles)
    model.mesh_vertnum[mesh] = len(points)


def clustered(vertices: Points, faces: Triangles, cell: float) -> tuple[Points, Triangles]:
    """Vertices [V,3] that share a cell of a grid become one; faces [F,3] that lose a corner or are doubled go.

    Collapsing edges leaves fewer faces for the same error, but the meshes of robots come from CAD programs with
    thousands of open seams, and there it tears holes. A seam's two sides fall into the same cell and close.

    >>> square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [1.01, 1, 0]], np.float32)
    >>> points, triangles = clustered(square, np.array([[0, 1, 2], [0, 2, 3], [1, 4, 2]], np.int32), 0.5)
    >>> len(points), len(triangles)
    (4, 2)
    """
    _, index = np.unique(np.round(vertices / cell).astype(np.int64), axis=0, return_inverse=True)
    index = index.ravel()
    count = np.bincount(index)
    points = np.stack([np.bincount(index, vertices[:, k]) / count for k in range(3)], axis=1)
    corners = index[faces]
    a, b, c = corners.T
    corners = corners[(a != b) & (b != c) & (c != a)]
    # Turned so that the smallest index is first, a face and its double are equal, but not the face seen from behind.
    turn = (np.arange(3) + corners.argmin(axis=1)[:, None]) % 3
    corners = np.unique(np.take_along_axis(corners, turn, axis=1), axis=0)
    return points.astype(np.float32), corners.astype(np.int32)


def _nearest_normals(points: Points, triangles: Triangles, places: Points, normals: Points) -> npt.NDArray[np.int64]:
    """For each corner [F,3] the original normal nearby that fits its face best, so that shading stays smooth."""
    from scipy.spatial import KDTree

    a, b, c = (points[triangles[:, k]] for k in range(3))
    facing = np.cross(b - a, c - a)
    facing /= np.maximum(np.linalg.norm(facing, axis=1, keepdims=True), 1e-12)
    _, near = KDTree(places).query(points, k=min(_NEIGHBOURS, len(places)))
    near = near.reshape(len(points), -1)[triangles]
    fits = np.einsum("fcnk,fk->fcn", normals[near], facing)
    # The nearest one wins unless it belongs to the other side of an edge.
    best = np.where(fits[..., 0] > 0.7, 0, fits.argmax(axis=2))
    chosen: npt.NDArray[np.int64] = np.take_along_axis(near, best[..., None], axis=2)[..., 0]
    return chosen
