"""Rewards change during a run, and then they change for everything that is kept."""

import json

import numpy as np
import pytest
from training.small_runs import run_to_end, small_config

from orcalign.matching import MATCHERS
from orcalign.rewards import VideoReward
from orcalign.training import Training, start_run
from orcalign.training.labels import Labels, plan_stages
from orcalign.training.reward_config import RewardConfig

FRAMES = np.random.default_rng(0).integers(0, 255, (6, 8, 8, 3), np.uint8)


@pytest.fixture(scope="module")
def reward():
    return VideoReward(FRAMES, encoder="pixels")


def some_costs(count, seed=0):
    rng = np.random.default_rng(seed)
    return [(rng.random((int(rng.integers(4, 12)), 6)),) for _ in range(count)]


@pytest.mark.parametrize("matcher", MATCHERS)
def test_an_episode_alone_and_among_others_gets_the_same_bits(reward, matcher):
    labels = Labels(RewardConfig(matcher=matcher, scale="none"), reward, 100)
    costs = some_costs(5)
    together = labels.rewards(costs)
    for one, expected in zip(costs, together, strict=True):
        assert (labels.rewards([one])[0] == expected).all()
        assert len(expected) == len(one[0])


def test_the_first_scale_waits_for_a_reward_and_is_taken_anew_at_each_stage(reward):
    labels = Labels(RewardConfig(pretrain="temporal_ot"), reward, 100)
    nothing, something = (np.zeros((4, 6)),), (np.full((4, 6), 0.5),)
    assert not labels.first_scale(nothing)  # transport at no cost earns nothing
    assert labels.rewards([nothing])[0].tolist() == [0, 0, 0, 0]
    assert labels.first_scale(something)
    assert abs(labels.rewards([something])[0].sum()) == pytest.approx(10)
    assert not labels.first_scale(some_costs(1)[0])
    assert labels.advance(49) is None
    assert "orca" in labels.advance(50)
    assert labels.scale is None
    assert labels.first_scale(something)
    assert labels.rewards([something])[0].sum() == pytest.approx(10)


def test_the_temperature_falls_as_it_is_told(reward):
    labels = Labels(RewardConfig(temperature="1.0:0.2", scale="none"), reward, 100)
    costs = some_costs(1)
    seen = []
    for step in (0, 50, 100):
        labels.follow(step)
        seen.append((labels.temperature, labels.rewards(costs)[0].sum()))
    assert [temperature for temperature, _ in seen] == pytest.approx([1.0, 0.6, 0.2])
    assert seen[0][1] > seen[1][1] > seen[2][1]


def test_calibration_gives_the_scale_and_the_temperature_is_a_factor_on_all_of_it(reward):
    found = reward.calibrations()[0]
    labels = Labels(RewardConfig(calibrated=True, temperature="2.0:1.0"), reward, 100)
    assert labels.reward.matcher_settings[0] == {name: 2 * value for name, value in found.items()}
    labels.follow(50)
    assert labels.reward.matcher_settings[0] == {name: 1.5 * value for name, value in found.items()}
    assert labels.orca_settings()[0] == found


def test_stages_have_their_critic_only_steps():
    first, second = plan_stages(RewardConfig(pretrain="ot", pretrain_fraction=0.25, critic_only=0.1), 1000)
    assert (first.last, second.first, first.critic_only, second.critic_only) == (250, 250, 0, 75)
    assert plan_stages(RewardConfig(critic_only=6000), 1000)[0].critic_only == 0


def test_the_whole_replay_has_the_reward_of_now(tmp_path):
    """Two stages, a falling temperature and eviction: at the end nothing in the replay is stale."""
    run = start_run(small_config(), tmp_path / "run")
    training = Training(run, 0, "cpu")
    training.go()
    learner = training.learner
    fresh = np.concatenate(learner.labels.rewards(learner.kept))
    batch = learner.replay.sample(np.random.default_rng(0), 4000, 1, 0.9, "gamma")
    assert set(np.unique(batch.returns)) <= set(fresh.astype(np.float32))
    assert learner.labels.stage.matcher == "orca"
    assert learner.labels.temperature < 1
    assert 0 < len(learner.kept) < 14
    training.close()


def test_only_the_critic_learns_at_first_in_the_second_stage(tmp_path):
    run = run_to_end(tmp_path / "run", small_config(critic_only=0.5))
    second = [record for record in run.records("episode") if record["stage"] == "orca"]
    assert "actor_loss" not in second[1]
    assert "critic_loss" in second[1]
    assert "actor_loss" in second[-1]


def test_progress_along_the_path_is_worth_what_the_demo_changes(reward):
    labels = Labels(RewardConfig(matcher="orca_progress", progress_in="path", calibrated=True), reward, 100)
    (settings,) = labels.reward.matcher_settings
    between = reward.frame_costs[0].between_demo_frames()
    steps = np.diag(between, 1) / np.diag(between, 1).sum()
    np.testing.assert_allclose(settings["worth"], [0, *steps], rtol=1e-12)
    assert {"temperature", "floor"} < set(settings)
    assert "worth" not in labels.orca_settings()[0]
    # A method that pays for no progress has no use for it, as the first stage of a run may be.
    first = Labels(
        RewardConfig(matcher="orca_progress", progress_in="path", pretrain="temporal_ot"), reward, 100
    )
    assert "worth" not in first.reward.matcher_settings[0]
    first.advance(60)
    assert "worth" in first.reward.matcher_settings[0]


def test_episodes_that_change_nothing_are_not_told_of_before_and_after_a_restart(reward):
    """Far nearer to the demo than an eighth of its reach, which is what calibration takes at least."""
    J = len(reward.demos[0])
    near, far = [(np.zeros((4, J)),)] * 5, [(np.full((4, J), 0.9),)] * 5
    labels = Labels(RewardConfig(calibrated=True), reward, 100)
    assert labels.calibrate(near) is None
    restarted = Labels(RewardConfig(calibrated=True), reward, 100)
    restarted.load_state(json.loads(json.dumps(labels.state())))
    assert restarted.calibrate(near) is None
    assert "calibrated on 5 episodes" in restarted.calibrate(far)
