"""Updates do what the papers say, compared with versions that hide nothing."""

import itertools
import re

import numpy as np
import pytest
import torch
from agents.batches import random_batch
from agents.plain_updates import Plain, plain_drqv2, plain_sac

from orcalign.agents import AgentSettings, make_agent
from orcalign.agents.networks import Dense, initialise
from orcalign.agents.optimiser import Adam

PLAIN = {"drqv2": plain_drqv2, "sac": plain_sac}


@pytest.mark.parametrize("agent", ["drqv2", "sac"])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"layer_norm": True},
        {"trunk": 0},
        {"critics": 3},
        {"critics": 5, "layer_norm": True},
        {"action_penalty": 0.5},
        {"action_penalty": 0.5, "layer_norm": True},
        {"target_noise": 0.5, "target_smoothing": 0.3},
        {"entropy_temperature": 0.2, "learning_rate": 0.01},
    ],
    ids=str,
)
def test_updates_agree_with_the_plain_version(agent, changes):
    settings = AgentSettings(**{"agent": agent, "hidden": 24, "trunk": 10, "learning_rate": 1e-3, **changes})
    learner = make_agent(settings, (5,), 2, seed=3)
    start = learner.state()
    plain = Plain(start, settings, start["generator"])
    for number in range(4):
        batch = random_batch(number)
        got, wanted = learner.update(batch), PLAIN[agent](plain, batch)
        for name, value in wanted.items():
            assert got[name].item() == pytest.approx(value.item(), rel=1e-4), (number, name)
    for name, tensor in learner.state().items():
        if name in plain.w:
            torch.testing.assert_close(
                tensor.double(), plain.w[name].detach(), rtol=1e-3, atol=3e-5, msg=name
            )


@pytest.mark.parametrize(
    "changes", [{}, {"action_penalty": 0.5}, {"policy_average": 0.2}, {"critics": 5}], ids=str
)
def test_gradients_by_hand_are_those_of_autograd(changes):
    settings = AgentSettings(hidden=24, trunk=10, layer_norm=True, learning_rate=1e-3, **changes)
    by_hand, by_autograd = (make_agent(settings, (5,), 2, seed=3) for _ in range(2))
    by_autograd._by_hand.can = lambda batch: False
    for number, size in enumerate((16, 16, 5, 16, 1)):
        batch, update_actor = random_batch(number, size=size), number != 1
        assert by_hand._by_hand.can(batch.to("cpu"))
        got, wanted = (agent.update(batch, update_actor) for agent in (by_hand, by_autograd))
        assert got.keys() == wanted.keys()
        for name, value in wanted.items():
            assert got[name].item() == pytest.approx(value.item(), rel=1e-4), (number, name)
    wanted = by_autograd.state()
    for name, tensor in by_hand.state().items():
        torch.testing.assert_close(tensor, wanted[name], rtol=1e-3, atol=3e-5, msg=name)


@pytest.mark.parametrize(
    ("settings", "shape"),
    [(AgentSettings(hidden=8), (5,)), (AgentSettings(hidden=8, layer_norm=True, trunk=0), (5,)),
     (AgentSettings(hidden=8, layer_norm=True), (3, 84, 84))],
)  # fmt: skip
def test_what_is_not_written_out_is_left_to_autograd(settings, shape):
    agent = make_agent(settings, shape, 2, seed=0)
    batch = random_batch(0, shape, size=4)
    assert not agent._by_hand.can(batch.to("cpu"))
    agent.update(batch)


def test_no_number_stays_no_number():
    agent = make_agent(AgentSettings(hidden=8, layer_norm=True), (5,), 2, seed=0)
    batch = random_batch(0)
    batch.observations[3, 2] = np.nan
    metrics = agent.update(batch)
    assert np.isnan(metrics["critic_loss"].item())
    assert np.isnan(metrics["actor_loss"].item())


@pytest.mark.parametrize("agent", ["drqv2", "sac"])
def test_the_actor_waits_when_it_is_told_to(agent):
    learner = make_agent(AgentSettings(agent=agent, hidden=16), (5,), 2, seed=0)
    before = learner.state()
    metrics = learner.update(random_batch(0), update_actor=False)
    after = learner.state()
    changed = {name.split(".")[0] for name in after if not torch.equal(before[name], after[name])}
    assert changed == {"critic", "target", "critic_adam", "generator"}
    assert "actor_loss" not in metrics
    learner.update(random_batch(0))
    changed = {
        name.split(".")[0] for name, tensor in learner.state().items() if not torch.equal(tensor, after[name])
    }
    assert {"actor", "actor_adam"} <= changed


@pytest.mark.parametrize("agent", ["drqv2", "sac"])
def test_the_averaged_policy_follows_the_actor_slowly(agent):
    """By the textbook's formula; an update that spares the actor spares its average, too."""
    learner = make_agent(AgentSettings(agent=agent, hidden=16, policy_average=0.25), (5,), 2, seed=0)
    wanted = learner.policy_weights()
    for number, update_actor in enumerate((True, False, True, True)):
        learner.update(random_batch(number), update_actor)
        if update_actor:
            now = learner.policy_weights()
            wanted = {name: 0.75 * wanted[name] + 0.25 * now[name] for name in now}
    got = learner.policy_weights(averaged=True)
    assert got.keys() == wanted.keys()
    for name in wanted:
        np.testing.assert_allclose(got[name], wanted[name], rtol=1e-5, atol=1e-7)
    assert not np.allclose(got["actor.layers.0.weight"], learner.policy_weights()["actor.layers.0.weight"])


def test_without_averaging_there_is_one_policy():
    learner = make_agent(AgentSettings(hidden=16), (5,), 2, seed=0)
    learner.update(random_batch(0))
    now, averaged = learner.policy_weights(), learner.policy_weights(averaged=True)
    assert all(np.array_equal(now[name], averaged[name]) for name in now)
    assert not any(name.startswith("averaged") for name in learner.state())


def test_a_fixed_temperature_stays():
    learner = make_agent(AgentSettings(agent="sac", hidden=16, entropy_temperature=0.25), (5,), 2, seed=0)
    for number in range(3):
        assert learner.update(random_batch(number))["alpha"].item() == 0.25
    free = make_agent(AgentSettings(agent="sac", hidden=16, learning_rate=0.1), (5,), 2, seed=0)
    assert free.update(random_batch(0))["alpha"].item() == 1
    assert free.update(random_batch(1))["alpha"].item() != 1


def test_metrics_are_detached_scalars():
    for agent in ("drqv2", "sac"):
        metrics = make_agent(AgentSettings(agent=agent, hidden=16), (5,), 2, seed=0).update(random_batch(0))
        for value in metrics.values():
            assert value.shape == ()
            assert not value.requires_grad


@pytest.mark.parametrize("critics", [2, 4])
def test_critics_are_different_ones(critics):
    weights = make_agent(AgentSettings(hidden=16, critics=critics), (5,), 2, seed=0).state()
    layers = [value for name, value in weights.items() if re.fullmatch(r"critic\.heads\.\d\.0\.weight", name)]
    assert [tuple(layer.shape) for layer in layers] == [(16, 52)] * critics
    for one, other in itertools.combinations(layers, 2):
        assert not torch.allclose(one, other)


def test_adam_is_torchs():
    ours, theirs = Dense(4, 3), Dense(4, 3)
    for layer in (ours, theirs):
        initialise(layer, torch.Generator().manual_seed(0))
    adam, reference = Adam({"layer": ours}, 0.01), torch.optim.Adam(theirs.parameters(), 0.01, foreach=False)
    inputs = torch.randn(8, 6, 4, generator=torch.Generator().manual_seed(1))
    for x in inputs:
        adam.step(ours(x).square().sum())
        reference.zero_grad()
        theirs(x).square().sum().backward()
        reference.step()
    torch.testing.assert_close(ours.weight, theirs.weight)
    torch.testing.assert_close(ours.bias, theirs.bias)
