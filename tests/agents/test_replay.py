"""The replay loses nothing, mixes nothing and makes nothing up."""

import numpy as np
import pytest
from agents.counting import SIDE, episode_of, guide_of, naive_transition, reward_of, seen
from hypothesis import given, settings
from hypothesis import strategies as st

from orcalign.agents import Replay


def filled(lengths, capacity, *, images=False, stack=1, terminated=None, guide_dim=0):
    shape, dtype = ((2, SIDE, SIDE), "uint8") if images else ((2,), "float32")
    replay = Replay(capacity, shape, dtype, action_dim=2, stack=stack, guide_dim=guide_dim)
    for number, steps in enumerate(lengths):
        end = bool(terminated and terminated[number])
        guide = guide_of(number, steps, guide_dim) if guide_dim else None
        replay.add(*episode_of(number, steps, images), terminated=end, guide=guide)
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
    drawn = check_every_row(replay, lengths, terminated, n_step=n_step, gamma=gamma, bootstrap=bootstrap, images=images)
    assert {number for number, _ in drawn} <= set(kept)


@settings(max_examples=30)
@given(episodes=episodes, capacity=st.integers(9, 40), n_step=st.integers(1, 4))
def test_relabelling_reaches_every_kept_transition_and_no_other(episodes, capacity, n_step):
    lengths, terminated = [steps for steps, _ in episodes], [end for _, end in episodes]
    replay = filled(lengths, capacity, terminated=terminated)
    first = replay.first_episode
    rewards = [episode_of(first + i, steps, False)[2] + 0.25 for i, steps in enumerate(replay.lengths)]
    replay.set_rewards(np.concatenate(rewards))
    check_every_row(replay, lengths, terminated, n_step=n_step, gamma=0.9, bootstrap="gamma^n", images=False, label=1)


@settings(max_examples=60)
@given(
    episodes=episodes,
    capacity=st.integers(9, 40),
    n_step=st.integers(1, 6),
    guide_dim=st.integers(1, 3),
    relabelled=st.booleans(),
)
def test_each_observation_comes_with_its_own_guide(episodes, capacity, n_step, guide_dim, relabelled):
    """And what is drawn is otherwise what is drawn without one."""
    lengths, terminated = [steps for steps, _ in episodes], [end for _, end in episodes]
    plain = filled(lengths, capacity, terminated=terminated)
    guided = filled(lengths, capacity, terminated=terminated, guide_dim=guide_dim)
    if relabelled:
        kept = range(guided.first_episode, guided.first_episode + guided.num_episodes)
        guided.set_guides(np.concatenate([guide_of(k, lengths[k], guide_dim, label=1) for k in kept]))
    without, batch = (replay.sample(np.random.default_rng(7), 80, n_step, 0.9) for replay in (plain, guided))
    for name in ("actions", "returns", "discounts"):
        np.testing.assert_array_equal(getattr(batch, name), getattr(without, name))
    for name in ("observations", "next_observations"):
        got, wanted = getattr(batch, name), getattr(without, name)
        assert got.dtype == np.float32
        np.testing.assert_array_equal(got[:, :2], wanted)
        guides = [guide_of(number, lengths[number], guide_dim, relabelled)[step] for number, step in wanted.astype(int)]
        np.testing.assert_array_equal(got[:, 2:], guides)


def test_a_guide_by_hand():
    """Two episodes of two steps and of one: the third and the last guide are those of final observations."""
    replay = Replay(3, (1,), "float32", action_dim=1, guide_dim=1)
    replay.add([[0], [1], [2]], [[0], [1]], [0, 0], terminated=False, guide=[[10], [11], [12]])
    replay.add([[3], [4]], [[3]], [0], terminated=False, guide=[[13], [14]])

    def pairs():
        batch = replay.sample(np.random.default_rng(0), 60, n_step=1, gamma=0.5)
        return {
            (*seen, *after)
            for seen, after in zip(batch.observations.tolist(), batch.next_observations.tolist(), strict=True)
        }

    assert pairs() == {(0, 10, 1, 11), (1, 11, 2, 12), (3, 13, 4, 14)}
    replay.set_guides([[20], [21], [22], [23], [24]])
    assert pairs() == {(0, 20, 1, 21), (1, 21, 2, 22), (3, 23, 4, 24)}


@pytest.mark.parametrize(
    ("guide", "words"),
    [
        (None, r"guide has the shape \(0,\), but 5 observations and a guide_dim of 3 need \(5, 3\)"),
        (np.zeros((4, 3)), r"shape \(4, 3\), but 5 observations .* need \(5, 3\)"),
        (np.zeros((5, 2)), r"shape \(5, 2\), but 5 observations .* need \(5, 3\)"),
        (np.diag([1, np.nan, 1, 1, 1])[:, :3], "guide of observation 1 is .*nan.*; it must be finite"),
    ],
    ids=["none", "one short", "too narrow", "no number"],
)
def test_a_wrong_guide_is_refused_and_nothing_changes(guide, words):
    replay = Replay(4, (2,), "float32", action_dim=2, guide_dim=3)
    episode = episode_of(0, 4, False)
    with pytest.raises(ValueError, match=words):
        replay.add(*episode, terminated=False, guide=guide)
    assert replay.num_transitions == replay.num_episodes == 0
    replay.add(*episode, terminated=False, guide=np.ones((5, 3)))
    with pytest.raises(ValueError, match=words):
        replay.set_guides(() if guide is None else guide)
    with pytest.raises(ValueError, match=words):
        # Nothing is evicted for it, either.
        replay.add(*episode, terminated=False, guide=guide)
    assert replay.first_episode == 0
    assert (replay.sample(np.random.default_rng(0), 9, 1, 0.9).observations[:, 2:] == 1).all()


def test_a_guide_is_for_states_alone():
    for shape, dtype, stack in (((2, 4, 4), "float32", 1), ((2,), "uint8", 1), ((2,), "float32", 3)):
        with pytest.raises(ValueError, match=r"guide_dim is 1, .* a guide needs float32 states \(D,\)"):
            Replay(9, shape, dtype, action_dim=1, stack=stack, guide_dim=1)
    with pytest.raises(ValueError, match="guide_dim is -1"):
        Replay(9, (2,), "float32", action_dim=1, guide_dim=-1)
    replay = Replay(9, (2,), "float32", action_dim=2)
    with pytest.raises(ValueError, match="a guide_dim of 0 need none"):
        replay.add(*episode_of(0, 4, False), terminated=False, guide=np.zeros((5, 0)))
    with pytest.raises(ValueError, match="a guide_dim of 0 need none"):
        replay.set_guides(np.zeros((0, 0)))


@settings(max_examples=60)
@given(before=episodes, after=episodes, capacity=st.integers(9, 40), images=st.booleans())
def test_what_was_forgotten_is_never_drawn_and_is_counted(before, after, capacity, images):
    lengths = [steps for steps, _ in before]
    replay = filled(lengths, capacity, images=images)
    replay.forget()
    assert (replay.num_transitions, replay.num_episodes, replay.first_episode) == (0, 0, len(before))
    assert replay.lengths.tolist() == []
    with pytest.raises(ValueError, match="replay is empty"):
        replay.sample(np.random.default_rng(0), 1, 1, 0.9)
    replay.set_rewards([])
    more, ends = [steps for steps, _ in after], [end for _, end in after]
    for number, (steps, end) in enumerate(after):
        replay.add(*episode_of(number, steps, images), terminated=end)
    kept = kept_episodes(more, capacity)
    assert replay.first_episode == len(before) + kept[0]
    drawn = check_every_row(replay, more, ends, n_step=2, gamma=0.9, bootstrap="gamma^n", images=images, draws=40)
    assert {number for number, _ in drawn} <= set(kept)


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
    check_every_row(replay, lengths, [False] * 97, n_step=2, gamma=0.9, bootstrap="gamma^n", images=False, draws=300)
    half = filled(lengths[:40], capacity=60)
    assert (half.first_episode, half.num_episodes) == (5, 35)
    check_every_row(half, lengths, [False] * 97, n_step=2, gamma=0.9, bootstrap="gamma^n", images=False, draws=300)


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
    with pytest.raises(ValueError, match="bootstrap is 'n'; Known: gamma\\^n, gamma"):
        replay.sample(np.random.default_rng(0), 1, 1, 0.9, "n")
    with pytest.raises(ValueError, match="capacity is 0"):
        Replay(0, (2,), "float32", action_dim=2)


@pytest.mark.parametrize("lengths", [[3], [2, 5, 1], [4, 4, 4, 4]])
def test_running_returns_are_those_of_a_loop_over_what_is_kept(lengths):
    """And follow new rewards; episodes that have left, and where the rings begin, do not count."""
    replay = filled(lengths, capacity=12)
    for label in (0, 1):
        rewards = [
            np.array([reward_of(number, step, label) for step in range(lengths[number])])
            for number in range(replay.first_episode, len(lengths))
        ]
        if label:
            replay.set_rewards(np.concatenate(rewards))
        found = []
        for one in rewards:
            now = 0.0
            for reward in one:
                now = reward + 0.9 * now
                found.append(now)
        deviation, most = replay.running_returns(0.9)
        assert deviation == pytest.approx(np.std(found), rel=1e-6)
        assert most == pytest.approx(max(found))


def test_of_nothing_there_are_no_returns():
    assert filled([], capacity=3).running_returns(0.9) == (0, 0)
