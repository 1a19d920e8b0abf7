"""Evaluations: what is drawn and measured, and what is only played."""

from dataclasses import replace

import numpy as np
import pytest
from training.small_runs import SMALL, run_to_end, small_config

from orcalign import config
from orcalign.agents import make_agent
from orcalign.cli import main
from orcalign.envs import choosing_seed, eval_seed, make_demo
from orcalign.report.training_run import write_report
from orcalign.training import start_run
from orcalign.training.collector import Order
from orcalign.training.players import make_collector
from orcalign.training.schedule import Schedule

WORLDS = {
    "nav2d": small_config(),
    "metaworld": config("door-close", recipe="orca_np", settings={"agent.hidden": 16}),
    "pixels": replace(small_config(), collect=replace(small_config().collect, policy_input="pixels")),
    "guided": small_config(pretrain=None, guide=True, context=1),
}


@pytest.mark.parametrize("kind", WORLDS)
def test_return_and_success_need_no_pictures(kind, tmp_path):
    """The same bits of all that the environment says, whether the reward sees the episode or not."""
    run = start_run(WORLDS[kind], tmp_path / "run")
    collector = make_collector(run.config, run.path)
    world = collector.world
    agent = make_agent(run.config.agent, world.observation_shape, len(world.action_low), 0, "cpu")
    guide = collector.reward.state() if world.guide_dim else None
    order = Order(1, eval_seed(1), agent.policy_weights(), evaluation=0, reward=guide)
    seen, played, again = (collector.play(replace(order, observe=observe)) for observe in (True, False, True))
    collector.close()
    for name in ("observations", "actions", "success", "env_rewards"):
        for other in (played, again):
            assert getattr(seen, name).tobytes() == getattr(other, name).tobytes(), name
    assert seen.seconds["render"] > 0
    assert seen.evidence.arrays
    assert (seen.observed, played.observed) == (True, False)
    assert not played.evidence.arrays
    # A guide is known from pictures while the policy acts; otherwise nobody looks.
    assert (played.seconds["render"] > 0) == (played.seconds["observe"] > 0) == (kind == "guided")


@pytest.mark.parametrize("shown", [0, 1, 5])
@pytest.mark.parametrize("choosing", [0, 4])
def test_only_shown_and_choosing_episodes_are_observed(shown, choosing):
    small = small_config()
    small = replace(small, evaluation=replace(small.evaluation, eval_shown=shown, eval_choosing=choosing))
    orders = [one for one in Schedule(small, 30).give(0, lambda: {}) if one.evaluation == 0]
    reported, others = orders[:3], orders[3:]
    assert [one.observe for one in reported] == [k < shown or choosing == 0 for k in range(3)]
    assert [one.observe for one in others] == [True] * choosing


def test_a_record_says_on_how_many_episodes_it_measured(tmp_path):
    run = run_to_end(tmp_path / "run", small_config(steps=60))
    for record in run.records("evaluation"):
        assert (record["episodes"], record["measured"]) == (3, 1 + 5)
        assert len(record["returns"]) == len(record["successes"]) == 3
        for name in ("reward", "progress", "coverage"):
            assert len(record["each"][name]) == 6
            assert record[name] == np.mean(record["each"][name])
        # Those to choose by are the last.
        assert record["choosing"] == np.sum(record["each"]["coverage"][1:]) / 5


def test_a_reward_without_pictures_measures_every_episode(tmp_path):
    settings = {"steps": 60, "evaluation.eval_episodes": 3, "evaluation.eval_shown": 0, "agent.hidden": 16}
    reward = {"reward.reward": "training.tiny_rewards:EnergyReward", "reward.scale": "none"}
    run = run_to_end(tmp_path / "run", config("nav2d", settings={**settings, **reward}))
    assert all(record["measured"] == 3 + 5 for record in run.records("evaluation"))


def test_reported_and_choosing_seeds_never_meet():
    reported, choosing = ({seed(k) for k in range(20_000)} for seed in (eval_seed, choosing_seed))
    assert not reported & choosing


def test_the_last_evaluation_has_episodes_enough_to_compare(tmp_path):
    evaluation = config("door-close").evaluation
    assert (evaluation.reported(last=False), evaluation.reported(last=True)) == (10, 50)
    given = config("door-close", settings={"evaluation.eval_episodes": 4}).evaluation
    assert given.reported(last=True) == 4
    assert config("door-close", "paper").evaluation.reported(last=True) == 10
    small = small_config(steps=90)
    small = replace(small, evaluation=replace(small.evaluation, eval_every=60, eval_last=7))
    records = list(run_to_end(tmp_path / "run", small).records("evaluation"))
    assert [(one["step"], one["episodes"], len(one["returns"])) for one in records] == [
        (0, 3, 3),
        (60, 3, 3),
        (90, 7, 7),
    ]


def test_an_environment_that_reports_no_success_says_so(tmp_path, capsys):
    """In the metrics, at the command line and on the page, instead of a 0 that nobody measured."""
    demo, _ = make_demo("nav2d", misaligned=True)
    demo.save(tmp_path / "demo")
    settings = {**SMALL, "demo.demo": [str(tmp_path / "demo" / "demo.mp4")], "encoder.encoder": "pixels", "steps": 90}
    run = run_to_end(tmp_path / "run", config("training.faulty_worlds:mute", recipe="orca_np", settings=settings))
    for record in run.records("evaluation"):
        assert (record["return"], record["success_rate"], record["any_success_rate"]) == (None, None, None)
        assert (record["returns"], record["successes"]) == ([], [])
        assert len(record["env_returns"]) == 3
    assert {record["success"] for record in run.records("episode")} == {None}
    main(["eval", str(run.path), "--episodes", "1"])
    said = " ".join(capsys.readouterr().out.split())
    assert "the environment reports no success, and its own return is" in said
    page = write_report(run.path).read_text("utf-8")
    assert "it reports no success" in page
    assert "The environment&#x27;s own return" in page or "The environment's own return" in page
    assert "Success rate" not in page
    assert ": no success" not in page
