"""A run is the same whoever plays it, and another seed gives another run."""

from dataclasses import replace

import pytest
from training.small_runs import assert_same, run_to_end, small_config, what_counts


@pytest.fixture(scope="module")
def in_process(tmp_path_factory):
    return run_to_end(tmp_path_factory.mktemp("runs") / "alone")


@pytest.mark.parametrize("workers", [1, 2])
def test_collectors_change_the_time_and_nothing_else(in_process, tmp_path, workers):
    assert_same(in_process, run_to_end(tmp_path / "run", workers=workers))


def test_another_seed_is_another_run(in_process, tmp_path):
    other = run_to_end(tmp_path / "run", replace(small_config(), seed=1))
    assert what_counts(other)[0] != what_counts(in_process)[0]


def test_three_in_flight_are_the_same_with_two_collectors_and_without(tmp_path):
    config = small_config(steps=240)
    config = replace(config, collect=replace(config.collect, in_flight=3))
    one = run_to_end(tmp_path / "one", config)
    assert_same(one, run_to_end(tmp_path / "two", config, workers=2))
    assert what_counts(one)[0] != what_counts(run_to_end(tmp_path / "lag1", small_config(steps=240)))[0]


def test_the_episode_is_played_with_the_weights_that_the_schedule_says():
    """in_flight = 1: episode k with the weights after the updates of episode k - 2."""
    from orcalign.training.schedule import Schedule

    schedule = Schedule(small_config(steps=300), agent_steps=30)
    played = {}
    for rounds in range(10):
        for order in schedule.give(30 * rounds, lambda rounds=rounds: {"after": rounds}):
            if order.evaluation is None:
                played[order.number] = order.weights["after"]
        while schedule.pending and schedule.pending[0].evaluation is not None:
            schedule.pending.popleft()
        schedule.pending.popleft()
    assert played == {k: max(0, k - 1) for k in range(10)}


@pytest.mark.parametrize(("agent", "spread"), [("drqv2", 0.25), ("sac", 1.0), ("xqc", 1.0)])
def test_a_policy_with_a_spread_of_its_own_is_given_noise_of_variance_1(agent, spread):
    """Others are given the schedule's, here halfway from 0.4 to 0.1."""
    from orcalign.agents import find_settings
    from orcalign.training.schedule import Schedule

    config = small_config(steps=300)
    schedule = Schedule(replace(config, agent=find_settings(agent)()), agent_steps=30)
    orders = [one for one in schedule.give(150, dict) if one.evaluation is None]
    assert [one.noise for one in orders] == [pytest.approx(spread)] * 2


def test_evaluations_come_at_the_start_every_so_often_and_at_the_end(in_process):
    assert [record["step"] for record in in_process.records("evaluation")] == [0, 150, 300, 420]


def test_a_checkpoint_is_chosen_on_seeds_that_are_not_reported(in_process):
    """Orders: the reported episodes, then those to choose by, which nobody sees. The best so far is the best there."""
    from orcalign.envs import choosing_seed, eval_seed
    from orcalign.training.schedule import Schedule

    orders = [o for o in Schedule(small_config(), 30).give(0, lambda: {}) if o.evaluation == 0]
    assert [o.seed for o in orders] == [eval_seed(k) for k in range(3)] + [choosing_seed(k) for k in range(5)]
    assert [o.show for o in orders] == [True] + 7 * [False]
    records = list(in_process.records("evaluation"))
    assert all(len(record["returns"]) == record["episodes"] == 3 for record in records)
    there = [record["choosing"] for record in records]
    assert there != [record["coverage"] for record in records]
    assert [record["best"] for record in records] == [one > max([-1.0, *there[:k]]) for k, one in enumerate(there)]


def test_without_episodes_to_choose_by_the_reported_ones_choose(tmp_path):
    config = small_config(steps=60)
    run = run_to_end(tmp_path / "run", replace(config, evaluation=replace(config.evaluation, eval_choosing=0)))
    assert all(record["choosing"] == record["coverage"] for record in run.records("evaluation"))


def test_episodes_that_no_checkpoint_needs_are_deleted(in_process, tmp_path):
    run = run_to_end(tmp_path / "run", checkpoint_minutes=0)
    assert_same(in_process, run)  # how often it is saved changes nothing
    there = sorted(int(path.stem) for path in (run.path / "episodes").iterdir())
    # The replay holds 10 episodes of 30 steps; the checkpoint before the last one episode older.
    assert there == list(range(3, 14))
    assert len(list((run.path / "checkpoints").iterdir())) == 2
