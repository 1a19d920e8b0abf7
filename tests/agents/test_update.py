"""Updates do what the papers say, compared with versions that hide nothing."""

import itertools
import threading
import time

import numpy as np
import pytest
import torch
from agents.batches import random_batch
from agents.plain_updates import Plain, plain_drqv2, plain_sac
from agents.plain_xqc import plain_xqc

from orcalign.agents import DrQv2Settings, SACSettings, XQCSettings, find_settings, make_agent
from orcalign.agents.cpu import beside
from orcalign.agents.cpu.beside import Beside
from orcalign.agents.drqv2 import by_hand as drqv2_by_hand
from orcalign.agents.networks import dense, initialise
from orcalign.agents.parameters import Adam
from orcalign.agents.sac import by_hand as sac_by_hand
from orcalign.agents.xqc import by_hand as xqc_by_hand

PLAIN = {"drqv2": plain_drqv2, "sac": plain_sac, "xqc": plain_xqc}
AGENTS = tuple(PLAIN)


@pytest.mark.parametrize(
    ("agent", "changes"),
    [
        *itertools.product(("drqv2", "sac"), ({}, {"layer_norm": True}, {"trunk": 0}, {"target_smoothing": 0.3})),
        ("drqv2", {"action_penalty": 0.5}),
        ("drqv2", {"action_penalty": 0.5, "layer_norm": True}),
        ("drqv2", {"target_noise": 0.5, "target_smoothing": 0.3}),
        ("sac", {"entropy_temperature": 0.2, "learning_rate": 0.01}),
        *(("xqc", {"layers": 2, **one}) for one in ({}, {"layers": 3, "target_smoothing": 0.3}, {"actor_every": 1})),
        ("xqc", {"layers": 1, "entropy_temperature": 0.2}),
    ],
    ids=str,
)
def test_updates_agree_with_the_plain_version(agent, changes):
    own = {} if agent == "xqc" else {"trunk": 10}
    settings = find_settings(agent)(**{"hidden": 24, "learning_rate": 1e-3, **own, **changes})
    learner = make_agent(settings, (5,), 2, seed=3)
    start = learner.state()
    plain = Plain(start, settings, start["generator"])
    if agent == "xqc":
        plain.scale = 0.7
        learner.reward_scale.fill_(plain.scale)
    for number in range(4):
        batch = random_batch(number)
        got, wanted = learner.update(batch), PLAIN[agent](plain, batch)
        assert wanted.keys() == got.keys() - {"q_mean", "alpha"} - ({"entropy"} - wanted.keys())
        for name, value in wanted.items():
            assert got[name].item() == pytest.approx(value.item(), rel=1e-4), (number, name)
    for name, tensor in learner.state().items():
        known = plain.w.get(name, plain.statistics.get(name))
        if known is not None:
            torch.testing.assert_close(tensor.double(), known.detach(), rtol=1e-3, atol=3e-5, msg=name)


BODIES = ({"trunk": 10, "layer_norm": True}, {"trunk": 0}, {"trunk": 10})


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        *itertools.product((DrQv2Settings, SACSettings), BODIES),
        (DrQv2Settings, {"action_penalty": 0.5, **BODIES[0]}),
        (SACSettings, {"entropy_temperature": 0.2}),
        (XQCSettings, {}),
        (XQCSettings, {"layers": 3, "target_smoothing": 0.3}),
        (XQCSettings, {"layers": 1, "actor_every": 1, "entropy_temperature": 0.2}),
    ],
    ids=str,
)
def test_gradients_by_hand_are_those_of_autograd(kind, changes):
    settings = kind(hidden=24, learning_rate=1e-3, **changes)
    ours, by_autograd = (make_agent(settings, (5,), 2, seed=3) for _ in range(2))
    by_autograd._by_hand.can = lambda batch: False
    for number, size in enumerate((16, 16, 5, 16, 2)):
        batch, update_actor = random_batch(number, size=size), number != 1
        assert ours._by_hand.can(batch.to("cpu"))
        got, wanted = (agent.update(batch, update_actor) for agent in (ours, by_autograd))
        assert got.keys() == wanted.keys()
        for name, value in wanted.items():
            assert got[name].item() == pytest.approx(value.item(), rel=1e-4, abs=2e-6), (number, name)
    wanted = by_autograd.state()
    # A step of Adam has the size of the learning rate, 1e-3, and is in doubt where a gradient is as small as Adam's
    # 1e-8:
    # among a hundred atoms there are such.
    for name, tensor in ours.state().items():
        atol = 3e-4 if kind is XQCSettings else 3e-5
        torch.testing.assert_close(tensor, wanted[name], rtol=1e-3, atol=atol, msg=name)


@pytest.mark.parametrize(
    ("module", "settings"),
    [(drqv2_by_hand, DrQv2Settings(hidden=64, trunk=10, layer_norm=True, action_penalty=0.1)),
     (sac_by_hand, SACSettings(hidden=64, trunk=10, layer_norm=True)), (sac_by_hand, SACSettings(hidden=64, trunk=0)),
     (xqc_by_hand, XQCSettings(hidden=64))],
)  # fmt: skip
def test_a_second_thread_changes_no_bit(monkeypatch, module, settings):
    """Whether it takes its half in time, never gets to it, or is not there."""
    taken = []

    class Late(Beside):
        def both(self, here, there):
            # Long enough for the other thread to have begun in any case.
            super().both(lambda: (time.sleep(0.001), here()), lambda: (taken.append(threading.get_ident()), there()))

    class Never(Beside):
        def _work(self):
            pass

    def trained(both):
        monkeypatch.setattr(module, "beside", both)
        agent = make_agent(settings, (5,), 2, seed=3)
        for number in range(8):
            agent.update(random_batch(number, size=32), number != 5)
        return agent.state()

    alone = trained(lambda here, there: (here(), there()))
    for both in (lambda here, there: (there(), here()), Late().both, Never().both):
        for name, tensor in trained(both).items():
            assert torch.equal(tensor, alone[name]), name
    assert set(taken) - {threading.get_ident()}


def test_both_halves_are_done_and_errors_are_raised():
    def fail():
        raise ValueError("half")

    helper, done = Beside(), []
    for here, there in ((fail, lambda: done.append(1)), (lambda: done.append(1), fail)):
        with pytest.raises(ValueError, match="half"):
            helper.both(here, there)
    assert done == [1, 1]
    helper.both(lambda: done.append(2), lambda: done.append(2))
    assert done == [1, 1, 2, 2]


def test_torch_that_shares_out_its_products_is_left_alone(monkeypatch):
    monkeypatch.setattr(beside, "_helper", lambda: pytest.fail("the thread was asked"))
    monkeypatch.setattr(beside, "_cores", lambda: 2)
    torch.set_num_threads(2)
    beside.beside(lambda: None, lambda: None)
    torch.set_num_threads(1)
    monkeypatch.setattr(beside, "_cores", lambda: 1)
    beside.beside(lambda: None, lambda: None)


def test_what_is_not_written_out_is_left_to_autograd():
    agent = make_agent(DrQv2Settings(hidden=8), (3, 84, 84), 2, seed=0)
    batch = random_batch(0, (3, 84, 84), size=4)
    assert not agent._by_hand.can(batch.to("cpu"))
    agent.update(batch)


@pytest.mark.parametrize(
    ("kind", "changes"),
    [*itertools.product((DrQv2Settings, SACSettings), ({"layer_norm": True}, {})), (XQCSettings, {})],
    ids=str,
)
def test_no_number_stays_no_number(kind, changes):
    agent = make_agent(kind(hidden=8, **changes), (5,), 2, seed=0)
    batch = random_batch(0)
    batch.observations[3, 2] = np.nan
    metrics = agent.update(batch)
    assert np.isnan(metrics["critic_loss"].item())
    assert np.isnan(metrics["actor_loss"].item())


@pytest.mark.parametrize("agent", AGENTS)
def test_the_actor_waits_when_it_is_told_to(agent):
    learner = make_agent(find_settings(agent)(hidden=16), (5,), 2, seed=0)
    before = learner.state()
    metrics = learner.update(random_batch(0), update_actor=False)
    after = learner.state()
    changed = {name.split(".")[0] for name in after if not torch.equal(before[name], after[name])}
    assert changed == {"critic", "target", "critic_adam", "generator"}
    assert "actor_loss" not in metrics
    for number in range(3):
        learner.update(random_batch(number))
    changed = {name.split(".")[0] for name, tensor in learner.state().items() if not torch.equal(tensor, after[name])}
    assert {"actor", "actor_adam"} <= changed


@pytest.mark.parametrize(("kind", "first"), [(SACSettings, 1), (XQCSettings, 0.01)])
def test_a_fixed_temperature_stays(kind, first):
    learner = make_agent(kind(hidden=16, entropy_temperature=0.25), (5,), 2, seed=0)
    for number in range(3):
        assert learner.update(random_batch(number))["alpha"].item() == 0.25
    free = make_agent(kind(hidden=16, learning_rate=0.1), (5,), 2, seed=0)
    assert free.update(random_batch(0))["alpha"].item() == pytest.approx(first)
    assert free.update(random_batch(1))["alpha"].item() != pytest.approx(first)


def test_metrics_are_detached_scalars():
    for agent in AGENTS:
        metrics = make_agent(find_settings(agent)(hidden=16), (5,), 2, seed=0).update(random_batch(0))
        for value in metrics.values():
            assert value.shape == ()
            assert not value.requires_grad


def test_critics_are_different_ones():
    weights = make_agent(DrQv2Settings(hidden=16), (5,), 2, seed=0).state()
    one, other = (weights[f"critic.heads.{k}.0.weight"] for k in range(2))
    assert one.shape == other.shape == (16, 52)
    assert not torch.allclose(one, other)


def test_adam_is_torchs():
    ours, theirs = dense(4, 3), dense(4, 3)
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
