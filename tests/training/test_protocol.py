"""The door is wide enough: rewards of every kind train, go on after a kill, have a page, and run on Ray."""

import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from training.small_runs import SMALL, assert_same, resume_to_end, run_to_end

from orcalign import config, load_policy
from orcalign.envs import eval_seed, make
from orcalign.report.training_run import run_page
from orcalign.training import RunFolder, Training, start_run
from orcalign.training.run_folder import run_reward

TINY = {
    "clip": ("ClipReward", ()),
    "composed": ("ComposedReward", ("weight=0.5",)),
    "learning": ("DiscriminatorReward", ("every=3",)),
    "guiding": ("GuidingReward", ("every=4",)),
}


def tiny_config(kind, **settings):
    name, own = TINY[kind]
    reward = {"reward.reward": f"training.tiny_rewards:{name}", "reward.set": own, "reward.scale": "none"}
    return config("nav2d", settings={"steps": 300, **SMALL, **reward, **settings})


@pytest.fixture(scope="module", params=TINY)
def whole(request, tmp_path_factory):
    """A run of each kind, without any interruption."""
    folder = tmp_path_factory.mktemp(request.param) / "run"
    return request.param, run_to_end(folder, tiny_config(request.param))


def test_it_trains_and_says_what_it_follows(whole):
    kind, run = whole
    episodes, evaluations = list(run.records("episode")), list(run.records("evaluation"))
    assert len(episodes) == 10
    assert evaluations[-1]["chosen_by"] == ("alike" if kind == "learning" else "reward")
    assert "coverage" not in evaluations[-1]
    if kind == "learning":
        assert [one["fits"] for one in episodes] == [0, 0, 1, 1, 1, 2, 2, 2, 3, 3]
        assert sum("fitted" in note["text"] for note in run.records("note")) == 3
    drawn = [one["timing"]["render"] for one in episodes]
    assert (max(drawn) == 0) == (kind == "guiding"), "what nobody needs is not drawn"


def test_everything_kept_has_the_reward_and_the_guide_of_now(whole):
    kind, run = whole
    training = Training(RunFolder(run.path), 0, "cpu")
    learner = training.learner
    paid = np.concatenate(run_reward(run.path).pay(learner.kept)).astype(np.float32)
    batch = learner.replay.sample(np.random.default_rng(0), 20_000, 1, 0.9, "gamma")
    assert set(np.unique(batch.returns)) == set(np.unique(paid))
    if kind == "guiding":
        guides = np.concatenate(run_reward(run.path).guide(learner.kept))[:, 0]
        assert batch.observations.shape[1] == 5
        assert set(np.unique(batch.observations[:, -1])) <= set(np.unique(guides))
    training.close()


KILLER = """
import os, signal, sys
sys.path.insert(0, {tests!r})
from training.test_protocol import tiny_config
from orcalign.report.training_run import run_page
from orcalign.training import RunFolder, Training, start_run
if __name__ == "__main__":
    run = start_run(tiny_config({kind!r}), sys.argv[1])
    training = Training(run, 0, "cpu", checkpoint_minutes=0)
    def stop():
        if training.learner.steps >= 130:
            os.kill(os.getpid(), signal.SIGKILL)
        return False
    training.go(stop)
"""


def test_killed_in_the_middle_it_ends_with_the_same_bits(whole, tmp_path):
    kind, run = whole
    code = KILLER.format(tests=str(Path(__file__).parent.parent), kind=kind)
    ended = subprocess.run([sys.executable, "-c", code, tmp_path / "run"], timeout=120, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert_same(run, resume_to_end(tmp_path / "run"))


def test_with_collectors_beside_the_learner_it_is_the_same_run(whole, tmp_path):
    kind, run = whole
    assert_same(run, run_to_end(tmp_path / "run", tiny_config(kind), workers=2))


def test_its_page_shows_what_was_paid(whole):
    kind, run = whole
    page = run_page(run.path)
    assert "cannot be shown" not in page
    # A strip with the rewards, as there is no match to explain; of one number a clip there is nothing to draw.
    assert {"clip": "for the whole episode, paid at its last step"}.get(kind, "in all, from") in page
    assert f"{run.reward().name}: " in page


def test_a_guided_policy_acts_from_its_folder_as_in_its_evaluation(tmp_path):
    run = run_to_end(tmp_path / "run", tiny_config("guiding"))
    policy = load_policy(run.path)
    env = make("nav2d", render=None)
    returns = []
    for k in range(3):
        observation, _ = env.reset(seed=eval_seed(k))
        policy.reset()
        done, success = False, 0
        while not done:
            observation, _, terminated, truncated, info = env.step(policy(observation))
            success += bool(info["success"])
            done = terminated or truncated
        returns.append(success)
    *_, last = run.records("evaluation")
    assert returns == last["returns"]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed")
@pytest.mark.xdist_group("ray")
def test_on_ray_collectors_it_is_the_same_run(whole, tmp_path):
    """In a process of its own: Ray reads how to authenticate when it is imported, and other tests had it otherwise."""
    kind, run = whole
    tests = str(Path(__file__).parent.parent)
    code = (
        "import sys\nfrom pathlib import Path\nfrom training.small_runs import run_to_end\n"
        "from training.test_protocol import tiny_config\n"
        "run_to_end(Path(sys.argv[1]), tiny_config(sys.argv[2]), workers='ray:2')\n"
    )
    there = os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")])
    clean = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    command = [sys.executable, "-c", code, tmp_path / "run", kind]
    subprocess.run(command, timeout=300, check=True, env={**clean, "PYTHONPATH": there})
    assert_same(run, RunFolder(tmp_path / "run"))


def test_a_guide_needs_states(tmp_path):
    with pytest.raises(ValueError, match="the policy sees pixels"):
        Training(
            start_run(tiny_config("guiding", **{"collect.policy_input": "pixels"}), tmp_path / "run"),
            0,
            "cpu",
        )


def test_a_class_that_is_no_reward_is_refused(tmp_path):
    given = {"reward.reward": "json:JSONDecoder", "steps": 60}
    with pytest.raises(ValueError, match="must name a class derived from"):
        Training(start_run(config("nav2d", settings=given), tmp_path / "run"), 0, "cpu")
