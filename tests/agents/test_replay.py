"""The replay loses nothing, mixes nothing and makes nothing up."""

import numpy as np
import pytest
from agents.counting import SIDE, episode_of, naive_transition, seen
from hypothesis import given, settings
from hypothesis import strategies as st

from orcalign.agents import Replay


def filled(lengths, capacity, *, images=False, stack=1, terminated=None):
    shape, dtype = ((2, SIDE, SIDE), "uint8") if images else ((2,), "float32")
    replay = Replay(capacity, shape, dtype, action_dim=2, stack=stack)
    for number, steps in enumerate(lengths):
        replay.add(*episode_of(number, steps, images), terminated=bool(terminated and terminated[number]))
    return replay


def kept_episodes(lengths, capacity):
    """The newest whole episodes that fit."""
    kept, room = [], capacity
    for number in reversed(range(len(lengths))):
        if lengths[number] > room:
            break
        room -= lengths[number]
        kept.insert(0, number)
    return kept


def check_every_row(replay, lengths, terminated, *, n_step, gamma, bootstrap, images, label=0, draws=80):
    batch = replay.sample(np.random.default_rng(7), draws, n_step, gamma, bootstrap)
    for row in range(draws):
        number, step = batch.actions[row].astype(int)
        total, discount, then = naive_transition(
            number,
            step,
            lengths[number],
            terminated[number],
            n_step=n_step,
            gamma=gamma,
            bootstrap=bootstrap,
            label=label,
        )
        assert batch.returns[row] == pytest.approx(total, rel=1e-6)
        assert batch.discounts[row] == pytest.approx(discount, rel=1e-6)
        np.testing.assert_array_equal(batch.observations[row], seen(number, step, replay.stack, images))
        np.testing.assert_array_equal(batch.next_observations[row], seen(number, then, replay.stack, images))
    return {tuple(mark) for mark in batch.actions.astype(int)}


episodes = st.lists(st.tuples(st.integers(1, 9), st.booleans()), min_size=1, max_size=25)


@settings(max_examples=60)
@given(
    episodes=episodes,
    capacity=st.integers(9, 40),
    n_step=st.integers(1, 6),
    gamma=st.sampled_from([0.0, 0.5, 0.99, 1.0]),
    bootstrap=st.sampled_from(["gamma^n", "gamma"]),
    images=st.booleans(),
    stack=st.integers(1, 4),
)
def test_every_draw_is_what_a_naive_loop_reads(episodes, capacity, n_step, gamma, bootstrap, images, stack):
    lengths, terminated = [steps for steps, _ in episodes], [end for _, end in episodes]
    replay = filled(lengths, capacity, images=images, stack=stack, terminated=terminated)
    kept = kept_episodes(lengths, capacity)
    assert replay.first_episode == kept[0]
    assert replay.num_episodes == len(kept)
    assert replay.lengths.tolist() == [lengths[number] for number in kept]
    assert replay.num_transitions == sum(replay.lengths) <= capacity
    drawn = check_every_row(
        replay, lengths, terminated, n_step=n_step, gamma=gamma, bootstrap=bootstrap, images=images
    )
    assert {number for number, _ in drawn} <= set(kept)


@settings(max_examples=30)
@given(episodes=episodes, capacity=st.integers(9, 40), n_step=st.integers(1, 4))
def test_relabelling_reaches_every_kept_transition_and_no_other(episodes, capacity, n_step):
    lengths, terminated = [steps for steps, _ in episodes], [end for _, end in episodes]
    replay = filled(lengths, capacity, terminated=terminated)
    first = replay.first_episode
    rewards = [episode_of(first + i, steps, False)[2] + 0.25 for i, steps in enumerate(replay.lengths)]
    replay.set_rewards(np.concatenate(rewards))
    check_every_row(
        replay, lengths, terminated, n_step=n_step, gamma=0.9, bootstrap="gamma^n", images=False, label=1
    )


def test_a_table_by_hand():
    """Rewards 1, 2, 4, gamma 1/2, two steps: 1 + 2/2 = 2; 2 + 4/2 = 4; 4, one step short of two."""
    replay = Replay(3, (1,), "float32", action_dim=1)
    replay.add([[0], [1], [2], [3]], [[0], [1], [2]], [1, 2, 4], terminated=False)
    batch = replay.sample(np.random.default_rng(0), 60, n_step=2, gamma=0.5)
    rows = {
        (float(action[0]), float(value), float(discount), float(after[0]))
        for action, value, discount, after in zip(
            batch.actions, batch.returns, batch.discounts, batch.next_observations, strict=True
        )
    }
    assert rows == {(0, 2, 0.25, 2), (1, 4, 0.25, 3), (2, 4, 0.5, 3)}


def test_many_short_episodes_after_long_ones_keep_their_final_observations():
    """More and more episodes fit, after others have left: the ring of final observations grows with them."""
    lengths = [12] * 7 + [1] * 90
    replay = filled(lengths, capacity=60)
    assert (replay.first_episode, replay.num_episodes) == (37, 60)
    check_every_row(
        replay, lengths, [False] * 97, n_step=2, gamma=0.9, bootstrap="gamma^n", images=False, draws=300
    )
    half = filled(lengths[:40], capacity=60)
    assert (half.first_episode, half.num_episodes) == (5, 35)
    check_every_row(
        half, lengths, [False] * 97, n_step=2, gamma=0.9, bootstrap="gamma^n", images=False, draws=300
    )


def test_every_kept_transition_is_equally_likely():
    lengths = [3, 7, 2, 5, 8]
    replay = filled(lengths, capacity=22)
    marks = replay.sample(np.random.default_rng(0), 44_000, 1, 0.9).actions
    _, counts = np.unique(marks, axis=0, return_counts=True)
    # Episodes 1 to 4: 22 transitions of 2,000 draws each; six standard deviations are 260.
    assert len(counts) == 22
    assert np.abs(counts - 2000).max() < 260


def test_the_same_draws_whatever_was_evicted():
    late = Replay(40, (2,), "float32", action_dim=2)
    for steps in (11, 13, 9, 38):
        late.add(*episode_of(200, steps, False), terminated=True)
    early = Replay(40, (2,), "float32", action_dim=2)
    for replay in (late, early):
        for number, steps in enumerate((10, 17, 13)):
            replay.add(*episode_of(number, steps, False), terminated=False)
    assert late.num_transitions == early.num_transitions == 40
    for a, b in zip(
        late.sample(np.random.default_rng(3), 64, 3, 0.99),
        early.sample(np.random.default_rng(3), 64, 3, 0.99),
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)


def test_an_episode_handed_over_may_be_changed_afterwards():
    observations, actions, rewards = episode_of(0, 4, False)
    replay = Replay(9, (2,), "float32", action_dim=2)
    replay.add(observations, actions, rewards, terminated=False)
    observations[:], actions[:], rewards[:] = -1, -1, -1
    batch = replay.sample(np.random.default_rng(0), 50, 2, 0.9)
    assert all((array >= 0).all() for array in batch)


def test_a_rebuilt_replay_goes_on_counting():
    replay = Replay(9, (2,), "float32", action_dim=2, first_episode=41)
    for number in range(3):
        replay.add(*episode_of(number, 4, False), terminated=False)
    assert (replay.first_episode, replay.num_episodes) == (42, 2)


def test_types_are_those_that_were_asked_for():
    batch = filled([4], 9, images=True, stack=3).sample(np.random.default_rng(0), 5, 3, 0.99)
    assert batch.observations.dtype == batch.next_observations.dtype == np.uint8
    assert batch.observations.shape == (5, 6, SIDE, SIDE)
    assert {array.dtype for array in (batch.actions, batch.returns, batch.discounts)} == {np.dtype("f")}
    tensors = batch.to("cpu")
    assert tensors.observations.data_ptr() == batch.observations.ctypes.data


def broken(**changes):
    observations, actions, rewards = episode_of(0, 4, False)
    return {"observations": observations, "actions": actions, "rewards": rewards, **changes}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"observations": np.zeros((4, 2))},
            r"observations have the shape \(4, 2\), but 4 steps need \(5, 2\)",
        ),
        ({"actions": np.zeros((4, 3))}, r"actions have the shape \(4, 3\), but 4 steps need \(4, 2\)"),
        ({"rewards": np.zeros((4, 1))}, r"rewards have the shape \(4, 1\), but 4 steps need \(4,\)"),
        ({"rewards": [0, 0, np.nan, 0]}, "reward of transition 2 is nan"),
        ({"observations": np.zeros((5, 2), complex)}, "observations are complex128, .* keeps float32"),
    ],
)
def test_a_wrong_episode_is_refused_and_nothing_is_kept(changes, words):
    replay = Replay(9, (2,), "float32", action_dim=2)
    with pytest.raises(ValueError, match=words):
        replay.add(**broken(**changes), terminated=False)
    assert replay.num_transitions == replay.num_episodes == 0


def test_an_episode_longer_than_the_replay_is_refused_before_anything_is_evicted():
    replay = filled([5], 9)
    with pytest.raises(ValueError, match="has 10 steps, but the replay has room for 9; give it a capacity"):
        replay.add(*episode_of(1, 10, False), terminated=False)
    assert replay.num_transitions == 5


def test_other_errors_say_what_to_do():
    replay = Replay(9, (2,), "float32", action_dim=2)
    with pytest.raises(ValueError, match="replay is empty"):
        replay.sample(np.random.default_rng(0), 1, 1, 0.9)
    with pytest.raises(ValueError, match="has no steps"):
        replay.add(np.zeros((1, 2)), np.zeros((0, 2)), np.zeros(0), terminated=False)
    replay.add(*episode_of(0, 4, False), terminated=False)
    with pytest.raises(ValueError, match=r"shape \(3,\), but 4 transitions are kept"):
        replay.set_rewards(np.zeros(3))
    with pytest.raises(ValueError, match="reward of transition 1 is inf"):
        replay.set_rewards([0, np.inf, 0, 0])
    with pytest.raises(ValueError, match="it must be 'gamma\\^n' or 'gamma'"):
        replay.sample(np.random.default_rng(0), 1, 1, 0.9, "n")
    with pytest.raises(ValueError, match="capacity is 0"):
        Replay(0, (2,), "float32", action_dim=2)
