"""Scripted experts: they succeed, in time, and leave an honest record."""

import numpy as np
import pytest

from orcalign.envs import PAPER_TASKS, TASKS, eval_seed, find_suite, find_task, rollout_expert, train_seed
from orcalign.envs.metaworld import METAWORLD_NAMES


@pytest.mark.parametrize("name", PAPER_TASKS)
def test_the_expert_succeeds(name):
    episodes = [rollout_expert(name, eval_seed(k)) for k in range(3)]
    assert sum(episode.succeeded for episode in episodes) == 3
    assert all(len(episode) == TASKS[name].agent_steps for episode in episodes)


@pytest.mark.slow
@pytest.mark.parametrize("name", PAPER_TASKS)
@pytest.mark.parametrize("seed_of", [eval_seed, train_seed])
def test_the_expert_succeeds_on_eight_of_ten_seeds(name, seed_of):
    assert sum(rollout_expert(name, seed_of(k)).succeeded for k in range(10)) >= 8


@pytest.mark.slow
def test_every_metaworld_task_has_an_expert_that_can_succeed():
    failed = [
        name for name in METAWORLD_NAMES if not any(rollout_expert(name, eval_seed(k)).succeeded for k in range(3))
    ]
    assert failed == []


def test_an_episode_is_what_was_played():
    episode = rollout_expert("door-close", eval_seed(0))
    assert (len(episode), episode.observations.shape, episode.actions.shape) == (63, (63, 39), (125, 4))
    assert episode.frames is None
    assert np.abs(episode.actions).max() <= 1
    assert episode.total == episode.success.sum() > 0
    # The same actions on the same seed give the same episode.
    env, spec = find_suite("metaworld").build(find_task("door-close"), pictures=False, size=None)
    env.reset(seed=eval_seed(0))
    replayed = [env.step(action) for action in episode.actions]
    assert np.array_equal(replayed[-1][0], episode.observations[-1])
    assert [bool(step[4]["success"]) for step in replayed[1::2]] == episode.success[:-1].tolist()
    assert spec.agent_steps == 63


def test_frames_are_drawn_after_each_agent_step():
    episode = rollout_expert("nav2d", seed=3, render="fast", size=32)
    assert episode.frames.shape == (30, 32, 32, 3)
    env, _ = find_suite("nav2d").build(find_task("nav2d"), pictures=True, size=32)
    env.reset(seed=3)
    reset_frame = env.render()
    assert not np.array_equal(episode.frames[0], reset_frame)
    env.step(episode.actions[0])
    assert np.array_equal(episode.frames[0], env.render())


def test_pictures_change_nothing():
    plain, drawn = (rollout_expert("door-lock", eval_seed(1), render=mode) for mode in (None, "fast"))
    assert np.array_equal(plain.observations, drawn.observations)
    assert drawn.frames.shape == (63, 128, 128, 3)


def test_lever_pull_rests_after_success():
    episode = rollout_expert("lever-pull", eval_seed(0))
    first = int(episode.success.argmax())
    assert not episode.actions[2 * (first + 1) :].any()
    assert episode.actions[: 2 * first].any(axis=1).all()
    other = rollout_expert("door-close", eval_seed(0))
    assert other.actions[-10:].any()


def test_the_expert_does_not_write_into_what_it_is_given():
    for name in PAPER_TASKS:
        env, spec = find_suite("metaworld").build(find_task(name), pictures=False, size=None)
        observation, _ = env.reset(seed=0)
        before = observation.copy()
        find_suite(spec.suite).expert(spec, env)(observation, success=False)
        assert np.array_equal(before, observation), name


def test_time_behind_the_observation_is_ignored():
    env, spec = find_suite("metaworld").build(find_task("push"), pictures=False, size=None)
    observation, _ = env.reset(seed=0)
    expert = find_suite(spec.suite).expert(spec, env)
    with_time = expert(np.append(observation, 0.5), success=False)
    assert np.array_equal(with_time, find_suite(spec.suite).expert(spec, env)(observation, success=False))


def test_a_task_without_expert_is_refused():
    with pytest.raises(ValueError, match="no scripted expert for 'Pendulum-v1'; record a video"):
        rollout_expert("Pendulum-v1")
