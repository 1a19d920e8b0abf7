"""Bottleneck ORCA: a plain loop, all alignments, properties, the paper's two propositions, and the stream."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from matching.test_propositions import coverage_cases, inserted_cases, ordering_cases
from reference import matching as reference

from orcalign.matching import BottleneckTracker, bottleneck, orca, orca_log
from orcalign.matching.counterexamples import COUNTEREXAMPLES


def costs(largest=8):
    shapes = st.tuples(st.integers(1, largest), st.integers(1, largest))
    return shapes.flatmap(
        lambda shape: st.lists(
            st.lists(st.floats(0, 5, width=32), min_size=shape[1], max_size=shape[1]),
            min_size=shape[0],
            max_size=shape[0],
        ).map(np.array)
    )


def test_a_table_by_hand():
    cost = np.array(
        [
            [0.1, 2.0, 3.0],  # 0.1 | 2.0 | 3.0
            [0.5, 0.3, 2.0],  # stays 0.1 | 0.3 | 2.0
            [0.0, 0.9, 0.2],  # 0.0 | stays 0.3 | 0.3
            [1.0, 0.1, 4.0],  # stays | 0.1 | stays 0.3, although the last frame is far now
        ]
    )
    match = bottleneck(cost, temperature=0.5)
    expected = [[0.1, 2.0, 3.0], [0.1, 0.3, 2.0], [0.0, 0.3, 0.3], [0.0, 0.1, 0.3]]
    np.testing.assert_allclose(match.worst, expected, rtol=1e-15)
    np.testing.assert_allclose(match.reward, np.exp(-np.array([3.0, 2.0, 0.3, 4.0]) / 0.5), rtol=1e-14)
    np.testing.assert_allclose(match.assignment, np.exp(-np.array(expected) / 0.5), rtol=1e-14)


@settings(max_examples=100)
@given(costs(), st.sampled_from([0.1, 1.0]), st.sampled_from([0.0, 0.7]))
def test_it_is_the_plain_loop(cost, temperature, floor):
    match = bottleneck(cost, temperature, floor)
    reward, coverage, progress, worst = reference.bottleneck(cost, temperature, floor)
    np.testing.assert_array_equal(match.worst, worst)
    np.testing.assert_allclose(match.reward, reward, rtol=1e-13, atol=1e-300)
    np.testing.assert_allclose(match.assignment, coverage, rtol=1e-13, atol=1e-300)
    np.testing.assert_allclose(match.progress, progress, rtol=1e-13, atol=1e-300)


@settings(max_examples=50)
@given(costs(5))
def test_it_is_the_best_of_all_alignments(cost):
    worst = bottleneck(cost).worst
    for t, j in np.ndindex(*cost.shape):
        assert worst[t, j] == reference.worst_of_best_alignment(cost, t, j)


@settings(max_examples=100)
@given(costs())
def test_between_orca_and_its_root(cost):
    product, root, worst = orca(cost).assignment, orca_log(cost).assignment, bottleneck(cost).assignment
    assert (product <= worst * (1 + 1e-12)).all()
    # The worst of several factors is never above their geometric mean; `orca_log` has it for the last frame.
    assert (worst[:, -1] <= root[:, -1] * (1 + 1e-12)).all()


@settings(max_examples=60)
@given(costs(), st.data())
def test_repeated_frames_change_nothing(cost, data):
    T, J = cost.shape
    rows = np.sort(data.draw(st.lists(st.integers(0, T - 1), max_size=5)) + list(range(T))).astype(int)
    columns = np.sort(data.draw(st.lists(st.integers(0, J - 2), max_size=5) if J > 1 else st.just([])) + list(range(J)))
    plain, paused = bottleneck(cost), bottleneck(cost[rows][:, columns.astype(int)])
    assert paused.worst[-1, -1] == plain.worst[-1, -1]
    assert paused.reward[-1] == plain.reward[-1]


@settings(max_examples=60)
@given(costs(), st.data())
def test_a_lower_cost_never_hurts(cost, data):
    place = data.draw(st.integers(0, cost.shape[0] - 1)), data.draw(st.integers(0, cost.shape[1] - 1))
    better = cost.copy()
    better[place] *= 0.5
    assert (bottleneck(better).worst <= bottleneck(cost).worst).all()
    assert (bottleneck(better).reward >= bottleneck(cost).reward).all()


def match(trajectory, demo):
    return bottleneck(np.abs(np.subtract.outer(np.array(trajectory), np.array(demo))))


@settings(max_examples=300)
@given(ordering_cases())
def test_proposition_on_order(case):
    demo, j, good, bad = case
    plus, minus = match(good, demo), match(bad, demo)
    t = len(good) - 1
    assume(plus.assignment[t, j - 1] > minus.assignment[t, j - 1])
    assert plus.assignment[t, j] > minus.assignment[t, j]
    if j == len(demo) - 1:
        assert plus.reward[t] > minus.reward[t]


@settings(max_examples=300)
@given(inserted_cases())
def test_a_visit_more_never_lowers_the_reward(case):
    demo, j, good, bad = case
    plus, minus = match(good, demo), match(bad, demo)
    assert plus.reward[-1] >= minus.reward[-1]
    assert plus.assignment[-1, j] >= minus.assignment[-1, j]


@settings(max_examples=300)
@given(coverage_cases())
def test_proposition_on_coverage(case):
    demo, j, good, bad = case
    plus, minus = match(good, demo), match(bad, demo)
    assume(plus.assignment[-1, j - 1] == minus.assignment[-1, j - 1])
    assert plus.assignment[-1, j] >= minus.assignment[-1, j]
    # Strictly where the way to j-1 was better than frame j: j is the worst moment, and it became better.
    strictly = minus.assignment[-1, j] < minus.assignment[-1, j - 1]
    assert (plus.assignment[-1, j] > minus.assignment[-1, j]) == strictly
    if j == len(demo) - 1:
        assert plus.reward[-1] >= minus.reward[-1]
        assert (plus.reward[-1] > minus.reward[-1]) or not minus.reward[-1] < minus.assignment[-1, j - 1]


def test_order_is_not_seen_behind_a_worse_moment():
    """Demo 0, 5, 9, 10: both miss frame 1 by 3; that one of them leaves out frame 2, by 1, is not seen."""
    demo, whole, short = [0.0, 5.0, 9.0, 10.0], [0.0, 2.0, 9.0, 10.0], [0.0, 2.0, 10.0]
    assert match(whole, demo).reward[-1] == match(short, demo).reward[-1]
    product = [orca(np.abs(np.subtract.outer(path, demo))).reward[-1] for path in (whole, short)]
    assert product[0] > product[1]


@pytest.mark.parametrize("name", COUNTEREXAMPLES)
def test_it_ranks_the_good_path_of_the_counterexamples_first(name):
    good, bad = (bottleneck(COUNTEREXAMPLES[name].cost(learner)).reward.sum() for learner in ("good", "bad"))
    assert good > 1.5 * bad


def test_the_stream_is_the_episode():
    cost = np.random.default_rng(0).random((30, 9))
    whole = bottleneck(cost, 0.2, 0.1)
    tracker = BottleneckTracker(9, 0.2, 0.1)
    rewards = [tracker.push(row) for row in cost]
    assert rewards == whole.reward.tolist()
    np.testing.assert_array_equal(tracker.worst, whole.worst[-1])
    np.testing.assert_array_equal(tracker.coverage, whole.assignment[-1])
    assert tracker.progress == whole.progress[-1]
    other = tracker.copy()
    other.push(np.zeros(9))
    assert tracker.frames_seen == 30
    with pytest.raises(ValueError, match=r"cost_row\[1\] is nan"):
        tracker.push([0.0, np.nan, *[0.0] * 7])
    np.testing.assert_array_equal(tracker.worst, whole.worst[-1])
    tracker.reset()
    assert [tracker.push(row) for row in cost] == rewards
