"""The pictures show what the simulation is, moment by moment."""

import mujoco
import numpy as np
import pytest
from envs.rendering.scenes import CAMERAS, ROOM, difference, metaworld, room

from orcalign.envs.rendering import RENDER_MODES, make_renderer
from orcalign.envs.rendering.fast import FastRenderer


def drawn_whole(renderer):
    """The fast picture without the kept background: everything drawn together."""
    renderer._layers.mixed = True
    picture = renderer.render()
    renderer._layers.mixed = False
    return picture


@pytest.mark.parametrize("mode", RENDER_MODES)
def test_sizes_and_types(mode):
    for size in (None, 1, 33, 200):
        renderer = make_renderer(*room(), "front", mode, size)
        picture = renderer.render()
        side = size or RENDER_MODES[mode]
        assert picture.shape == (side, side, 3)
        assert picture.dtype == np.uint8
        assert (renderer.mode, renderer.size) == (mode, side)
        renderer.close()


@pytest.mark.parametrize("mode", RENDER_MODES)
def test_flip_turns_the_picture_upside_down(mode):
    model, data = room()
    upright = make_renderer(model, data, "front", mode).render()
    flipped = make_renderer(model, data, "front", mode, flip=True).render()
    # The paper's 480 rows become 224 with weights that are not symmetric to the last bit.
    assert difference(upright[::-1], flipped).max() <= (1 if mode == "paper" else 0)
    assert upright[:20].mean() != pytest.approx(upright[-20:].mean(), abs=5)


@pytest.mark.parametrize("mode", RENDER_MODES)
def test_each_picture_is_an_array_of_its_own(mode):
    model, data = room()
    renderer = make_renderer(model, data, "front", mode)
    first = renderer.render()
    kept = first.copy()
    data.qpos[2] += 0.3
    mujoco.mj_forward(model, data)
    assert not np.array_equal(renderer.render(), kept)
    assert np.array_equal(first, kept)


@pytest.mark.parametrize("task", ["door-close", "stick-push", "window-open"])
def test_background_and_front_together_are_the_whole_scene(task):
    env = metaworld(task).unwrapped
    renderer = make_renderer(env.model, env.data, CAMERAS[task], flip=True)
    rng = np.random.default_rng(0)
    for _ in range(10):
        env.step(rng.uniform(-1, 1, 4).astype(np.float32))
        layered = renderer.render()
        assert (difference(layered, drawn_whole(renderer)) > 8).sum() <= 3


def test_static_background_is_drawn_once(monkeypatch):
    model, data = room()
    renderer = make_renderer(model, data, "front")
    drawn = []
    draw = renderer._draw
    monkeypatch.setattr(renderer, "_draw", lambda *given: (drawn.append(1), draw(*given)))
    for _ in range(5):
        mujoco.mj_step(model, data)
        renderer.render()
    assert len(drawn) == 6


def test_glass_is_drawn_when_it_moves_and_never_the_whole_scene(monkeypatch):
    """A window slides: background once, what moves at each picture, glass where it has another place."""
    env = metaworld("window-open").unwrapped
    env.reset()
    renderer = make_renderer(env.model, env.data, CAMERAS["window-open"], flip=True)
    drawn = []
    update = renderer._update
    monkeypatch.setattr(renderer, "_update", lambda options: (drawn.append(options), update(options)))
    for _ in range(4):
        renderer.render()
    names = {id(getattr(renderer, f"_{name}")): name for name in ("all", "still", "moving", "panes")}
    assert [names[id(one)] for one in drawn] == ["moving", "still", "panes", *["moving"] * 4]
    drawn.clear()
    closed = renderer.render()
    env.data.joint("window_slide").qpos[0] = 0.1
    mujoco.mj_forward(env.model, env.data)
    opened = renderer.render()
    assert [names[id(one)] for one in drawn] == ["moving", "moving", "panes", "moving"]
    assert (difference(closed, opened) > 20).sum() > 20


@pytest.mark.parametrize("where", ["before what moves", "behind it"])
def test_glass_before_and_behind_what_moves(where):
    """As OpenGL blends everything together; there must be some to see."""
    place = -1 if where == "before what moves" else 1
    pane = f'<geom name="pane" type="box" pos="0 {place} 0.6" size="0.6 0.01 0.4" rgba="0.1 0.2 0.9 0.2"/>'
    model, data = room(ROOM.replace("</worldbody>", pane + "</worldbody>"))
    renderer = make_renderer(model, data, "front")
    for _ in range(4):
        mujoco.mj_step(model, data, 10)
        mujoco.mj_forward(model, data)
        layered = renderer.render()
        assert (difference(layered, drawn_whole(renderer)) > 3).sum() <= 3
    model.geom("pane").rgba[3] = 0
    assert (difference(layered, renderer.render()) > 10).sum() > 100


def test_panes_that_differ_are_drawn_with_the_whole_scene():
    extra = "".join(
        f'<geom type="box" pos="{x} -0.5 0.6" size="0.2 0.01 0.2" rgba="0.1 0.2 0.9 {alpha}"/>'
        for x, alpha in ((-0.3, 0.2), (0.3, 0.6))
    )
    model, data = room(ROOM.replace("</worldbody>", extra + "</worldbody>"))
    renderer = make_renderer(model, data, "front")
    picture = renderer.render()
    assert (renderer._layers.mixed, renderer._layers.glass) == (True, None)
    assert (difference(picture, make_renderer(*room(), "front").render()) > 20).sum() > 100


CHANGES = {
    "a body that cannot move": lambda model: model.body("pillar").pos.__setitem__(0, -0.8),
    "a site": lambda model: model.site("goal").pos.__setitem__(0, 0.2),
    "a site's size": lambda model: model.site("goal").size.__setitem__(0, 0.2),
    "a geom's colour": lambda model: model.geom("pillar").rgba.__setitem__(2, 0.9),
    "a moving geom's colour": lambda model: model.geom("ball").rgba.__setitem__(2, 0.9),
    "a geom's size": lambda model: model.geom("pillar").size.__setitem__(0, 0.3),
    "the camera": lambda model: model.camera("front").pos.__setitem__(0, 0.3),
    "the camera's angle": lambda model: model.camera("front").fovy.__setitem__(0, 30),
    "the light": lambda model: model.light("lamp").diffuse.__setitem__(0, 0.1),
    "something hidden": lambda model: model.geom("pillar").rgba.__setitem__(3, 0),
    "something see-through": lambda model: model.geom("pillar").rgba.__setitem__(3, 0.4),
}


@pytest.mark.parametrize("what", CHANGES)
@pytest.mark.parametrize("mode", RENDER_MODES)
def test_what_the_environment_changes_appears(what, mode):
    model, data = room()
    renderer = make_renderer(model, data, "front", mode)
    before = [renderer.render() for _ in range(3)][-1]
    CHANGES[what](model)
    mujoco.mj_forward(model, data)
    after = renderer.render()
    assert (difference(before, after) > 20).sum() > 20
    assert np.array_equal(after, make_renderer(model, data, "front", mode).render())
    assert np.array_equal(after, renderer.render())


def test_a_body_moved_at_every_step_is_no_longer_background():
    model, data = room()
    renderer = make_renderer(model, data, "front")
    for step in range(6):
        model.body("pillar").pos[0] = -0.5 - step / 10
        mujoco.mj_forward(model, data)
        picture = renderer.render()
        assert np.array_equal(picture, make_renderer(model, data, "front").render())
    assert renderer._kept


def test_a_camera_that_travels_with_a_body():
    xml = ROOM.replace("<freejoint/>", '<freejoint/><camera name="riding" pos="0 -2 0.5" xyaxes="1 0 0 0 0.3 1"/>')
    model, data = room(xml)
    renderer = make_renderer(model, data, "riding")
    for _ in range(4):
        mujoco.mj_step(model, data, 30)
        mujoco.mj_forward(model, data)
        assert np.array_equal(renderer.render(), make_renderer(model, data, "riding").render())


def test_fast_has_no_shadows_reflections_or_multisampling():
    model, data = room()
    renderer = make_renderer(model, data, "front")
    assert isinstance(renderer, FastRenderer)
    flags = mujoco.mjtRndFlag
    assert not renderer._scene.flags[flags.mjRND_SHADOW]
    assert not renderer._scene.flags[flags.mjRND_REFLECTION]
    assert renderer._model.vis.quality.offsamples == renderer._model.vis.quality.shadowsize == 0
    assert model.vis.quality.offsamples > 0
    assert model.vis.quality.shadowsize > 0


@pytest.mark.parametrize("task", CAMERAS)
def test_objects_placed_elsewhere_are_drawn_elsewhere(task):
    """The picture after a reset with another goal is the one a new renderer draws, and not the old one."""
    wrapped = metaworld(task)
    env = wrapped.unwrapped
    renderer = make_renderer(env.model, env.data, CAMERAS[task], flip=True)
    before = [renderer.render() for _ in range(2)][-1]
    wrapped.reset()
    after = renderer.render()
    assert (difference(before, after) > 20).sum() > 10
    assert np.array_equal(after, make_renderer(env.model, env.data, CAMERAS[task], flip=True).render())


@pytest.mark.parametrize("name", ["Humanoid-v5", "Reacher-v5", "Ant-v5"])
@pytest.mark.parametrize("mode", RENDER_MODES)
def test_other_mujoco_environments(name, mode):
    import gymnasium as gym

    env = gym.make(name).unwrapped
    env.reset(seed=0)
    renderer = make_renderer(env.model, env.data, mode=mode)
    before = renderer.render()
    for _ in range(8):
        env.step(env.action_space.sample())
    after = renderer.render()
    assert before.std() > 5
    assert not np.array_equal(before, after)
    env.close()
