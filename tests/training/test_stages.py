"""Two stages of a run: which steps are whose, what the second one begins with, and nothing in the replay is stale."""

import numpy as np
from training.small_runs import run_to_end, small_config

from orcalign.training import Training, start_run
from orcalign.training.reward_config import RewardConfig, plan_stages


def test_stages_have_their_critic_only_steps():
    reward = RewardConfig(pretrain="ot", pretrain_fraction=0.25, critic_only=0.1)
    assert plan_stages(reward, 1000) == ((0, 0), (250, 250 + 75))
    assert plan_stages(RewardConfig(critic_only=6000), 1000) == ((0, 0),)


def test_the_whole_replay_has_the_reward_of_now(tmp_path):
    """Two stages, a falling temperature and eviction: at the end nothing in the replay is stale."""
    training = Training(start_run(small_config(), tmp_path / "run"), 0, "cpu")
    training.go()
    learner, reward = training.learner, training.reward
    fresh = np.concatenate(reward.pay(learner.kept))
    batch = learner.replay.sample(np.random.default_rng(0), 4000, 1, 0.9, "gamma")
    assert set(np.unique(batch.returns)) <= set(fresh.astype(np.float32))
    assert reward.name == "orca"
    assert reward.numbers()["temperature"] < 1
    assert 0 < len(learner.kept) < 14
    training.close()


def test_only_the_critic_learns_at_first_in_the_second_stage(tmp_path):
    run = run_to_end(tmp_path / "run", small_config(critic_only=0.5))
    second = [record for record in run.records("episode") if record["stage"] == "orca"]
    assert "actor_loss" not in second[1]
    assert "critic_loss" in second[1]
    assert "actor_loss" in second[-1]


def test_the_second_stage_begins_with_the_networks_and_an_empty_replay(tmp_path):
    """As in the paper; its updates wait for as many steps as those of the first did."""
    training = Training(start_run(small_config(keep_replay=False, critic_only=0.0), tmp_path / "run"), 0, "cpu")
    handed_on = {}

    def look():
        if training.learner.steps == 210:
            handed_on.update(training.learner.agent.policy_weights())
            assert len(training.learner.kept) == 7
        if training.learner.steps == 240:
            now = training.learner.agent.policy_weights()
            assert all((now[name] == weight).all() for name, weight in handed_on.items())
            assert len(training.learner.kept) == training.learner.replay.num_episodes == 1
        return False

    assert training.go(look)
    training.close()
    assert handed_on
    records = list(training.run.records("episode"))
    updates = [record["updates"] for record in records]
    # 60 steps of waiting at the beginning and at the switch, else an update a step.
    assert updates == [0, 0, 30, 60, 90, 120, 150, 150, 150, 180, 210, 240, 270, 300]
