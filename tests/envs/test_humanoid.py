"""The humanoid suite: Gymnasium's own physics, success and demos as the paper words them, looks that change nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import gymnasium
import mujoco
import numpy as np
import pytest
from gymnasium.envs.mujoco.humanoid_v4 import HumanoidEnv

from orcalign.envs import find_task, make, make_demo
from orcalign.envs.humanoid.control import HoldAngles, goal_angles
from orcalign.envs.humanoid.env import HumanoidArms
from orcalign.envs.humanoid.look import CAMERA, dressed
from orcalign.envs.humanoid.poses import ARMS, GOALS, HINGES, OBSERVED_ARMS, OBSERVED_HINGES, POINTS, goal_arms

TASK = "humanoid-arm-up-left"


@pytest.fixture(scope="module")
def env() -> HumanoidArms:
    return HumanoidArms(find_task(TASK))


def test_physics_are_gymnasiums_own_to_the_last_bit(env):
    theirs = HumanoidEnv(terminate_when_unhealthy=False)
    ours, known = env.reset(seed=3)[0], theirs.reset(seed=3)[0]
    rng = np.random.default_rng(0)
    assert np.array_equal(ours, known)
    for _ in range(40):
        action = rng.uniform(-0.4, 0.4, 17).astype(np.float32)
        (ours, reward, *_), (known, wanted, *_) = env.step(action), theirs.step(action)
        assert np.array_equal(ours, known)
        assert reward == wanted


def test_it_is_an_environment_of_gymnasiums_that_lasts_120_steps_fallen_or_not(check_gymnasium):
    env = make("humanoid-arms-out", render=None)
    check_gymnasium(env)
    env.reset(seed=0)
    for t in range(120):
        observation, _, terminated, truncated, info = env.step(env.action_space.sample())
        assert (terminated, truncated) == (False, t == 119)
    assert observation.shape == (376,)
    assert info["fallen"]
    with pytest.raises(ValueError, match="call reset"):
        env.unwrapped.step(np.zeros(17, np.float32))


def test_hinges_are_where_the_model_and_the_observation_have_them(env):
    assert [env.model.joint(k).name for k in range(1, 18)] == list(HINGES)
    angles = np.arange(17) / 100
    env.put(angles)
    assert np.allclose(env.observe()[OBSERVED_HINGES], angles)
    assert np.allclose(env.observe()[list(OBSERVED_ARMS)], angles[ARMS])
    assert [HINGES[k] for k in (11, 13, 14, 16)] == ["right_shoulder1", "right_elbow", "left_shoulder1", "left_elbow"]


@pytest.mark.parametrize(
    ("share", "height", "success"),
    [(1.0, 1.4, True), (1.0, 1.09, False), (0.7, 1.4, True), (0.5, 1.4, False), (0.0, 1.4, False)],
)
def test_success_is_standing_with_the_arms_near_the_goal(env, share, height, success):
    env.put(share * goal_angles(TASK), np.array([0.0, 0, height, 1, 0, 0, 0]))
    facts = env.facts()
    assert facts["success"] is success
    assert facts["distance"] == pytest.approx((1 - share) * np.linalg.norm(goal_arms(TASK)))


def test_goals_are_far_from_the_start_and_show_what_they_say(env):
    for task in GOALS:
        assert 2.4 < np.linalg.norm(goal_arms(task)) < 2.8
    place = {name: k for k, (name, _) in enumerate(POINTS)}

    def hands(task):
        env.put(goal_angles(task))
        joints = env.joints()
        assert joints.shape == (18, 3)
        return joints[place["right hand"]] - joints[place["head"]], joints[place["left hand"]] - joints[place["head"]]

    right, left = hands("humanoid-arm-up-left")
    assert left[2] > 0.2 > -0.5 > right[2]
    right, left = hands("humanoid-arm-up-right")
    assert right[2] > 0.2 > -0.5 > left[2]
    right, left = hands("humanoid-arms-out")
    assert abs(right[2] + 0.15) < 0.15
    assert right[1] < -0.5
    assert left[1] > 0.5
    right, left = hands("humanoid-arms-down")
    assert max(right[2], left[2]) < -0.5


@pytest.mark.parametrize("bad", [np.full(17, np.nan), np.zeros(16), "up"])
def test_an_action_that_is_none_is_refused(env, bad):
    env.reset(seed=0)
    with pytest.raises((ValueError, TypeError)):
        env.step(bad)


@pytest.mark.parametrize("burst", [np.nan, 1e9])
def test_a_simulation_that_bursts_ends_the_episode_and_shows_what_was_sane_last(env, burst, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where MuJoCo writes its log
    env.reset(seed=0)
    before, *_ = env.step(np.zeros(17, np.float32))
    env.data.qvel[3] = burst
    observation, reward, terminated, truncated, info = env.step(np.zeros(17, np.float32))
    assert (terminated, truncated, reward) == (True, False, 0.0)
    assert np.array_equal(observation, before)
    assert info["burst"]
    assert not info["success"]
    assert np.isfinite(env.reset(seed=0)[0]).all()
    assert not env.step(np.zeros(17, np.float32))[2]


def test_another_task_or_camera_is_refused():
    with pytest.raises(ValueError, match="no motion of the humanoid"):
        replace(find_task(TASK), name="humanoid-dance")
    with pytest.raises(ValueError, match="has one, 'front'"):
        make(TASK, camera="side")


@pytest.mark.parametrize("task", GOALS)
def test_a_demo_is_ten_posed_frames_that_end_in_success(task):
    demo, notes = make_demo(task, misaligned=True)
    assert (len(demo), notes, demo.camera, demo.render) == (10, (), CAMERA, "fast")
    assert demo.success[-1]
    assert not demo.success[0]
    moved = np.abs(np.diff(demo.frames.astype(int), axis=0)).max(axis=(1, 2, 3))
    assert (moved > 30).all()


def test_who_is_dressed_weighs_and_collides_as_before():
    path = Path(gymnasium.__file__).parent / "envs/mujoco/assets/humanoid.xml"
    ours, theirs = dressed(path), mujoco.MjModel.from_xml_path(str(path))
    for name in ("body_mass", "body_inertia", "geom_size", "geom_contype", "jnt_range", "dof_damping", "actuator_gear"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name)), name
    assert ours.ncam == theirs.ncam + 1


def test_the_controller_holds_the_goal_and_stands_longer_than_nothing(env):
    def played(act):
        env.reset(seed=5)
        infos = [env.step(act())[4] for _ in range(90)]
        return sum(one["success"] for one in infos), sum(one["height"] > 1.1 for one in infos)

    held = played(HoldAngles(env, goal_angles(TASK)))
    still = played(lambda: np.zeros(17, np.float32))
    assert held[0] > 60
    assert held[1] > 75
    assert still[0] == 0
    assert 25 < still[1] < 45
