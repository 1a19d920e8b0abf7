"""A policy taken out of its run acts as it did in the evaluation."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
from training.small_runs import run_to_end, small_config

import orcalign
from orcalign.envs import eval_seed, make
from orcalign.files import read_arrays
from orcalign.rewards import Rollout
from orcalign.training import LoadedPolicy, load_policy, start_run
from orcalign.training.checkpoint import Checkpoints
from orcalign.training.collector import Order, rescale
from orcalign.training.episode import read_shown
from orcalign.training.players import make_collector
from orcalign.training.policy import policy_parts


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    config = small_config(steps=300)
    # With this seed the first policy does not push into a wall, where all episodes would look the same.
    config = replace(config, seed=3, evaluation=replace(config.evaluation, eval_shown=2))
    made = run_to_end(tmp_path_factory.mktemp("runs") / "run", config)
    (one, _), (other, _) = read_shown(made.path / "evaluations" / "0000000000.npz")
    assert not np.array_equal(one["cost_0"], other["cost_0"])
    return made


def play(policy: LoadedPolicy, seed: int):
    """An episode in a fresh environment: actions, frames after each, steps that report success."""
    env = make("nav2d")
    observation, _ = env.reset(seed=seed)
    actions, frames, successes, done = [], [], 0, False
    while not done:
        actions.append(policy(observation))
        observation, _, terminated, truncated, info = env.step(actions[-1])
        frames.append(env.render())
        successes += info["success"]
        done = terminated or truncated
    env.close()
    return np.stack(actions), np.stack(frames), successes


@pytest.mark.parametrize("which", ["last", "best"])
def test_it_acts_as_the_evaluation_did(run, which):
    """The same return, and frames that are as far from the demo as those of the evaluation, bit by bit."""
    policy = orcalign.load_policy(run.path, which)
    evaluations = list(run.records("evaluation"))
    record = [one for one in evaluations if which == "last" or one["best"]][-1]
    assert policy.step == record["step"]
    reward = run.reward()
    for k, (evidence, _) in enumerate(read_shown(run.path / "evaluations" / f"{record['step']:010d}.npz")):
        _, frames, successes = play(policy, eval_seed(k))
        assert successes == record["returns"][k]
        seen = reward.observe(Rollout(len(frames), frames))
        np.testing.assert_array_equal(seen["cost_0"], evidence["cost_0"])


def test_the_last_policy_is_that_of_the_last_checkpoint(run):
    _, tensors = Checkpoints(run.path / "checkpoints").latest()
    for name, weight in policy_parts(*read_arrays(run.path / "policy-last.safetensors"))[0].items():
        np.testing.assert_array_equal(weight, tensors[f"agent/{name}"])


def test_actions_are_those_of_the_collector_bit_by_bit(run):
    collector = make_collector(run.config, run.path)
    weights, _ = policy_parts(*read_arrays(run.path / "policy-last.safetensors"))
    episode = collector.play(Order(0, eval_seed(1), weights, evaluation=300))
    collector.close()
    actions, *_ = play(load_policy(run.path), eval_seed(1))
    one = np.ones(2, np.float32)  # Nav2D's own limits
    np.testing.assert_array_equal(actions, rescale(episode.actions, -one, one))


def test_actions_are_in_the_units_of_the_environment(run):
    weights, about = read_arrays(run.path / "policy-last.safetensors")
    wide = {**about["world"], "action_low": [-3.0, 0.0], "action_high": [3.0, 1.0]}
    state = np.array([0.2, 0.3, 0.0, 0.5], np.float32)
    plain = load_policy(run.path)(state)
    scaled = LoadedPolicy(run, weights, {**about, "world": wide})(state)
    np.testing.assert_allclose(scaled, [3 * plain[0], (plain[1] + 1) / 2], rtol=1e-6)


def test_it_remembers_nothing(run):
    policy, state = load_policy(run.path), np.array([0.1, 0.9, 0.0, 0.0], np.float32)
    first = policy(state)
    policy(np.zeros(4))
    np.testing.assert_array_equal(policy(state.tolist()), first)


def test_an_observation_of_another_shape(run):
    with pytest.raises(ValueError, match=r"shape \(3,\), but the policy was made for \(4,\)"):
        load_policy(run.path)(np.zeros(3))


def test_which_is_last_or_best(run):
    with pytest.raises(ValueError, match=r"which is 'lst'; did you mean 'last'\? Known: last, best"):
        load_policy(run.path, "lst")


def test_a_folder_that_is_no_run(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"is not a run: it has no config.yaml; give the folder"):
        load_policy(tmp_path)


def test_a_run_without_a_policy_yet(tmp_path):
    started = start_run(small_config(), tmp_path / "run")
    with pytest.raises(FileNotFoundError, match=r"has no best policy yet; it is written at its first"):
        load_policy(started.path, "best")


@pytest.mark.parametrize("damage", ["cut", "empty", "foreign"])
def test_a_damaged_policy(run, tmp_path, damage):
    copied = shutil.copytree(run.path, tmp_path / "run")
    path = copied / "policy-last.safetensors"
    data = {"cut": path.read_bytes()[:-40], "empty": b"", "foreign": b"not a policy at all"}[damage]
    path.write_bytes(data)
    with pytest.raises(ValueError, match="is not a file that orcalign wrote"):
        load_policy(copied)
