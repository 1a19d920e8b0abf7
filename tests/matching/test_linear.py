"""Threshold and the matchers that solve nothing, by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matching.cost_strategies import cost_matrices
from reference import matching as reference

from orcalign.matching import even, final_frame, nearest, segment, threshold

COST = np.array([[4.0, 1.0, 2.0, 8.0], [0.0, 5.0, 6.0, 1.0]])


def test_by_hand():
    assert final_frame(COST).reward.tolist() == [-8, -1]
    assert even(COST).reward.tolist() == [-15 / 4, -3]
    assert nearest(COST).assignment.tolist() == [[0, 1, 0, 0], [1, 0, 0, 0]]
    # Frame 0 has the first half of the demo, frame 1 the second.
    assert segment(COST).assignment.tolist() == [[0, 1, 0, 0], [0, 0, 0, 1]]


def test_segment_with_more_learner_frames():
    # Seven frames on three: shares of 7/3, so frames 2 and 4 touch two of them.
    cost = np.tile([[1.0, 2.0, 3.0]], (7, 1))
    assert segment(cost).assignment.argmax(axis=1).tolist() == [0, 0, 0, 1, 1, 2, 2]


@given(cost_matrices(max_side=15), st.sampled_from([final_frame, even, nearest, segment]))
def test_rows_sum_to_one_and_pay_their_cost(cost, method):
    match = method(cost)
    np.testing.assert_allclose(match.assignment.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(match.reward, -(match.assignment * cost).sum(axis=1), rtol=1e-12, atol=1e-300)
    assert (match.reward <= nearest(cost).reward + 1e-12).all()


@given(cost_matrices(max_side=15, highest=0.5), st.floats(0.05, 0.95))
def test_threshold_against_the_loop(cost, level):
    match = threshold(cost, level)
    np.testing.assert_allclose(match.reward, reference.threshold(cost, level), rtol=1e-13)
    assert (np.diff(match.subgoal) >= 0).all()
    assert (match.assignment.argmax(axis=1) == match.subgoal).all()


def test_threshold_floor_and_temperature():
    cost = np.array([[0.1, 0.9], [0.9, 0.1]])
    assert threshold(cost, 0.9).subgoal.tolist() == [0, 1]
    assert threshold(cost, 0.95).subgoal.tolist() == [0, 0]
    assert threshold(cost, 0.95, floor=0.1).subgoal.tolist() == [0, 1]
    assert threshold(cost, 0.9, temperature=0.1).subgoal.tolist() == [0, 0]


@pytest.mark.parametrize("level", [0, 1, 1.5, -0.1, np.nan])
def test_threshold_out_of_range(level):
    with pytest.raises(ValueError, match="threshold is"):
        threshold(COST, level)
