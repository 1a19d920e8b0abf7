"""Fewer faces, the same shape."""

import numpy as np
import pytest
from envs.rendering.scenes import difference, metaworld

from orcalign.envs.rendering import fast, make_renderer
from orcalign.envs.rendering.decimate import clustered, decimated


@pytest.fixture(scope="module")
def model():
    return metaworld("push").unwrapped.model


def test_every_vertex_stays_within_a_cell(model):
    cell = 0.01
    lean = decimated(model, cell)
    assert lean.mesh_facenum.sum() < 0.3 * model.mesh_facenum.sum()
    for mesh in range(model.nmesh):
        old = model.mesh_vert[model.mesh_vertadr[mesh] :][: model.mesh_vertnum[mesh]]
        new = lean.mesh_vert[lean.mesh_vertadr[mesh] :][: lean.mesh_vertnum[mesh]]
        assert np.all(new.min(axis=0) >= old.min(axis=0) - 1e-6)
        assert np.all(np.abs(new.min(axis=0) - old.min(axis=0)) <= cell)
        assert np.all(np.abs(new.max(axis=0) - old.max(axis=0)) <= cell)


def test_indices_stay_in_their_mesh(model):
    lean = decimated(model, 0.01)
    for mesh in range(lean.nmesh):
        rows = slice(lean.mesh_faceadr[mesh], lean.mesh_faceadr[mesh] + lean.mesh_facenum[mesh])
        assert lean.mesh_face[rows].max() < lean.mesh_vertnum[mesh]
        assert lean.mesh_facenormal[rows].max() < lean.mesh_normalnum[mesh]
        assert lean.mesh_face[rows].min() >= 0


def test_a_mesh_smaller_than_a_cell_is_kept(model):
    lean = decimated(model, 10.0)
    assert np.array_equal(lean.mesh_facenum, model.mesh_facenum)


def test_the_two_sides_of_a_sheet_are_both_kept():
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0]], np.float32)
    _, triangles = clustered(square, np.array([[0, 1, 2], [2, 1, 0], [1, 2, 0]], np.int32), 0.1)
    assert len(triangles) == 2


def test_the_robot_looks_as_it_did(monkeypatch):
    env = metaworld("push").unwrapped
    lean = make_renderer(env.model, env.data, "corner3", flip=True).render()
    monkeypatch.setattr(fast, "decimated", lambda model, cell: decimated(model, 0))
    whole = make_renderer(env.model, env.data, "corner3", flip=True).render()
    off = difference(lean, whole)
    assert off.mean() < 1.5
    assert (off > 60).mean() < 0.01
