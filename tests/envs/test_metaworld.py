"""Meta-world: seeds that mean something, goals that are seen, episodes of the right length."""

from itertools import pairwise

import mujoco
import numpy as np
import pytest

from orcalign.envs import PAPER_TASKS, find_task
from orcalign.envs.metaworld import METAWORLD_NAMES
from orcalign.envs.metaworld.env import MetaworldEnv

OTHERS = [name for name in METAWORLD_NAMES if name not in PAPER_TASKS]


def actions(count, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, (count, 4)).astype(np.float32)


def played(env, seed, count=12):
    first, _ = env.reset(seed=seed)
    steps = [env.step(action) for action in actions(count)]
    return np.stack([first, *(step[0] for step in steps)]), [step[1] for step in steps]


@pytest.mark.parametrize("name", PAPER_TASKS)
def test_a_seed_is_an_episode(name):
    fresh, used = MetaworldEnv(find_task(name)), MetaworldEnv(find_task(name))
    for seed in (1, 2):  # what was played before leaves no trace
        played(used, seed, 30)
    observations, rewards = played(fresh, 3)
    again, rewards_again = played(used, 3)
    assert np.array_equal(observations, again)
    assert rewards == rewards_again
    assert not np.array_equal(observations[0], played(fresh, 4)[0][0])


@pytest.mark.parametrize("name", PAPER_TASKS)
def test_goals_are_visible_and_differ_by_seed(name):
    env = MetaworldEnv(find_task(name))
    starts = np.stack([env.reset(seed=seed)[0] for seed in range(5)])
    goals = starts[:, 36:]
    assert starts.shape == (5, 39)
    assert np.abs(goals).max() > 0, "the goal is hidden"
    for one, other in pairwise(goals):
        assert not np.array_equal(one, other)
    target = env._sim._target_pos
    assert np.allclose(goals[-1], target)


@pytest.mark.slow
@pytest.mark.parametrize("name", METAWORLD_NAMES)
def test_every_metaworld_task_obeys_its_seed(name):
    fresh, used = MetaworldEnv(find_task(name)), MetaworldEnv(find_task(name))
    played(used, 1, 30)
    assert np.array_equal(played(fresh, 3)[0], played(used, 3)[0])
    assert not np.array_equal(fresh.reset(seed=3)[0], fresh.reset(seed=4)[0])


@pytest.mark.parametrize("name", [*PAPER_TASKS, *(pytest.param(n, marks=pytest.mark.slow) for n in OTHERS)])
def test_an_episode_begins_as_after_metaworlds_own_reset(name):
    """Whose hand comes to its start three times: among the old objects, among the new, and from a blank state.

    Meta-world observes some things where they were before the last of these; here they are seen where they are.
    """
    quick, slow = (MetaworldEnv(find_task(name)) for _ in range(2))
    for seed in (3, 9, 4):
        first, _ = quick.reset(seed=seed)
        sim = slow._sim
        sim._freeze_rand_vec = False
        sim.np_random = np.random.default_rng(np.random.default_rng(seed).integers(2**63))
        sim.reset_model()
        sim._freeze_rand_vec = True
        sim.reset()
        mujoco.mj_kinematics(sim.model, sim.data)
        seen = sim._get_obs()
        sim._prev_obs = seen[:18].copy()
        seen[18:36] = sim._prev_obs
        np.testing.assert_array_equal(first, slow._inside(seen))
        slow._steps = 0
        for action in np.random.default_rng(seed).uniform(-1, 1, (9, 4)):
            for mine, theirs in zip(quick.step(action)[:2], slow.step(action)[:2], strict=True):
                np.testing.assert_array_equal(mine, theirs)
        for part in ("qpos", "xpos", "site_xpos"):
            np.testing.assert_array_equal(getattr(quick.data, part), getattr(slow.data, part))


def test_the_global_generator_is_neither_used_nor_moved():
    env = MetaworldEnv(find_task("push"))
    np.random.seed(0)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first = env.reset(seed=5)[0]
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002
    np.random.seed(1)  # noqa: NPY002
    assert np.array_equal(first, env.reset(seed=5)[0])


def test_the_episode_is_truncated_exactly_at_its_length():
    env = MetaworldEnv(find_task("door-close"))
    env.reset(seed=0)
    ends = [env.step(action)[2:4] for action in actions(125)]
    assert ends == [(False, False)] * 124 + [(False, True)]
    with pytest.raises(ValueError, match="ended after 125 steps; call reset"):
        env.step(np.zeros(4))
    env.reset()
    assert env.step(np.zeros(4))[3] is False


def test_success_is_a_bool_and_reward_a_float():
    env = MetaworldEnv(find_task("stick-push"))
    _, info = env.reset(seed=0)
    assert info["success"] is False
    _, reward, _, _, info = env.step(env.action_space.sample())
    assert type(info["success"]) is bool
    assert type(reward) is float
    assert "obj_to_target" in info


@pytest.mark.parametrize("action", [np.zeros(3), np.full(4, np.nan), 1.0])
def test_a_wrong_action_is_refused(action):
    env = MetaworldEnv(find_task("door-close"))
    env.reset(seed=0)
    with pytest.raises(ValueError, match="must be four finite numbers"):
        env.step(action)


def test_actions_are_clipped():
    env = MetaworldEnv(find_task("door-close"))
    env.reset(seed=0)
    big = env.step(np.full(4, 9.0))[0]
    env.reset(seed=0)
    assert np.array_equal(big, env.step(np.ones(4))[0])


def test_physics_draws_nothing():
    env = MetaworldEnv(find_task("door-close"))
    with pytest.raises(ValueError, match=r"without pictures; use orcalign.envs.make"):
        env.render()


def test_gymnasium_accepts_it(check_gymnasium):
    check_gymnasium(MetaworldEnv(find_task("door-close")))
