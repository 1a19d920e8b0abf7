"""One OpenGL context, chosen by itself, quiet at the end, and clear when it is missing."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from envs.rendering.scenes import metaworld, room

from orcalign.envs.rendering import OpenGLError, backend, choose_backend, make_renderer


def run(code, **environment):
    """Run a script in a fresh interpreter; its result with what it printed."""
    given = {name: value for name, value in os.environ.items() if name not in ("MUJOCO_GL", "PYOPENGL_PLATFORM")}
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**given, "ORCALIGN_QUIET": "1", **environment},  # no word on compiling, if it is the first time
        capture_output=True,
        text=True,
        timeout=120,
    )


DRAW = """
import mujoco
from orcalign.envs.rendering import make_renderer
from orcalign.envs.rendering.backend import backend_in_use
model = mujoco.MjModel.from_xml_string('<mujoco><worldbody><light/><geom size="1"/></worldbody></mujoco>')
data = mujoco.MjData(model)
mujoco.mj_forward(model, data)
renderers = [make_renderer(model, data, mode=mode, size=32) for mode in ("fast", "paper", "fast")]
assert all(renderer.render().std() > 1 for renderer in renderers)
print(backend_in_use())
"""


@pytest.mark.parametrize("chosen", [None, "osmesa", "egl"])
def test_nothing_is_said_at_exit(chosen):
    done = run(DRAW, **({"MUJOCO_GL": chosen} if chosen else {}))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == [chosen or choose_backend({})]


def test_closed_or_dropped_renderers_are_quiet_too():
    done = run(DRAW + "renderers[0].close(); renderers[0].close(); del renderers[1]")
    assert (done.returncode, done.stderr) == (0, "")


def test_another_backend_imported_first_does_no_harm():
    done = run("import mujoco, OpenGL.GL\n" + DRAW)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_import_costs_no_simulator():
    done = run("import sys, orcalign.envs.rendering as r; r.RENDER_MODES; print('mujoco' in sys.modules)")
    assert done.stdout.split() == ["False"]


def test_missing_library_says_what_to_install(monkeypatch):
    monkeypatch.setattr(backend.ctypes.util, "find_library", lambda name: "libOSMesa-that-is-not-there.so")
    with pytest.raises(OpenGLError, match=r"libOSMesa-that-is-not-there.*apt-get install libosmesa6"):
        backend.OSMesaContext()


def test_a_backend_that_fails_names_the_way_out():
    done = run(DRAW, MUJOCO_GL="glfw", DISPLAY="")
    assert "OpenGLError: MuJoCo would draw through glfw, but there is no display" in done.stderr
    assert "MUJOCO_GL=osmesa" in done.stderr


def test_choice():
    assert choose_backend({"MUJOCO_GL": "osmesa"}, gpu=True) == "osmesa"
    with pytest.raises(ValueError, match="did you mean 'osmesa'"):
        choose_backend({"MUJOCO_GL": "osmsea"})
    with pytest.raises(OpenGLError, match="turns drawing off"):
        choose_backend({"MUJOCO_GL": "disabled"})


def test_a_fork_is_refused(monkeypatch):
    backend.make_current()
    monkeypatch.setattr(backend._shared, "pid", -1)
    with pytest.raises(OpenGLError, match="'spawn'"):
        backend.make_current()


THREADED = (
    DRAW
    + """
import threading
here, there = renderers[0].render(), []
def look():
    try:
        there.append((renderers[0].render() == here).all())
    except OSError as error:
        there.append(error)
thread = threading.Thread(target=look, name="other")
thread.start()
thread.join()
assert (renderers[0].render() == here).all()
print(there[0])
"""
)


def test_another_thread_draws_the_same_or_is_told_why_not():
    done = run(THREADED, MUJOCO_GL="osmesa")
    assert (done.stdout.split(), done.stderr) == (["osmesa", "True"], "")
    done = run(THREADED, MUJOCO_GL="egl")
    assert "cannot be used in 'other'; draw in that thread, or set MUJOCO_GL=osmesa." in done.stdout
    assert (done.returncode, done.stderr) == (0, "")


def frames(name, camera, mode, steps=5):
    """Pictures of an episode, one by one."""
    env = metaworld(name).unwrapped
    env.reset()
    renderer = make_renderer(env.model, env.data, camera, mode, flip=True)
    rng = np.random.default_rng(0)
    for _ in range(steps):
        env.step(rng.uniform(-1, 1, 4).astype(np.float32))
        yield renderer.render()
    renderer.close()


@pytest.mark.parametrize("modes", [("fast", "fast"), ("fast", "paper")])
def test_taking_turns_gives_the_same_pictures(modes):
    first, second = ("door-close", "corner", modes[0]), ("push", "corner3", modes[1])
    alone = list(frames(*first)), list(frames(*second))
    together = list(zip(frames(*first), frames(*second), strict=True))
    for step, (a, b) in enumerate(together):
        assert np.array_equal(a, alone[0][step])
        assert np.array_equal(b, alone[1][step])
    assert len({picture.tobytes() for picture in alone[0]}) == 5


def test_paper_is_what_metaworld_draws_and_its_context_is_not_ours():
    done = run(
        """
        import numpy as np
        from envs.rendering.scenes import metaworld
        from orcalign.envs.rendering import make_renderer
        env = metaworld("door-close").unwrapped
        env.render_mode = "rgb_array"
        env.mujoco_renderer.camera_id = env.model.camera("corner").id
        paper = make_renderer(env.model, env.data, "corner", "paper", 480)
        fast = make_renderer(env.model, env.data, "corner")
        before = fast.render()
        theirs = env.render()
        assert theirs.shape == (480, 480, 3)
        assert np.array_equal(paper.render(), theirs)
        assert np.array_equal(fast.render(), before)
        env.close()
        assert np.array_equal(paper.render(), theirs)
        """,
        MUJOCO_GL="osmesa",
        PYTHONPATH=str(Path(__file__).parents[2]),
    )
    assert done.returncode == 0, done.stderr


def test_bad_input():
    model, data = room()
    with pytest.raises(ValueError, match=r"no render mode 'fsat'; did you mean 'fast'\? The modes are: fast, paper"):
        make_renderer(model, data, "front", "fsat")
    with pytest.raises(ValueError, match=r"no camera 'corner'; The model has: front"):
        make_renderer(model, data, "corner")
    for size in (0, -3, 2.5, True, 100_000):
        with pytest.raises(ValueError, match=r"whole number from 1 to 2048"):
            make_renderer(model, data, "front", size=size)
    renderer = make_renderer(model, data, "front")
    renderer.close()
    with pytest.raises(ValueError, match="closed"):
        renderer.render()
