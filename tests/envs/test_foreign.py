"""Environments that others wrote: named as Gymnasium names them, drawn as they draw themselves, flat."""

import pickle
import subprocess
import sys

import gymnasium
import numpy as np
import pytest

from orcalign.envs import find_suite, find_task, make

PUSH = "gymnasium_robotics:FetchPush-v4"


def actions(count):
    return np.random.default_rng(0).uniform(-1, 1, (count, 4)).astype(np.float32)


def film(env, count=4):
    """Frames of an episode of `env`, which may be ours or Gymnasium's."""
    env.reset(seed=5)
    frames = [env.render()]
    for action in actions(count):
        env.step(action)
        frames.append(env.render())
    return np.stack(frames)


def test_a_package_and_an_id_are_a_task():
    spec = find_task(PUSH)
    assert (spec.name, spec.env_id, spec.suite, spec.episode_steps) == (PUSH, PUSH, "gymnasium", 50)
    env = make(spec, render=None)
    assert env.reset(seed=0)[0].shape == (3 + 3 + 25 + 1,)
    with pytest.raises(ValueError, match=r"no environment of that id; did you mean 'FetchPush-v4'\? Name a"):
        find_task("gymnasium_robotics:FetchPsh-v4")


def test_another_process_knows_it_too():
    """Its module is not imported there, but named in the task."""
    code = (
        "import pickle, sys; from orcalign.envs import make; spec = pickle.loads(sys.stdin.buffer.read()); "
        "print(make(spec, render=None).reset(seed=0)[0].shape)"
    )
    sent = pickle.dumps(find_task(PUSH))
    done = subprocess.run([sys.executable, "-c", code], input=sent, capture_output=True)
    assert done.stdout.split() == [b"(32,)"], done.stderr


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("FetchPsh-v4", "write 'gymnasium_robotics:FetchPsh-v4' .pip install gymnasium-robotics"),
        ("ALE/Pong-v5", "write 'ale_py:ALE/Pong-v5' .pip install ale-py"),
        ("dor-close", "did you mean 'door-close'"),
    ],
)
def test_an_id_of_a_package_says_how_to_import_it(name, said):
    with pytest.raises(ValueError, match=f"no task is called '{name}'; ?{said}|no task is called '{name}';.*{said}"):
        find_task(name)


def test_success_goes_by_one_name():
    env = make("gymnasium_robotics:FetchReach-v4", render=None)
    observation, _ = env.reset(seed=0)
    layout = env.get_wrapper_attr("observation_layout")
    assert env.step(np.zeros(4, np.float32))[4]["success"] is False
    for _ in range(30):
        way = observation[layout["desired_goal"]] - observation[layout["achieved_goal"]]
        observation, _, _, _, info = env.step(np.append(np.clip(10 * way, -1, 1), 0).astype(np.float32))
    assert info["success"] is True


def test_it_is_drawn_by_itself(monkeypatch):
    """Bit for bit what a user records with Gymnasium alone, also where others have drawn in between."""
    monkeypatch.setenv("MUJOCO_GL", "osmesa")
    plain = gymnasium.make(PUSH, render_mode="rgb_array", disable_env_checker=True)
    wanted = film(plain)
    plain.unwrapped.mujoco_renderer.viewer.make_context_current()
    plain.close()
    monkeypatch.delenv("MUJOCO_GL")

    env, ours, third = make(PUSH), make("door-close"), make("Reacher-v5")
    assert env.get_wrapper_attr("learner_render") == "unknown"
    assert np.array_equal(film(env), wanted)
    ours.reset(seed=0)
    before = ours.render()
    third.reset(seed=0)
    assert third.render().std() > 5
    assert np.array_equal(film(env), wanted)
    third.close()
    ours.reset(seed=0)
    assert np.array_equal(ours.render(), before)
    assert np.array_equal(film(env), wanted)
    env.close()
    ours.reset(seed=0)
    assert np.array_equal(ours.render(), before)
    ours.close()


def test_our_renderer_draws_it_when_a_camera_is_named():
    env = make(PUSH, camera="external_camera_0")
    env.reset(seed=0)
    assert env.render().shape == (128, 128, 3)
    assert env.render().std() > 10
    assert env.get_wrapper_attr("learner_render") == "fast"
    env.close()
    with pytest.raises(ValueError, match=r"no camera 'external'.*The model has: .*external_camera_0"):
        make(PUSH, camera="external")
    spec = find_task("HalfCheetah-v5")
    env, _ = find_suite("gymnasium").build(spec, pictures=True, size=None)
    assert find_suite("gymnasium").renderer(env, spec, "fast", None) is None
    env.close()


def test_a_frame_can_be_kept_by_other_libraries():
    """MuJoCo's pictures are views with strides below zero, which torch refuses."""
    env = make("Reacher-v5")
    env.reset(seed=0)
    assert env.render().flags.c_contiguous
    env.close()
