"""Where a place is in a picture: as the renderer draws it."""

import numpy as np
import pytest

from orcalign.envs import find_suite, find_task

mujoco = pytest.importorskip("mujoco")

SCENE = """<mujoco><visual><headlight ambient="1 1 1"/></visual><worldbody>
  <camera name="view" pos="0.3 -1.5 1.2" xyaxes="1 0.2 0 -0.1 0.5 1" fovy="{fovy}"/>
  <geom type="sphere" size="0.03" pos="{place}" rgba="1 0 0 1"/>
</worldbody></mujoco>"""


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize("place", [(0.0, 0.0, 0.5), (0.3, 0.2, 0.3), (-0.2, -0.3, 0.7)])
def test_a_ball_is_drawn_where_its_place_is(place, flip):
    from orcalign.envs.rendering import make_renderer
    from orcalign.envs.rendering.projection import camera_projection

    model = mujoco.MjModel.from_xml_string(SCENE.format(fovy=60, place=" ".join(map(str, place))))
    data = mujoco.MjData(model)
    x, y, depth = camera_projection(model, data, "view", flip) @ [*place, 1.0]
    picture = make_renderer(model, data, "view", "paper", 96, flip=flip).render().astype(int)
    red = picture[..., 0] - picture[..., 1] > 60
    rows, columns = np.nonzero(red)
    assert len(rows) > 4
    assert (columns.mean() + 0.5) / 96 == pytest.approx(x / depth, abs=0.01)
    assert (rows.mean() + 0.5) / 96 == pytest.approx(y / depth, abs=0.01)


def test_a_task_of_metaworld_is_seen_by_its_camera():
    pytest.importorskip("metaworld")
    spec = find_task("door-close")
    found = find_suite(spec.suite).projection(spec)
    x, y, depth = found @ [0.0, 60.0, 15.0, 1.0]
    assert 0.2 < x / depth < 0.8
    assert 0.2 < y / depth < 0.8
    assert 0.5 < depth < 3.0
    assert find_suite("gymnasium").projection(find_task("CartPole-v1")) is None
