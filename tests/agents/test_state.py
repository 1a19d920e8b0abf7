"""Seeds, states and weights: the same is the same, down to the last bit."""

import numpy as np
import pytest
import torch
from agents.batches import random_batch
from safetensors.torch import load_file, save_file

from orcalign.agents import DrQv2Settings, SACSettings, XQCSettings, make_agent, make_policy

CASES = {
    "drqv2": (DrQv2Settings(hidden=16), (5,)),
    "drqv2 images": (DrQv2Settings(hidden=16), (3, 16, 18)),
    "sac": (SACSettings(hidden=16, layer_norm=True), (5,)),
    "xqc": (XQCSettings(hidden=16), (5,)),
}
cases = pytest.mark.parametrize("case", CASES)


def made(case, seed=0):
    settings, shape = CASES[case]
    return make_agent(settings, shape, 2, seed)


def trained(case, updates=3, seed=0):
    agent = made(case, seed)
    learn(agent, case, range(updates))
    return agent


def learn(agent, case, numbers):
    for number in numbers:
        agent.update(random_batch(number, CASES[case][1]))


def assert_same(a, b):
    assert a.keys() == b.keys()
    for name in a:
        assert torch.equal(torch.as_tensor(a[name]), torch.as_tensor(b[name])), name


@cases
def test_same_seed_same_weights_before_and_after_learning(case):
    assert_same(made(case).state(), made(case).state())
    assert_same(trained(case).state(), trained(case).state())


@cases
def test_other_seed_other_weights(case):
    a, b = made(case, 0).policy_weights(), made(case, 1).policy_weights()
    drawn = [name for name in a if name.endswith("weight")]
    assert drawn
    assert not any(np.array_equal(a[name], b[name]) for name in drawn)


@cases
def test_torchs_own_generator_is_neither_used_nor_touched(case):
    torch.manual_seed(0)
    before = torch.get_rng_state()
    first = trained(case).state()
    assert torch.equal(before, torch.get_rng_state())
    torch.manual_seed(1)
    assert_same(first, trained(case).state())


@cases
def test_a_state_goes_through_a_file_and_training_goes_on_as_if_nothing_had_been(case, tmp_path):
    whole = trained(case, 3)
    save_file(whole.state(), tmp_path / "agent.safetensors")
    learn(whole, case, range(3, 6))
    resumed = made(case, seed=99)
    resumed.load_state(load_file(tmp_path / "agent.safetensors"))
    learn(resumed, case, range(3, 6))
    assert_same(whole.state(), resumed.state())


@cases
def test_a_state_before_the_first_update_can_be_loaded(case):
    fresh, other = made(case, 0), trained(case, 2, seed=1)
    other.load_state(fresh.state())
    learn(fresh, case, range(2))
    learn(other, case, range(2))
    assert_same(fresh.state(), other.state())


@cases
def test_states_and_weights_are_copies(case):
    agent = made(case)
    state, weights = agent.state(), agent.policy_weights()
    kept = {name: tensor.clone() for name, tensor in state.items()}
    learn(agent, case, range(1))
    assert_same(state, kept)
    for array in weights.values():
        array[...] = np.nan
    learn(agent, case, range(1))
    assert all(tensor.isfinite().all() for tensor in agent.state().values())


@cases
def test_a_second_stage_takes_the_networks_and_nothing_else(case):
    first, second, fresh = trained(case, 3, seed=1), made(case, seed=2), made(case, seed=2)
    second.load_networks(first.state())
    old, new, untouched = first.state(), second.state(), fresh.state()
    for name, tensor in new.items():
        handed_on = name.split(".")[0] in ("encoder", "actor", "critic", "target")
        assert torch.equal(tensor, (old if handed_on else untouched)[name]), name
    second.update(random_batch(0, CASES[case][1]), update_actor=False)


@cases
def test_a_policy_acts_as_the_agents_actor_does(case):
    settings, shape = CASES[case]
    agent = trained(case)
    policy = make_policy(settings, shape, 2)
    weights = agent.policy_weights()
    for array in weights.values():
        array.flags.writeable = False
    policy.load(weights)
    observations = random_batch(7, shape).observations
    observations.flags.writeable = False
    got = np.stack([policy.act(observation) for observation in observations])
    with torch.no_grad():
        wanted = agent.actor.act(agent.encoder(torch.tensor(observations)), None).numpy()
    np.testing.assert_allclose(got, wanted, atol=1e-5)
    assert got.dtype == np.float32
    assert got.shape == (16, 2)
    again = make_policy(settings, shape, 2)
    again.load(agent.state())
    np.testing.assert_array_equal(again.act(observations[0]), policy.act(observations[0]))


@pytest.mark.parametrize(
    "settings",
    [
        *(
            DrQv2Settings(hidden=24, layer_norm=norm, trunk=trunk)
            for norm, trunk in ((True, 50), (True, 0), (False, 50))
        ),
        SACSettings(hidden=24, layer_norm=True),
        SACSettings(hidden=24, trunk=0),
        XQCSettings(hidden=24, layers=3),
    ],
    ids=str,
)
def test_a_state_is_answered_without_torch(settings, monkeypatch):
    """The same actions, and new weights count at once."""
    policy = make_policy(settings, (5,), 2)
    rng = np.random.default_rng(0)
    for seed in range(2):
        agent = make_agent(settings, (5,), 2, seed)
        chance = torch.Generator().manual_seed(seed)
        for tensor in (*agent.actor.parameters(), *agent.actor.buffers()):
            tensor.data += 0.3 * torch.rand(tensor.shape, generator=chance)
        policy.load(agent.policy_weights())
        for state, noise in zip(3 * rng.standard_normal((9, 5)), rng.standard_normal((9, 2)), strict=True):
            for one in (None, noise.astype(np.float32)):
                with torch.no_grad():
                    given = None if one is None else torch.tensor(one)
                    wanted = agent.actor.act(torch.tensor(state[None], dtype=torch.float32), given)
                np.testing.assert_allclose(policy.act(state, one), wanted[0].numpy(), atol=2e-5)
    monkeypatch.setattr(torch, "tensor", None)
    policy.act(np.zeros(5))


def test_noise_is_added_by_drqv2_and_scaled_by_sac():
    noise, seen = np.array([0.3, -5.0], np.float32), np.ones(5, np.float32)
    for case in ("drqv2", "sac"):
        settings, shape = CASES[case]
        agent, policy = trained(case), make_policy(settings, shape, 2)
        policy.load(agent.policy_weights())
        best, noisy = policy.act(seen), policy.act(seen, noise)
        if case == "drqv2":
            np.testing.assert_allclose(noisy, [best[0] + 0.3, -1], rtol=1e-6)
        else:
            with torch.no_grad():
                _, log_std = agent.actor(torch.as_tensor(seen)[None])
            raw = np.arctanh(best.astype(float)) + log_std.exp().numpy()[0] * noise
            np.testing.assert_allclose(noisy, np.tanh(raw), atol=1e-5)
        assert np.abs(noisy).max() <= 1


def test_wrong_states_are_refused_and_nothing_changes():
    agent = made("drqv2")
    before = agent.state()
    wide = make_agent(DrQv2Settings(hidden=17), (5,), 2, 0).state()
    normed = make_agent(DrQv2Settings(hidden=16, layer_norm=True), (5,), 2, 0)
    with pytest.raises(ValueError, match=r"'actor.layers.0.weight' has the shape \(17, 50\), .* needs \(16, 50\)"):
        agent.load_state(wide)
    with pytest.raises(ValueError, match=r"saved agent lacks|saved agent has"):
        agent.load_networks(normed.state())
    with pytest.raises(
        ValueError, match=r"lacks 'actor\.trunk\.dense\.weight', which this agent needs; make the agent"
    ):
        agent.load_networks({})
    with pytest.raises(ValueError, match="has 'step', which this agent does not know"):
        agent.load_state({**before, "step": torch.zeros(())})
    policy = make_policy(CASES["drqv2"][0], (5,), 2)
    with pytest.raises(ValueError, match="no weights yet"):
        policy.act(np.zeros(5))
    with pytest.raises(ValueError, match="saved agent"):
        policy.load(normed.policy_weights())
    assert_same(before, agent.state())


def test_wrong_observations_and_noise_are_refused():
    settings, shape = CASES["drqv2"]
    policy = make_policy(settings, shape, 2)
    policy.load(made("drqv2").policy_weights())
    with pytest.raises(ValueError, match=r"shape \(1, 5\), but the policy was made for \(5,\)"):
        policy.act(np.zeros((1, 5)))
    with pytest.raises(ValueError, match=r"noise has the shape \(3,\); it must be \(2,\)"):
        policy.act(np.zeros(5), np.zeros(3))
