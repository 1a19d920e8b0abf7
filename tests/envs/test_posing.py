"""Posed scenes look like a learner's, are plausible, and follow from seed and number of their layout alone."""

from itertools import groupby

import numpy as np
import pytest

from orcalign.envs import Suite, find_suite, find_task, make
from orcalign.envs.metaworld.env import MetaworldEnv
from orcalign.envs.metaworld.mocap import Stage
from orcalign.envs.posing import layout_seed

LYING, SLIDING = "coffee-push", "drawer-open"


def layouts(task, count, **settings):
    """Lists of posed frames, one a layout."""
    spec = find_task(task)
    each = groupby(find_suite(spec.suite).pose(spec, **settings), key=lambda posed: posed.group)
    return [list(next(each)[1]) for _ in range(count)]


@pytest.fixture(scope="module")
def posed():
    """Four layouts of each kind of task."""
    return {task: layouts(task, 4) for task in (LYING, SLIDING, "nav2d", "nav2d-grid")}


def same(ours, theirs):
    return len(ours) == len(theirs) and all(
        (a.frame == b.frame).all() and (a.state == b.state).all() and (a.group, a.rest) == (b.group, b.rest)
        for a, b in zip(ours, theirs, strict=True)
    )


@pytest.mark.parametrize("task", [LYING, SLIDING, "nav2d", "nav2d-grid"])
def test_whoever_begins_at_a_layout_sees_the_same(posed, task):
    third, fourth = layouts(task, 2, first=2)
    assert same(third, posed[task][2])
    assert same(fourth, posed[task][3])
    assert not same(third, posed[task][1])
    assert not same(posed[task][0][1:], layouts(task, 1, seed=1)[0][1:])


@pytest.mark.parametrize("task", [LYING, SLIDING, "nav2d"])
def test_a_layout_begins_as_an_episode_of_the_learner_does(posed, task):
    env = make(task)
    for group, layout in enumerate(posed[task]):
        observation, _ = env.reset(seed=layout_seed(group, 0))
        assert layout[0].rest
        assert not any(one.rest for one in layout[1:])
        assert layout[0].state.dtype == observation.dtype
        assert (layout[0].state == observation).all()
        assert (layout[0].frame == env.render()).all()
    env.close()


@pytest.mark.parametrize("task", [LYING, SLIDING])
def test_a_posed_state_is_seen_as_a_learner_sees_it(task):
    """The same physics, the same observation and the same picture after the hand has waited for a while."""
    spec, seed = find_task(task), layout_seed(0, 0)
    learner = make(task)
    learner.reset(seed=seed)
    steps = [learner.step(np.array([0, 0, 0, 0.7], np.float32)) for _ in range(4)]
    env = MetaworldEnv(spec)
    renderer = find_suite("metaworld").renderer(env, spec, "fast", None)
    env.reset(seed=seed)
    stage = Stage(env)
    stage.wait(float(np.float32(0.7)), 4 * spec.action_repeat)
    last, world = steps[-1][0], learner.unwrapped
    assert np.allclose(env.observe()[:18], last[:18], atol=1e-5), "time passes as in a step"
    env.data.qpos[:] = world.data.qpos
    seen = env.observe()
    assert (seen[:18] == last[:18]).all()
    assert (seen[36:] == last[36:39]).all()
    assert (seen[18:36] == seen[:18]).all()
    assert (renderer.render() == learner.render()).all()
    # The picture is of what is observed, also where a joint was put somewhere a moment ago.
    before = renderer.render()
    joint = (*stage.free, *stage.guided)[0]
    value = stage.value(joint)
    value[0] -= 0.05
    stage.put({joint: value})
    assert (env.observe() != seen).any()
    assert (renderer.render() != before).any()
    renderer.close()
    learner.close()


def test_things_lie_fall_or_are_held(posed):
    states = np.stack([one.state for layout in posed[LYING] for one in layout])
    hand, thing = states[:, :3], states[:, 4:7]
    far = np.linalg.norm(hand - thing, axis=1)
    assert (far < 0.1).mean() > 0.3, "the hand is often where it matters"
    lifted = thing[:, 2] > 0.04
    assert (lifted & (far < 0.1)).mean() > 0.1, "things are carried"
    assert (lifted & (far > 0.2)).mean() < 0.1, "and do not float"
    assert np.ptp(thing[:, :2], axis=0).min() > 0.2
    assert np.isfinite(states).all()
    assert np.abs(states).max() < 2


def test_joints_go_beyond_their_limits_and_the_hand_along(posed):
    """The scripted expert pulls the drawer 20 cm out, of 16 that are declared."""
    states = np.stack([one.state for layout in posed[SLIDING] for one in layout])
    starts = np.stack([layout[0].state for layout in posed[SLIDING] for _ in layout])
    out = starts[:, 5] - states[:, 5]
    assert out.max() > 0.17
    assert out.min() < -0.02
    near = np.linalg.norm(states[:, :3] - states[:, 4:7], axis=1) < 0.1
    assert (near & (out > 0.1)).mean() > 0.05, "the hand is at the open drawer, too"
    env = MetaworldEnv(find_task("dial-turn"))
    env.reset(seed=0)
    stage = Stage(env)
    assert not stage.free
    assert [stage.is_hinge(joint) for joint in stage.guided] == [True]


def test_the_robot_is_left_alone():
    """Wherever a model has the robot's joints: here behind those of the thing."""
    env = MetaworldEnv(find_task(LYING))
    env.reset(seed=0)
    stage = Stage(env)
    names = [env.model.body(env.model.jnt_bodyid[joint]).name for joint in (*stage.free, *stage.guided)]
    assert names == ["obj", "cmbutton"]


def test_what_explodes_is_not_shown():
    env = MetaworldEnv(find_task(LYING))
    env.reset(seed=0)
    stage = Stage(env)
    assert stage.sane(env.observe())
    env.data.qvel[0] = 100
    assert not stage.sane(env.observe())
    env.reset(seed=0)
    stage.put({stage.free[0]: [5.0, 0, 0, 1, 0, 0, 0]})
    assert not stage.sane(env.observe())


def test_the_agent_of_the_map_is_anywhere(posed):
    places = np.array([one.state[:2] for layout in posed["nav2d"] for one in layout])
    assert np.ptp(places, axis=0).min() > 0.8
    cells = np.array([one.state[:2] for layout in posed["nav2d-grid"] for one in layout]) * 3
    assert np.allclose(cells, cells.round())
    assert not any(one.state[2:].any() for layout in posed["nav2d"] for one in layout)


def test_who_cannot_pose_says_so():
    spec = find_task("CartPole-v1")
    suite = find_suite("gymnasium")
    assert not suite.poses
    assert all(type(find_suite(name)).pose is not Suite.pose for name in ("metaworld", "nav2d"))
    with pytest.raises(ValueError, match="'CartPole-v1' cannot be posed; let an eye learn"):
        suite.pose(spec)
