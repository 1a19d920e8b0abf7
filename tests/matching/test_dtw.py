"""DTW and soft DTW."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matching.cost_strategies import cost_matrices
from reference import matching as reference

from orcalign.matching import dtw, soft_dtw


def test_by_hand():
    cost = np.array([[1.0, 5.0, 9.0], [2.0, 1.0, 3.0], [9.0, 4.0, 1.0]])
    match = dtw(cost)
    assert match.path.tolist() == [[0, 0], [1, 1], [2, 2]]
    assert match.total_cost == 3
    assert match.reward.tolist() == [-1, -1, -1]


def test_a_frame_matched_twice():
    cost = np.array([[1.0, 3.0]])
    assert dtw(cost).reward.tolist() == [-4]
    assert dtw(cost, normalise_rows=True).reward.tolist() == [-2]
    assert dtw(cost, normalise_rows=True).assignment.tolist() == [[0.5, 0.5]]


@settings(max_examples=200)
@given(cost_matrices(max_side=40))
def test_path_is_a_cheapest_path(cost):
    match = dtw(cost)
    t, j = match.path.T
    assert (t[0], j[0]) == (0, 0)
    assert (t[-1], j[-1]) == (cost.shape[0] - 1, cost.shape[1] - 1)
    steps = set(map(tuple, np.diff(match.path, axis=0).tolist()))
    assert steps <= {(1, 1), (1, 0), (0, 1)}
    assert match.total_cost == pytest.approx(reference.dtw_total(cost), rel=1e-12, abs=1e-12)
    assert cost[t, j].sum() == pytest.approx(float(match.total_cost), rel=1e-12, abs=1e-12)
    assert -match.reward.sum() == pytest.approx(float(match.total_cost), rel=1e-12, abs=1e-12)
    assert match.assignment.sum() == len(match.path)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 30), st.integers(1, 30), st.integers(0, 2**32 - 1))
def test_against_tslearn(T, J, seed):
    from tslearn.metrics import dtw_path_from_metric

    cost = np.random.default_rng(seed).random((T, J))
    path, total = dtw_path_from_metric(cost, metric="precomputed")
    match = dtw(cost)
    assert match.total_cost == pytest.approx(total, rel=1e-12)
    assert match.path.tolist() == [list(pair) for pair in path]


@settings(max_examples=40, deadline=None)
@given(cost_matrices(max_side=5), st.sampled_from([0.05, 0.5, 3.0]))
def test_soft_dtw_by_counting_all_paths(cost, gamma):
    match = soft_dtw(cost, gamma)
    value, assignment = reference.soft_dtw(cost, gamma)
    assert match.value == pytest.approx(value, rel=1e-10, abs=1e-10)
    np.testing.assert_allclose(match.assignment, assignment, atol=1e-10)
    np.testing.assert_allclose(match.reward, -(assignment * cost).sum(axis=1), atol=1e-9)


@settings(deadline=None)
@given(cost_matrices(max_side=20), st.floats(0.01, 5))
def test_soft_dtw_starts_and_ends_where_dtw_does_and_is_no_dearer(cost, gamma):
    match = soft_dtw(cost, gamma)
    assert match.assignment[0, 0] == pytest.approx(1)
    assert match.assignment[-1, -1] == pytest.approx(1)
    assert (match.assignment <= 1 + 1e-9).all()
    assert match.value <= dtw(cost).total_cost + 1e-9


def test_soft_dtw_becomes_dtw():
    cost = np.random.default_rng(0).random((12, 9))
    np.testing.assert_allclose(soft_dtw(cost, 1e-4).assignment, dtw(cost).assignment, atol=1e-6)
