"""Runs that are paid by a discriminator: with each agent, killed, with collectors, by frames; and that they learn."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from training.small_runs import SMALL, assert_same, resume_to_end, run_to_end

from orcalign import config
from orcalign.report.training_run import run_page
from orcalign.training import Training, start_run

KINDS = {
    "drqv2": {"agent.agent": "drqv2"},
    "sac": {"agent.agent": "sac"},
    "frames": {"reward.set": ["sees=frames", "every=3", "updates=10", "hidden=8"]},
}


def imitating_config(kind):
    short = {"reward.set": ["every=3", "updates=10", "hidden=8"]}
    return config("nav2d", recipe="gaifo", settings={"steps": 300, **SMALL, **short, **KINDS[kind]})


@pytest.fixture(scope="module", params=KINDS)
def whole(request, tmp_path_factory):
    return request.param, run_to_end(tmp_path_factory.mktemp(request.param) / "run", imitating_config(request.param))


def test_it_learns_beside_the_agent_and_pays_all_anew(whole):
    kind, run = whole
    episodes, evaluations = list(run.records("episode")), list(run.records("evaluation"))
    assert sum("discriminator has learned" in note["text"] for note in run.records("note")) == 3
    assert [one["accuracy"] for one in episodes[:2]] == [0.5, 0.5], "nothing is known yet"
    assert len({one["accuracy_learner"] for one in episodes}) > 1
    assert evaluations[-1]["chosen_by"] == "nearness"
    assert (max(one["timing"]["render"] for one in episodes) > 0) == (kind == "frames"), "states are not drawn"
    training = Training(run, 0, "cpu")
    (last,) = training.reward.pay([training.learner.kept[-1]])
    assert training.learner.replay.sample(training.learner._rng, 16, 1, 0.9, "gamma").returns.max() > 0
    assert last.min() > 0
    training.close()


KILLER = """
import os, signal, sys
sys.path.insert(0, {tests!r})
from training.test_imitating import imitating_config
from orcalign.training import Training, start_run
if __name__ == "__main__":
    training = Training(start_run(imitating_config({kind!r}), sys.argv[1]), 0, "cpu", checkpoint_minutes=0)
    def stop():
        if training.learner.steps >= 130:
            os.kill(os.getpid(), signal.SIGKILL)
        return False
    training.go(stop)
"""


def test_killed_in_the_middle_it_ends_with_the_same_bits(whole, tmp_path):
    kind, run = whole
    code = KILLER.format(tests=str(Path(__file__).parent.parent), kind=kind)
    ended = subprocess.run([sys.executable, "-c", code, tmp_path / "run"], timeout=200, check=False, env=os.environ)
    assert ended.returncode == -signal.SIGKILL
    assert_same(run, resume_to_end(tmp_path / "run"))


def test_with_a_collector_beside_the_learner_it_is_the_same_run(whole, tmp_path):
    kind, run = whole
    assert_same(run, run_to_end(tmp_path / "run", imitating_config(kind), workers=1))


def test_its_page_shows_what_was_paid(whole):
    _, run = whole
    page = run_page(run.path)
    assert "cannot be shown" not in page
    assert "gaifo: " in page
    assert "How often the discriminator is right" in page
    assert "How near episodes come to the demo" in page
    assert "for transitions that a discriminator takes for the demo" in page


@pytest.mark.slow
@pytest.mark.parametrize("agent", ["drqv2", "sac"])
def test_it_learns_to_reach_the_end_from_an_aligned_state_demo(agent, tmp_path):
    """Two corners to pass before the last one. Where the arithmetic of another machine leads the first seed astray, the
    second has to do it."""
    for seed in (1, 2):
        wanted = config(
            "nav2d-order",
            recipe="gaifo",
            settings={
                "steps": 6000,
                "seed": seed,
                "demo.demo_kind": "aligned",
                "agent.agent": agent,
                "agent.hidden": 64,
                "agent.learning_rate": 5e-4,
                "agent.gamma": 0.97,
                "collect.random_steps": 600,
                "collect.noise_start": 1.0,
                "collect.noise_end": 0.2,
                "evaluation.eval_every": 6000,
                "evaluation.eval_last": 10,
                "evaluation.eval_shown": 0,
            },
        )
        training = Training(start_run(wanted, tmp_path / f"{agent}{seed}"), 0, "cpu")
        training.go()
        training.close()
        first, *_, last = (one["success_rate"] for one in training.run.records("evaluation"))
        assert first == 0
        if last >= 0.9:
            return
    pytest.fail("neither seed learned to reach the goal in 9 of 10 episodes")
