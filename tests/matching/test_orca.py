"""ORCA: by hand, against the naive loop, by brute force, and its properties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matching.cost_strategies import cost_matrices
from reference import matching as reference

from orcalign.matching import OrcaTracker, orca, orca_log, orca_progress


def test_by_hand():
    # P = 2^-cost: temperature 1/ln 2 makes every number a power of two.
    cost = np.array([[0.0, 2.0, 3.0], [1.0, 1.0, 2.0], [0.0, 0.0, 1.0]])
    match = orca(cost, temperature=1 / np.log(2))
    # t=0: C = 1, 1*1/4, 1/4*1/8;  t=1: max(1, 1/2), max(1/4, 1*1/2), max(1/32, 1/2*1/4)
    # t=2: 1, max(1/2, 1*1), max(1/8, 1*1/2)
    expected = [[1, 1 / 4, 1 / 32], [1, 1 / 2, 1 / 8], [1, 1, 1 / 2]]
    np.testing.assert_allclose(match.assignment, expected, rtol=1e-15)
    np.testing.assert_allclose(match.reward, [1 / 32, 1 / 8, 1 / 2], rtol=1e-15)
    np.testing.assert_allclose(match.progress, [5 / 8, 3 / 4, 1], rtol=1e-15)


def test_reward_falls_when_the_last_frame_is_left_but_coverage_stays():
    match = orca(np.array([[0.0, 0.0], [5.0, 5.0]]))
    assert match.reward[1] == pytest.approx(np.exp(-5))
    assert match.assignment[1].tolist() == [1.0, 1.0]


def test_one_demo_frame():
    match = orca(np.array([[1.0], [0.0], [2.0]]))
    np.testing.assert_allclose(match.reward, np.exp([-1, 0, -2]), rtol=1e-15)
    np.testing.assert_allclose(match.progress, [np.exp(-1), 1, 1], rtol=1e-15)


def test_floor_is_what_counts_as_occupied():
    cost = np.array([[0.05, 0.2], [0.3, 0.1]])
    np.testing.assert_allclose(orca(cost, 0.1, floor=0.1).reward, [np.exp(-1), 1.0], rtol=1e-15)


@settings(max_examples=150)
@given(cost_matrices(max_side=40), st.floats(0.05, 10), st.floats(0, 2))
def test_against_the_naive_loop(cost, temperature, floor):
    match = orca(cost, temperature, floor)
    reward, coverage, progress = reference.orca(cost, temperature, floor)
    np.testing.assert_allclose(match.reward, reward, rtol=1e-12, atol=1e-250)
    np.testing.assert_allclose(match.assignment, coverage, rtol=1e-12, atol=1e-250)
    np.testing.assert_allclose(match.progress, progress, rtol=1e-12)


@given(cost_matrices(max_side=5))
def test_coverage_is_the_best_alignment(cost):
    C = orca(cost).assignment
    P = reference.occupancy(cost)
    for t, j in np.ndindex(cost.shape):
        assert C[t, j] == pytest.approx(reference.best_alignment(P, t, j), rel=1e-12)


@given(cost_matrices(max_side=30))
def test_lemma(cost):
    """Lemma A.1: C[t, j] = max over i <= t of C[i, j-1] P[i, j]."""
    C, P = orca(cost).assignment, np.exp(-cost)
    for j in range(1, cost.shape[1]):
        best = np.maximum.accumulate(C[:, j - 1] * P[:, j])
        np.testing.assert_allclose(C[:, j], best, rtol=1e-14)


@given(cost_matrices(max_side=40), st.floats(0.01, 10), st.floats(0, 1))
def test_bounds_and_monotony(cost, temperature, floor):
    match = orca(cost, temperature, floor)
    for values in (match.reward, match.assignment, match.progress):
        assert (values >= 0).all()
        assert (values <= 1).all()
    assert (np.diff(match.assignment, axis=0) >= 0).all()
    assert (np.diff(match.assignment, axis=1) <= 0).all()
    assert (np.diff(match.progress) >= 0).all()


@given(cost_matrices(max_side=30), st.data())
def test_prefix_causality(cost, data):
    t = data.draw(st.integers(1, len(cost)))
    whole, part = orca(cost), orca(cost[:t])
    for name in ("reward", "assignment", "progress"):
        np.testing.assert_array_equal(getattr(whole, name)[:t], getattr(part, name))


@given(cost_matrices(max_side=20), st.data())
def test_a_lower_cost_lowers_nothing(cost, data):
    t, j = data.draw(st.integers(0, cost.shape[0] - 1)), data.draw(st.integers(0, cost.shape[1] - 1))
    cheaper = cost.copy()
    cheaper[t, j] *= data.draw(st.floats(0, 1))
    before, after = orca(cost), orca(cheaper)
    # 1e-15: the kernel's exponential may swap neighbouring results by a rounding.
    assert (after.reward >= before.reward * (1 - 1e-15)).all()
    assert (after.assignment >= before.assignment * (1 - 1e-15)).all()


@given(cost_matrices(max_side=25, dtype=np.float32))
def test_single_precision(cost):
    single, double = orca(cost), orca(cost.astype(np.float64))
    assert single.reward.dtype == single.assignment.dtype == single.progress.dtype == np.float32
    np.testing.assert_allclose(single.assignment, double.assignment, rtol=1e-4, atol=1e-30)
    np.testing.assert_allclose(single.reward, double.reward, rtol=1e-4, atol=1e-30)


@settings(max_examples=60)
@given(cost_matrices(max_side=40), st.floats(0.05, 5), st.floats(0, 0.5))
def test_tracker_is_bit_for_bit_the_same(cost, temperature, floor):
    whole = orca(cost, temperature, floor)
    tracker = OrcaTracker(cost.shape[1], temperature, floor)
    for t, row in enumerate(cost):
        assert tracker.push(row) == whole.reward[t]
        np.testing.assert_array_equal(tracker.coverage, whole.assignment[t])
        assert tracker.progress == whole.progress[t]
    assert tracker.frames_seen == len(cost)


def test_tracker_reset_and_copy():
    rng = np.random.default_rng(1)
    rows = rng.random((5, 7))
    tracker = OrcaTracker(7)
    first = [tracker.push(row) for row in rows]
    other = tracker.copy()
    assert other.push(rows[0]) == tracker.push(rows[0])
    other.push(np.zeros(7))
    assert tracker.progress < other.progress == 1.0
    tracker.reset()
    assert tracker.frames_seen == 0
    assert tracker.progress == 0
    assert not tracker.coverage.any()
    assert [tracker.push(row) for row in rows] == first


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([0.0, np.nan], r"cost_row\[1\] is nan"),
        ([0.0, -1.0], r"cost_row\[1\] is -1.0"),
        ([np.inf, 0.0], r"cost_row\[0\] is inf"),
        ([0.0], r"shape \(1,\)"),
        (0.0, r"shape \(\)"),
        ([[0.0, 0.0]], r"shape \(1, 2\)"),
        (["a", "b"], "dtype"),
        ([1j, 1j], "dtype"),
    ],
)
def test_tracker_refuses_a_bad_row_and_is_as_before(row, message):
    tracker = OrcaTracker(2)
    tracker.push([0.5, 0.5])
    before = tracker.coverage
    with pytest.raises(ValueError, match=message):
        tracker.push(row)
    np.testing.assert_array_equal(tracker.coverage, before)
    assert tracker.frames_seen == 1


def test_tracker_takes_single_precision_and_integers():
    tracker = OrcaTracker(2)
    assert tracker.push(np.zeros(2, np.float32)) == 1.0
    assert tracker.push([0, 0]) == 1.0


@given(cost_matrices(max_side=20), st.floats(0.2, 5), st.floats(0, 1))
def test_log_domain_is_the_same_where_both_work(cost, temperature, floor):
    plain, logs = orca(cost, temperature, floor), orca_log(cost, temperature, floor)
    J = cost.shape[1]
    np.testing.assert_allclose(np.exp(logs.log_coverage), plain.assignment, rtol=1e-11)
    np.testing.assert_allclose(np.exp(logs.log_reward), plain.reward, rtol=1e-11)
    np.testing.assert_allclose(logs.reward, plain.reward ** (1 / J), rtol=1e-11)
    np.testing.assert_allclose(logs.assignment, plain.assignment ** (1 / J), rtol=1e-11)


def test_log_domain_tells_long_demos_apart_where_the_product_is_zero():
    near, far = np.full((10, 5000), 0.5), np.full((10, 5000), 0.6)
    assert orca(near).reward.max() < 1e-300
    assert orca_log(near).reward[-1] == pytest.approx(np.exp(-0.5))
    assert orca_log(far).reward[-1] == pytest.approx(np.exp(-0.6))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("highest", [0.4, 2.0, 30.0])
def test_no_value_is_subnormal(dtype, highest):
    """Over many hundred frames coverage fades: into 0, not into numbers with which many CPUs are slow."""
    tiny = np.finfo(dtype).tiny
    scale = 1 if dtype is np.float32 else 8
    cost = (scale * np.random.default_rng(0).uniform(0, highest, (500, 700))).astype(dtype)
    worth = np.linspace(0, 1, 700) ** 9
    matches = orca(cost), orca_progress(cost, worth=worth), orca(cost[:, :1]), orca(cost[:, ::-1])
    values = [array for match in matches for array in (match.assignment, match.progress)]
    for array in (*values, matches[0].reward, matches[2].reward, matches[3].reward, matches[1].orca_reward):
        assert ((array == 0) | (array >= tiny)).all()
    assert (matches[0].assignment == 0).any()
    # And nothing between a first row that is nearly nothing and the next ones is lost or kept that should not be.
    exact = orca_log(cost).log_coverage
    known = exact > np.log(tiny) + 1e-2
    np.testing.assert_array_equal(matches[0].assignment[exact < np.log(tiny) - 1e-2], 0)
    np.testing.assert_allclose(np.log(matches[0].assignment[known]), exact[known], rtol=1e-4)
