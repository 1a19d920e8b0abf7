"""Runs in a turned world, from the config to the policy that is loaded."""

import numpy as np
import pytest
from training.pushing_world import Pushing
from training.small_runs import SMALL, assert_same, resume_to_end, run_to_end

import orcalign
from orcalign import config
from orcalign.envs import eval_seed, make
from orcalign.training import Training, start_run
from orcalign.video import Demo

TASK = "training.pushing_world:push"
OWN = {
    **SMALL, "steps": 300, "collect.random_steps": 120, "collect.learning_starts": 120, "follow.eye_frames": 9,
    "follow.eye_begin": 120, "follow.eye_updates": 10, "follow.eye_every": 90, "follow.eye_refit": 4,
    "follow.eye_episode": 10,
}  # fmt: skip


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    folder = tmp_path_factory.mktemp("video")
    (folder / "places.yaml").write_text("hand: [0, 1]\nobjects: [[2, 3]]\ngoal: [4, 5]\nunit: 10\n")
    world, frames = Pushing(), []
    world.reset(seed=3)
    for target in [world.block] * 10 + [world.goal] * 10:
        world.step(np.clip(5 * (target - world.hand), -2, 2))
        frames.append(world.render())
    Demo(np.stack(frames)).save(folder / "demo")
    return {**OWN, "demo.demo": [str(folder / "demo" / "demo.mp4")], "follow.entities": str(folder / "places.yaml")}


@pytest.fixture(scope="module")
def run(settings, tmp_path_factory):
    return run_to_end(tmp_path_factory.mktemp("runs") / "run", config(TASK, recipe="follow", settings=settings))


def test_goals_that_lie_anywhere_turn_the_world(run):
    reward = run.reward()
    assert reward.turning is not None
    assert reward.turning.plane.actions == (0, 1)
    assert reward.turning.kept == (8,), "the time"
    first = next(run.records("note"))
    assert "turned so that the goal lies ahead" in first["text"]


def test_the_policy_that_is_loaded_acts_in_the_world_as_it_is(run):
    policy = orcalign.load_policy(run.path)
    env = make(TASK, render=None)
    last = list(run.records("evaluation"))[-1]
    for k in range(3):
        observation, _ = env.reset(seed=eval_seed(k))
        policy.reset()
        total, done = 0, False
        while not done:
            observation, _, terminated, truncated, info = env.step(policy(observation))
            total, done = total + info["success"], terminated or truncated
        assert total == last["returns"][k]


def test_random_play_is_cut_short_and_nothing_else_is(run):
    lengths = {(one["random"], one["length"]) for one in run.records("episode")}
    assert lengths == {(True, 10), (False, 30)}


def test_stopped_and_resumed_it_ends_with_the_same_bits(run, settings, tmp_path):
    training = Training(
        start_run(config(TASK, recipe="follow", settings=settings), tmp_path / "run"), 0, "cpu", checkpoint_minutes=0
    )
    calls = iter(range(100))
    assert not training.go(lambda: next(calls) >= 16)
    training.close()
    assert_same(run, resume_to_end(tmp_path / "run"))


def test_it_is_left_as_it_is_where_that_is_wanted_and_refused_where_it_cannot_be(settings, tmp_path):
    never = start_run(config(TASK, recipe="follow", settings={**settings, "follow.turned": "never"}), tmp_path / "run")
    assert never.reward().turning is None
    with pytest.raises(ValueError, match="turned is 'always', and the world of 'nav2d' cannot be turned"):
        start_run(config("nav2d", recipe="follow", settings={"follow.turned": "always"}), tmp_path / "other")
    with pytest.raises(ValueError, match="turned is 'sideways'"):
        config(TASK, recipe="follow", settings={**settings, "follow.turned": "sideways"})
