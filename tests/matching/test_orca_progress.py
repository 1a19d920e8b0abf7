"""`orca_progress`: by hand, against the naive loop, its bounds and sums, its stream."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matching.cost_strategies import cost_matrices
from reference import matching as reference

from orcalign.matching import OrcaProgressTracker, OrcaTracker, along_path, euclidean, orca, orca_progress

weights = st.floats(0, 30)


def naive(cost, temperature, floor, weight):
    reward, _, phi = reference.orca(cost, temperature, floor)
    return np.array([reward[t] + weight * (phi[t] - (phi[t - 1] if t > 0 else 0.0)) for t in range(len(phi))])


def test_by_hand():
    # P = 2^-cost, as in the test of orca: phi = 5/8, 3/4, 1 and orca's reward = 1/32, 1/8, 1/2.
    cost = np.array([[0.0, 2.0, 3.0], [1.0, 1.0, 2.0], [0.0, 0.0, 1.0]])
    match = orca_progress(cost, temperature=1 / np.log(2), weight=8.0)
    np.testing.assert_allclose(match.reward, [5 + 1 / 32, 1 + 1 / 8, 2 + 1 / 2], rtol=1e-14)
    np.testing.assert_allclose(match.progress, [5 / 8, 3 / 4, 1], rtol=1e-14)
    np.testing.assert_allclose(match.orca_reward, [1 / 32, 1 / 8, 1 / 2], rtol=1e-14)


def test_one_frame_and_one_demo_frame():
    cost = np.array([[1.0], [0.0], [2.0]])
    one, two, three = np.exp([-1.0, 0.0, -2.0])
    np.testing.assert_allclose(
        orca_progress(cost, weight=2.0).reward, [3 * one, two + 2 * (1 - one), three], rtol=1e-14
    )
    assert orca_progress([[0.0, 0.0]]).reward.tolist() == [11.0]


@settings(max_examples=150)
@given(cost_matrices(max_side=30), st.floats(0.05, 10), st.floats(0, 2), weights)
def test_against_the_naive_loop(cost, temperature, floor, weight):
    match = orca_progress(cost, temperature, floor, weight)
    expected = naive(cost, temperature, floor, weight)
    np.testing.assert_allclose(match.reward, expected, rtol=1e-10, atol=1e-12)
    plain = orca(cost, temperature, floor)
    for name, other in (("assignment", "assignment"), ("progress", "progress"), ("orca_reward", "reward")):
        np.testing.assert_array_equal(getattr(match, name), getattr(plain, other))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_batch_of_unequal_lengths_is_its_episodes(dtype):
    rng = np.random.default_rng(0)
    cost, lengths = rng.random((9, 14, 10)).astype(dtype), rng.integers(1, 15, 9)
    batch = orca_progress(cost, 0.3, lengths=lengths)
    assert batch.reward.dtype == batch.orca_reward.dtype == dtype
    for b, length in enumerate(lengths):
        one = orca_progress(cost[b, :length], 0.3)
        np.testing.assert_array_equal(batch.reward[b, :length], one.reward)
        assert not batch.reward[b, length:].any()


@given(cost_matrices(max_side=40), st.floats(0.01, 10), st.floats(0, 1), weights)
def test_bounds_and_sums(cost, temperature, floor, weight):
    tiny = 1e-12 * (1 + weight)
    match = orca_progress(cost, temperature, floor, weight)
    assert (match.reward >= match.orca_reward).all()
    assert (match.reward <= weight + 1 + tiny).all()
    assert (match.reward - match.orca_reward).sum() == pytest.approx(weight * match.progress[-1], abs=tiny)


@given(cost_matrices(max_side=30), st.data())
def test_prefix_causality(cost, data):
    t = data.draw(st.integers(1, len(cost)))
    np.testing.assert_array_equal(orca_progress(cost).reward[:t], orca_progress(cost[:t]).reward)


@settings(max_examples=60)
@given(cost_matrices(max_side=40), st.floats(0.05, 5), st.floats(0, 0.5), weights)
def test_tracker_is_bit_for_bit_the_same(cost, temperature, floor, weight):
    rest = (temperature, floor, weight)
    whole = orca_progress(cost, *rest)
    tracker = OrcaProgressTracker(cost.shape[1], *rest)
    for t, row in enumerate(cost):
        assert tracker.push(row) == whole.reward[t]
        np.testing.assert_array_equal(tracker.coverage, whole.assignment[t])
        assert tracker.progress == whole.progress[t]
    assert (tracker.frames_seen, tracker.num_frames) == cost.shape


def test_tracker_reset_copy_and_refusal():
    rows = np.random.default_rng(1).random((5, 7))
    tracker = OrcaProgressTracker(7, weight=3.0)
    first = [tracker.push(row) for row in rows]
    with pytest.raises(ValueError, match=r"cost_row\[0\] is nan"):
        tracker.push(np.full(7, np.nan))
    other = tracker.copy()
    assert other.push(rows[0]) == tracker.push(rows[0])
    other.push(np.zeros(7))
    assert tracker.progress < other.progress == 1.0
    tracker.reset()
    assert (tracker.frames_seen, tracker.progress) == (0, 0)
    assert [tracker.push(row) for row in rows] == first
    with pytest.raises(ValueError, match="weight is -1"):
        OrcaProgressTracker(7, weight=-1)
    assert OrcaProgressTracker(2, weight=0.0).push([0.5, 0.5]) == OrcaTracker(2).push([0.5, 0.5])


edges = st.sampled_from([0.0, 1e-300, 1e-9, 1.0, 2.0, 700.0, 1e6, 1e300])


@settings(max_examples=150)
@given(st.integers(1, 6), st.integers(1, 9), st.data(), st.sampled_from([np.float32, np.float64]))
def test_never_anything_but_a_bounded_number(T, J, data, dtype):
    """Constant costs, costs of any size, J of 1 and 2, T shorter than J, the strictest temperatures."""
    value = edges if dtype == np.float64 else edges.filter(lambda x: x < 1e38)
    values = data.draw(st.lists(value, min_size=T * J, max_size=T * J) | value.map(lambda x: [x] * (T * J)))
    cost = np.array(values, dtype).reshape(T, J)
    temperature = data.draw(st.sampled_from([1e-9, 0.01, 1.0, 1e9]))
    match = orca_progress(cost, temperature, data.draw(st.sampled_from([0.0, 0.1, 1e6])), 10.0)
    assert np.isfinite(match.reward).all()
    assert (np.abs(match.reward) <= 11.001).all()
    assert (match.progress >= 0).all()
    assert (match.progress <= 1).all()


def test_worth_by_hand():
    # P = 2^-cost as above: C = (1, 1/4, 1/32), (1, 1/2, 1/8), (1, 1, 1/2); shares 1/2, 1/4, 1/4.
    cost = np.array([[0.0, 2.0, 3.0], [1.0, 1.0, 2.0], [0.0, 0.0, 1.0]])
    match = orca_progress(cost, temperature=1 / np.log(2), weight=8.0, worth=[2, 1, 1])
    phi = np.array([1 / 2 + 1 / 16 + 1 / 128, 1 / 2 + 1 / 8 + 1 / 32, 1 / 2 + 1 / 4 + 1 / 8])
    np.testing.assert_allclose(match.progress, phi, rtol=1e-14)
    np.testing.assert_allclose(match.reward, match.orca_reward + 8 * np.diff(phi, prepend=0), rtol=1e-13)


@settings(max_examples=100)
@given(cost_matrices(max_side=20), st.floats(0.05, 10), st.data())
def test_worth_against_the_naive_sum_and_the_stream(cost, temperature, data):
    J = cost.shape[1]
    worth = data.draw(st.lists(st.floats(0, 5), min_size=J, max_size=J).filter(lambda w: sum(w) > 1e-3))
    terms = {"temperature": temperature, "worth": worth}
    match = orca_progress(cost, **terms)
    C = reference.orca(cost, temperature, 0.0)[1]
    np.testing.assert_allclose(match.progress, (C * np.array(worth)).sum(1) / sum(worth), rtol=1e-9, atol=1e-12)
    assert (np.diff(match.progress, prepend=0) >= 0).all()
    assert match.progress[-1] <= 1
    batch = orca_progress(cost[None].repeat(2, axis=0), **terms)
    np.testing.assert_array_equal(batch.reward, match.reward[None].repeat(2, axis=0))
    tracker = OrcaProgressTracker(J, **terms)
    assert [tracker.push(row) for row in cost] == match.reward.tolist()
    assert tracker.copy().progress == tracker.progress == match.progress[-1]


def test_a_worth_for_all_frames_but_the_last_is_no_worth():
    cost = np.random.default_rng(1).random((9, 5))
    np.testing.assert_allclose(
        orca_progress(cost, 0.3, worth=[1, 1, 1, 1, 0]).reward, orca_progress(cost, 0.3).reward, rtol=1e-12
    )


@pytest.mark.parametrize(
    ("worth", "sentence"),
    [
        ([1, 2], r"worth has shape \(2,\); it must hold one number for each of the 3 demo frames"),
        ([1, -1, 2], "finite, not negative"),
        ([0, 0, 0], "not 0 everywhere"),
        ([1, np.inf, 0], "finite"),
    ],
)
def test_a_bad_worth_is_refused(worth, sentence):
    for call in (
        lambda: orca_progress(np.zeros((2, 3)), worth=worth),
        lambda: OrcaProgressTracker(3, worth=worth),
    ):
        with pytest.raises(ValueError, match=sentence):
            call()


def test_a_last_frame_of_its_own_by_hand():
    # Others: P = 2^-(cost - 1), at least 0; the last: 2^-(2 cost), so 1/4 at a cost of 1 and 1/16 at 2.
    cost = np.array([[1.0, 2.0, 9.0], [3.0, 1.0, 2.0], [3.0, 3.0, 1.0]])
    match = orca_progress(cost, temperature=1 / np.log(2), floor=1.0, weight=8.0, last=0.5)
    np.testing.assert_allclose(match.orca_reward, [2**-19, 1 / 16, 1 / 4], rtol=1e-12)
    np.testing.assert_allclose(match.reward, [6 + 2**-19, 2 + 1 / 16, 1 / 4], rtol=1e-12)
    np.testing.assert_allclose(match.assignment[:, -1], [2**-19, 1 / 16, 1 / 4], rtol=1e-12)


@settings(max_examples=100)
@given(cost_matrices(max_side=20), st.floats(0.05, 10), st.floats(0, 2), st.floats(0.1, 3), st.data())
def test_a_last_frame_of_its_own_against_the_product_and_the_stream(cost, temperature, floor, last, data):
    terms = {"temperature": temperature, "floor": floor, "last": last}
    match, alike = orca_progress(cost, **terms), orca_progress(cost, temperature, floor)
    before = alike.assignment[:, -2] if cost.shape[1] > 1 else 1.0
    # ORCA's reward is C[t, J-1] P[t, J], and nothing but the P of the last frame has changed.
    np.testing.assert_allclose(
        match.orca_reward, before * np.exp(-cost[:, -1] / (last * temperature)), rtol=1e-6, atol=1e-12
    )
    np.testing.assert_array_equal(match.assignment[:, :-1], alike.assignment[:, :-1])
    tracker = OrcaProgressTracker(cost.shape[1], **terms)
    half = data.draw(st.integers(0, len(cost)))
    paid = [tracker.push(row) for row in cost[:half]]
    other = tracker.copy()
    assert paid + [other.push(row) for row in cost[half:]] == match.reward.tolist()


@pytest.mark.parametrize("bad", [-0.1, np.nan, np.inf])
def test_a_last_frame_of_its_own_hides_no_bad_cost(bad):
    cost = np.array([[0.0, 1.0], [1.0, bad]])
    with pytest.raises(ValueError, match=r"cost\[1, 1\] is"):
        orca_progress(cost, floor=0.5, last=0.5)
    with pytest.raises(ValueError, match=r"cost_row\[1\] is"):
        OrcaProgressTracker(2, floor=0.5, last=0.5).push(cost[1])
    assert np.isfinite(orca_progress(np.full((2, 2), 1e308), last=1e-3).reward).all()


@pytest.mark.parametrize("last", [0, -1, np.nan])
def test_a_bad_share_for_the_last_frame_is_refused(last):
    for call in (
        lambda: orca_progress(np.zeros((2, 3)), last=last),
        lambda: OrcaProgressTracker(3, last=last),
    ):
        with pytest.raises(ValueError, match=r"last is .*; it must be"):
            call()


@settings(max_examples=50)
@given(st.integers(2, 12), st.integers(0, 2**32 - 1), st.data())
def test_along_path_pauses_are_worth_nothing(J, seed, data):
    frames = np.random.default_rng(seed).random((J, 6))
    times = data.draw(st.lists(st.integers(1, 4), min_size=J, max_size=J))
    slow = frames.repeat(times, axis=0)
    worth, longer = (along_path(euclidean(one, one)) for one in (frames, slow))
    first = np.cumsum([0, *times[:-1]])
    np.testing.assert_allclose(longer[first], worth, atol=1e-6)
    assert longer.sum() == pytest.approx(1)
    assert worth[0] == 0
    assert np.delete(longer, first).sum() == pytest.approx(0, abs=1e-6)


def test_along_path_of_frames_that_are_all_the_same():
    assert along_path(np.zeros((4, 4))).tolist() == [0.25] * 4
    assert along_path([[0.0]]).tolist() == [1.0]
