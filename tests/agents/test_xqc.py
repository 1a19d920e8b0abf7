"""What only XQC has: statistics of batches, weights of length 1, and a scale of rewards."""

import numpy as np
import pytest
import torch
from agents.batches import random_batch
from scipy.stats import wasserstein_distance

from orcalign.agents import Replay, XQCSettings, make_agent, make_policy
from orcalign.agents.xqc.networks import BatchNorm
from orcalign.agents.xqc.values import ATOMS, BOUND, means, spread, support

SETTINGS = XQCSettings(hidden=16, batch=8)


def made(seed=0):
    return make_agent(SETTINGS, (5,), 2, seed)


def test_running_statistics_are_means_first_and_then_forget():
    norm = BatchNorm(2)
    batches = 3 + torch.randn(200, 64, 2, generator=torch.Generator().manual_seed(0)) * torch.tensor([1.0, 0.1])
    for batch in batches[:50]:
        assert norm(batch, True).mean(0).abs().max() < 1e-4
    torch.testing.assert_close(norm.mean, batches[:50].mean((0, 1)))
    torch.testing.assert_close(norm.variance, batches[:50].var(1).mean(0))
    before = norm.mean.clone()
    norm(batches[0] + 100, False)
    assert torch.equal(norm.mean, before)
    for _ in range(300):
        norm(batches[0] + 100, True)
    assert (norm.mean - batches[0].mean(0) - 100).abs().max() < 15


def test_rows_of_weights_have_length_1_from_the_start_on():
    agent = made()
    for number in range(4):
        for name, tensor in agent.state().items():
            if name.startswith(("actor.", "critic.")) and name.endswith("weight"):
                torch.testing.assert_close(tensor.norm(dim=1), torch.ones(len(tensor)), msg=name)
        agent.update(random_batch(number))


def test_the_actor_learns_at_every_third_update():
    agent = made()
    learned = ["actor_loss" in agent.update(random_batch(number)) for number in range(7)]
    assert learned == [True, False, False, True, False, False, True]


def test_spread_keeps_mass_and_mean_and_moves_nothing_far():
    rng = np.random.default_rng(0)
    values = torch.tensor(rng.uniform(-6, 6, (20, 30)), dtype=torch.float32)
    weights = torch.tensor(rng.dirichlet(np.ones(30), 20), dtype=torch.float32)
    atoms, inside = support(), values.clamp(-BOUND, BOUND)
    for value, weight, found in zip(inside, weights, spread(values, weights), strict=True):
        assert found.min() >= 0
        assert found.sum() == pytest.approx(1, abs=1e-5)
        assert found @ atoms == pytest.approx(float(weight @ value), abs=1e-4)
        assert wasserstein_distance(atoms, value, found, weight) < 0.05


def test_an_atom_is_spread_to_itself():
    exact = support()[None].clone()
    torch.testing.assert_close(spread(exact, exact.softmax(-1)), exact.softmax(-1), atol=1e-5, rtol=0)
    torch.testing.assert_close(means(torch.eye(ATOMS) * 100), support())


def test_no_number_stays_no_number():
    agent, batch = made(), random_batch(0)
    batch.returns[3] = np.nan
    assert np.isnan(agent.update(batch)["critic_loss"].item())


def replay_of(factor):
    replay = Replay(100, (5,), "float32", 2)
    rng = np.random.default_rng(0)
    for _ in range(4):
        episode = rng.standard_normal((9, 5)), rng.uniform(-1, 1, (8, 2)), rng.uniform(0, 1, 8)
        replay.add(episode[0], episode[1], factor * episode[2], terminated=False)
    return replay


def test_the_scale_follows_rewards():
    """A thousand times the reward is learned from in the same way; what it reports is in the reward's own units."""
    found, values = [], []
    for factor in (1, 1000):
        agent, replay = made(), replay_of(factor)
        agent.look_over(replay)
        for number in range(5):
            batch = replay.sample(np.random.default_rng(number), 8, 1, 0.9)
            metrics = agent.update(batch)
        found.append(agent.policy_weights())
        values.append(metrics["q_mean"].item())
        assert agent.reward_scale > 0.5 * factor
    for name, weights in found[0].items():
        np.testing.assert_allclose(weights, found[1][name], atol=1e-4, err_msg=name)
    assert values[1] == pytest.approx(1000 * values[0], rel=1e-3)


def test_scaled_values_fit():
    """Also where they hardly vary, and where there are none."""
    agent, replay = made(), Replay(100, (5,), "float32", 2)
    agent.look_over(replay)
    assert agent.reward_scale == 1
    replay.add(np.zeros((2, 5)), np.zeros((1, 2)), np.array([40.0]), terminated=True)
    agent.look_over(replay)
    assert agent.reward_scale == 40 / BOUND
    replay.set_rewards([0.0])
    agent.look_over(replay)
    assert agent.reward_scale == 1


def test_statistics_reach_the_policy():
    agent, seen = made(), random_batch(0).observations
    policy = make_policy(SETTINGS, (5,), 2)
    policy.load(agent.policy_weights())
    before = policy.act(seen[0])
    weights = agent.policy_weights()
    weights["actor.norm.mean"] += 1
    policy.load(weights)
    assert not np.allclose(policy.act(seen[0]), before, atol=1e-3)
