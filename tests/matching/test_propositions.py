"""The paper's two propositions, in the form that holds.

A trajectory is a sequence of points on a line, the demo too; the distance is the absolute difference. In both
propositions the coverage of frame j at time t rises strictly. What follows for the reward at t is said per test.
"""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from orcalign.matching import orca

points = st.integers(-6, 6).map(float)
demos = st.lists(points, min_size=2, max_size=6, unique=True)


def match(trajectory, demo):
    return orca(np.abs(np.subtract.outer(np.array(trajectory), np.array(demo))))


@st.composite
def ordering_cases(draw):
    """Both occupy demo[j] exactly at the last time t; only the good one has occupied demo[j-1] before."""
    demo = draw(demos)
    j = draw(st.integers(1, len(demo) - 1))
    before = draw(st.lists(points.filter(lambda x: x not in demo), min_size=j, max_size=8))
    good = list(before)
    good[draw(st.integers(0, len(before) - 1))] = demo[j - 1]
    return demo, j, [*good, demo[j]], [*before, demo[j]]


@settings(max_examples=300)
@given(ordering_cases())
def test_ordering(case):
    demo, j, good, bad = case
    plus, minus = match(good, demo), match(bad, demo)
    t = len(good) - 1
    # The premise of the proof: covering demo[j-1] raises its ordered coverage. (It need not: a point that was
    # moved may have been what covered an earlier frame.)
    assume(plus.assignment[t, j - 1] > minus.assignment[t, j - 1])
    assert plus.assignment[t, j] > minus.assignment[t, j]
    if j == len(demo) - 1:
        assert plus.reward[t] > minus.reward[t]


@st.composite
def inserted_cases(draw):
    """The good one is the bad one with a visit to demo[j-1] added before t: nothing is taken away."""
    demo = draw(demos)
    j = draw(st.integers(1, len(demo) - 1))
    before = draw(st.lists(points.filter(lambda x: x != demo[j - 1]), min_size=1, max_size=8))
    place = draw(st.integers(0, len(before)))
    return demo, j, [*before[:place], demo[j - 1], *before[place:], demo[j]], [*before, demo[j]]


@settings(max_examples=300)
@given(inserted_cases())
def test_ordering_never_lowers_the_reward(case):
    demo, j, good, bad = case
    plus, minus = match(good, demo), match(bad, demo)
    assert plus.reward[-1] >= minus.reward[-1] * (1 - 1e-14)
    assert plus.assignment[-1, j] >= minus.assignment[-1, j] * (1 - 1e-14)


@st.composite
def coverage_cases(draw):
    """Both occupy demo[j-1] at t-1; at t the bad one stays and the good one goes nearer to demo[j] than ever."""
    demo = draw(demos)
    j = draw(st.integers(1, len(demo) - 1))
    before = [*draw(st.lists(points, max_size=6)), demo[j - 1]]
    share = draw(st.floats(0.1, 1))
    step = demo[j - 1] + share * (demo[j] - demo[j - 1])
    nearest = min(abs(x - demo[j]) for x in before)
    assume(abs(step - demo[j]) < nearest * 0.999)
    return demo, j, [*before, step], [*before, demo[j - 1]]


@settings(max_examples=300)
@given(coverage_cases())
def test_coverage(case):
    demo, j, good, bad = case
    plus, minus = match(good, demo), match(bad, demo)
    # "At t neither improves its coverage of the frames before j", as the proof assumes.
    assume(plus.assignment[-1, j - 1] == minus.assignment[-1, j - 1])
    assert plus.assignment[-1, j] > minus.assignment[-1, j]
    if j == len(demo) - 1:
        assert plus.reward[-1] > minus.reward[-1]


def test_coverage_of_an_earlier_frame_need_not_raise_the_reward():
    """Demo 0, 1, -5: moving from 0 to 0.5 covers frame 1 better, and frame 2 is left by exactly as much."""
    stay, move = match([0.0, 0.0], [0.0, 1.0, -5.0]), match([0.0, 0.5], [0.0, 1.0, -5.0])
    assert move.assignment[1, 1] > stay.assignment[1, 1]
    np.testing.assert_allclose(move.reward[1], stay.reward[1], rtol=1e-14)


def test_and_may_even_lower_it():
    """The same in the plane with the last frame straight behind: what is won on frame 1 is lost on frame 2."""
    demo = np.array([[0.0, 0.0], [1.0, 1.0], [-5.0, 0.0]])

    def reward(point):
        learner = np.array([[0.0, 0.0], point])
        return orca(np.linalg.norm(learner[:, None] - demo, axis=-1))

    stay, move = reward([0.0, 0.0]), reward([0.5, 0.1])
    assert move.assignment[1, 1] > stay.assignment[1, 1]
    assert move.reward[1] < stay.reward[1]
