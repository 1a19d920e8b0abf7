"""`make`: the one way to get an environment."""

import subprocess
import sys
from dataclasses import replace

import gymnasium
import numpy as np
import pytest

from orcalign.envs import PAPER_TASKS, TASKS, TaskSpec, find_task, make, train_seed
from orcalign.envs.metaworld.env import MetaworldEnv


@pytest.mark.parametrize("name", [name for name, spec in TASKS.items() if spec.time])
def test_every_task_has_its_episode(name):
    env = make(name, render=None)
    spec = TASKS[name]
    observation, info = env.reset()
    assert env.observation_space.contains(observation)
    assert observation[-1] == 0
    assert info["success"] is False
    steps = 0
    done = False
    while not done:
        observation, _, terminated, done, info = env.step(env.action_space.sample())
        assert not terminated
        steps += 1
    assert steps == spec.agent_steps
    assert observation[-1] == 1
    assert isinstance(info["success"], bool)
    assert len(observation) == (40 if spec.suite == "metaworld" else 4)


def test_pictures_do_not_touch_physics():
    drawn, plain = make("door-open"), make("door-open", render=None)
    actions = np.random.default_rng(0).uniform(-1, 1, (20, 4)).astype(np.float32)
    for env in (drawn, plain):
        env.reset(seed=3)
    for action in actions:
        one, other = drawn.step(action), plain.step(action)
        drawn.render()
        assert np.array_equal(one[0], other[0])
        assert one[1] == other[1]
    drawn.close()


def test_frames_follow_the_world_and_the_seed():
    env = make("door-close")
    env.reset(seed=1)
    first = env.render()
    assert (first.shape, first.dtype) == ((128, 128, 3), np.uint8)
    for _ in range(5):
        env.step(np.array([1, 0, 0, 0], np.float32))
    assert np.abs(env.render().astype(int) - first).max() > 40
    env.reset(seed=1)
    assert np.array_equal(env.render(), first)
    env.reset(seed=2)
    assert not np.array_equal(env.render(), first)
    assert env.get_wrapper_attr("learner_render") == "fast"
    env.close()


def test_nothing_is_drawn_unasked():
    env = make("door-close")
    env.reset()
    for _ in range(5):
        env.step(env.action_space.sample())
    assert env.get_wrapper_attr("frames_drawn") == 0
    env.close()


def test_paper_mode_and_size():
    env = make("door-close", render="paper")
    env.reset(seed=1)
    assert env.render().shape == (224, 224, 3)
    assert env.get_wrapper_attr("learner_render") == "paper"
    env.close()
    env = make("door-close", size=64)
    env.reset(seed=1)
    assert env.render().shape == (64, 64, 3)
    env.close()


@pytest.mark.parametrize("name", ["door-close", "door-open"])  # corner, corner3
def test_up_is_up(name):
    """Meta-world's corner cameras hang head down; the picture must not."""
    env = make(name)
    height = {}
    for way in (1, -1):
        env.reset(seed=1)
        start = env.render().astype(int)
        for _ in range(12):
            env.step(np.array([0, 0, way, 0], np.float32))
        now = env.render().astype(int)
        # Where the red arm is now and was not before.
        appeared = ((now[:, :, 0] - now[:, :, 1]) > 60) & ((start[:, :, 0] - start[:, :, 1]) <= 60)
        height[way] = np.flatnonzero(appeared.any(axis=1)).mean()
    assert height[1] < height[-1] - 5, height
    env.close()


def test_pixels_are_stacked():
    env = make("nav2d", pixels=True)
    observation, info = env.reset(seed=0)
    assert (observation.shape, observation.dtype) == ((9, 84, 84), np.uint8)
    assert np.array_equal(observation[:3], observation[6:])
    moved = env.step(np.ones(2, np.float32))[0]
    assert np.array_equal(moved[:6], observation[:6])
    assert not np.array_equal(moved[6:], observation[6:])
    assert info["state"].shape == (4,)


def test_resets_without_a_seed_are_the_runs_training_episodes():
    env = make("push", render=None, seed=5)
    starts = [env.reset() for _ in range(2)]
    for k, (observation, info) in enumerate(starts):
        assert info["seed"] == train_seed(k, run=5)
        alone = make("push", render=None, seed=99).reset(seed=info["seed"])[0]
        assert np.array_equal(alone, observation)
    assert not np.array_equal(starts[0][0], starts[1][0])
    assert not np.array_equal(make("push", render=None, seed=6).reset()[0], starts[0][0])


def test_other_metaworld_tasks_work():
    env = make("drawer-open")
    env.reset()
    assert env.step(env.action_space.sample())[0].shape == (40,)
    assert env.render().shape == (128, 128, 3)
    env.close()


@pytest.mark.slow
def test_every_metaworld_task_can_be_drawn():
    from orcalign.envs.metaworld import METAWORLD_NAMES

    for name in METAWORLD_NAMES:
        env = make(name)
        env.reset(seed=0)
        assert env.render().std() > 20, name
        env.close()


def test_gymnasium_environments_work():
    env = make("Reacher-v5", size=64)
    observation, _ = env.reset()
    assert env.render().shape == (64, 64, 3)
    assert env.render().std() > 5
    assert observation.shape == (11,)
    env.close()
    assert make("Pendulum-v1", render=None).reset()[0].shape == (4,)
    # Its observation is a number, to which no time can be appended.
    assert isinstance(make("FrozenLake-v1", render=None).reset()[0], int)


def make_grid(render_mode=None):
    from orcalign.envs.nav2d.env import Nav2DGrid

    return gymnasium.wrappers.TimeLimit(Nav2DGrid(render_mode=render_mode), 6)


def make_nothing():
    return 3


def as_module(monkeypatch):
    """Under a name that can be imported, whatever pytest calls this file."""
    monkeypatch.setitem(sys.modules, "envs_of_a_user", sys.modules[__name__])


def test_functions_work(monkeypatch):
    as_module(monkeypatch)
    env = make("envs_of_a_user:make_grid", size=32)
    env.reset()
    assert env.render().shape == (32, 32, 3)
    steps = [env.step(0) for _ in range(6)]
    assert steps[-1][3] is True
    with pytest.raises(ValueError, match=r"returned a int; it must return a gymnasium\.Env"):
        make("envs_of_a_user:make_nothing")
    short = TaskSpec("mine", "gymnasium", "envs_of_a_user:make_grid", episode_steps=4)
    env = make(short)
    env.reset()
    assert [env.step(0)[3] for _ in range(4)] == [False] * 3 + [True]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"task": "door-clos"}, "did you mean 'door-close'"),
        (
            {"task": "door-close", "camera": "cornr"},
            "did you mean 'corner'.* The model has: topview",
        ),
        ({"task": "door-close", "render": "quick"}, "must be one of fast, paper, or None"),
        ({"task": "door-close", "pixels": True, "render": None}, "render=None draws none"),
        ({"task": "door-close", "size": 0}, "whole number from 1"),
        ({"task": "door-close", "seed": -1}, "must be a whole number"),
        ({"task": "nav2d", "camera": "corner"}, "one view only"),
        ({"task": "Blackjack-v1", "camera": "corner"}, "one view only"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(arguments, said):
    with pytest.raises(ValueError, match=said):
        make(**arguments)


def test_no_pictures_without_render():
    env = make("door-close", render=None)
    env.reset()
    with pytest.raises(ValueError, match="without pictures"):
        env.render()
    assert isinstance(env.unwrapped, MetaworldEnv)


def test_missing_opengl_says_what_to_do():
    code = "from orcalign.envs import make\ntry:\n    make('door-close')\nexcept OSError as error:\n    print(error)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={"MUJOCO_GL": "disable", "PATH": ""}
    )
    assert "unset it to have pictures" in done.stdout, done.stderr


def test_the_camera_names_are_real():
    model = MetaworldEnv(find_task("door-close")).model
    names = {model.camera(k).name for k in range(model.ncam)}
    assert {TASKS[name].camera for name in PAPER_TASKS} <= names


def test_a_task_may_leave_time_out_of_its_state():
    spec = find_task("nav2d")
    with_time, without = (make(replace(spec, time=time), render=None) for time in (True, False))
    assert with_time.observation_space.shape[0] == without.observation_space.shape[0] + 1
    assert (with_time.reset(seed=3)[0][:-1] == without.reset(seed=3)[0]).all()
