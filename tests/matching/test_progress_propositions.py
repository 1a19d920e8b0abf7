"""The paper's propositions and counterexamples for `orca_progress`: where they hold, and where not.

As in test_propositions.py trajectories are points on a line (or in the plane), occupancy is exp(-distance). What
the paper says of the reward at t holds here for what was paid up to t (order) or at t (coverage).
"""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from orcalign.matching import along_path, orca, orca_progress
from orcalign.matching.counterexamples import COUNTEREXAMPLES

points = st.integers(-6, 6).map(float)
demos = st.lists(points, min_size=2, max_size=7, unique=True)


def match(trajectory, demo, **settings):
    trajectory, demo = (np.array(x, float).reshape(len(x), -1) for x in (trajectory, demo))
    return orca_progress(np.linalg.norm(trajectory[:, None] - demo, axis=-1), **settings)


@pytest.mark.parametrize("temperature", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("name", COUNTEREXAMPLES)
def test_the_good_learner_wins_in_every_counterexample(name, temperature):
    case = COUNTEREXAMPLES[name]
    for gamma in (0.9, 1.0):
        discount = gamma ** np.arange(len(case.good))
        good, bad = (orca_progress(case.cost(who), temperature).reward for who in ("good", "bad"))
        assert good @ discount > bad @ discount + 0.5, gamma


@st.composite
def inserted(draw):
    """The good one is the bad one with a visit to demo[j-1] added before t, when both occupy demo[j]."""
    demo = draw(demos)
    j = draw(st.integers(1, len(demo) - 1))
    before = draw(st.lists(points.filter(lambda x: x != demo[j - 1]), min_size=1, max_size=8))
    place = draw(st.integers(0, len(before)))
    return demo, j, [*before[:place], demo[j - 1], *before[place:], demo[j]], [*before, demo[j]]


def shares(demo, path):
    """What orca_progress is told, and what each frame is then worth: all but the last alike, or by the path."""
    J = len(demo)
    if not path:
        return {}, np.array([1 / (J - 1)] * (J - 1) + [0.0])
    places = np.array(demo, float).reshape(J, -1)
    worth = along_path(np.linalg.norm(places[:, None] - places, axis=-1))
    return {"worth": worth}, worth


@settings(max_examples=400)
@given(inserted(), st.floats(0.1, 30), st.floats(0.3, 3), st.booleans())
def test_order_pays_up_to_t_at_every_frame(case, weight, temperature, path):
    demo, j, good, bad = case
    told, worth = shares(demo, path)
    plus, minus = (match(x, demo, weight=weight, temperature=temperature, **told) for x in (good, bad))
    paid = plus.reward.sum() - minus.reward.sum()
    assert paid >= -1e-12
    gain = plus.assignment[-1, j - 1] - minus.assignment[-1, j - 1]
    # At least what the better covered frame is worth: also for j before the last, where ORCA's reward may tie.
    assert paid >= weight * gain * worth[j - 1] - 1e-12


def test_at_t_alone_order_may_pay_less_because_it_was_paid_before():
    """Demo 0, 1, 9. Waiting far away and then jumping to 1 makes progress on frames 0 and 1 at once, at t."""
    good, bad = match([7.0, 0.0, 1.0], [0.0, 1.0, 9.0]), match([7.0, 7.0, 1.0], [0.0, 1.0, 9.0])
    assert good.orca_reward[-1] > bad.orca_reward[-1]  # the paper's proposition, of ORCA
    assert good.reward[-1] < bad.reward[-1]
    assert good.reward.sum() > bad.reward.sum() + 3


@given(st.integers(2, 7), st.data())
def test_at_t_alone_it_holds_where_frames_are_reached_or_not(J, data):
    """Occupancy 0 or 1, all demo frames different: the reward at t is higher for the one in order, at every j."""
    demo = list(range(J))
    j = data.draw(st.integers(1, J - 1))
    bad = [*demo[: j - 1], -5, j]
    good = [*demo[: j - 1], j - 1, j]
    plus, minus = (match(x, demo, temperature=1e-4) for x in (good, bad))
    earned = 10 / (J - 1) if j < J - 1 else 1.0
    assert plus.reward[-1] == pytest.approx(earned)
    assert minus.reward[-1] == 0.0


@st.composite
def moves(draw):
    """Both occupy demo[j-1] at t-1; at t one stays, and one comes nearer to demo[j] than it has been."""
    demo = [(x, draw(points)) for x in draw(demos)]
    j = draw(st.integers(1, len(demo) - 1))
    before = [*draw(st.lists(st.tuples(points, points), max_size=6)), demo[j - 1]]
    here, there = np.array(demo[j - 1]), np.array(demo[j])
    share, side = draw(st.floats(0.05, 1)), draw(st.floats(-0.5, 0.5))
    step = here + share * (there - here) + side * share * (there - here)[::-1] * [1, -1]
    nearest = min(np.linalg.norm(np.array(x) - there) for x in before)
    assume(np.linalg.norm(step - there) < nearest * 0.999)
    assume(nearest == np.linalg.norm(here - there))
    return demo, j, [*before, tuple(step)], [*before, demo[j - 1]]


@settings(max_examples=500)
@given(moves(), st.floats(0.5, 30), st.floats(0.5, 5), st.booleans())
def test_coverage_pays_at_t_at_every_frame(case, weight, temperature, path):
    """The condition of docs/progress.md: the last frame's occupancy falls by no larger a factor than frame j's
    rises, and where one stays it is at most what frame j is worth."""
    demo, j, good, bad = case
    told, shared = shares(demo, path)
    plus, minus = (match(x, demo, weight=weight, temperature=temperature, **told) for x in (good, bad))
    assert (plus.assignment[-1] >= minus.assignment[-1]).all()  # staying covers nothing new
    ends, J = np.array([good[-1], bad[-1]]), len(demo)
    rise = -np.subtract(*np.linalg.norm(ends - np.array(demo[j]), axis=1)) / temperature
    fall = np.subtract(*np.linalg.norm(ends - np.array(demo[-1]), axis=1)) / temperature
    occupied = np.exp(-np.linalg.norm(ends[1] - np.array(demo[-1])) / temperature)
    if j == J - 1 or (fall <= rise and occupied <= weight * shared[j]):
        assert plus.reward[-1] > minus.reward[-1]


def test_coverage_pays_where_orca_ties_and_where_it_falls():
    """The two cases of docs/matching.md in which ORCA's reward does not rise."""
    for demo, here, there in (
        ([0.0, 1.0, -5.0], 0.0, 0.5),
        ([(0.0, 0.0), (1.0, 1.0), (-5.0, 0.0)], (0.0, 0.0), (0.5, 0.1)),
    ):
        stay, move = match([here, here], demo), match([here, there], demo)
        assert move.orca_reward[-1] <= stay.orca_reward[-1] * (1 + 1e-14)
        assert move.reward[-1] > stay.reward[-1] + 0.5


def test_without_the_conditions_coverage_may_not_pay():
    """Demo (0,0), (1,0), (0,-0.1): the last frame is a step away from the first. A long step sideways comes a
    little nearer to the middle frame and loses more at the last one than ten times that is worth."""
    demo, here, there = [(0.0, 0.0), (1.0, 0.0), (0.0, -0.1)], (0.0, 0.0), (0.15, 0.5)
    stay, move = match([here, here], demo), match([here, there], demo)
    assert move.assignment[-1, 1] > stay.assignment[-1, 1]
    assert move.reward[-1] < stay.reward[-1]


def test_with_a_small_weight_even_the_straight_way_may_not_pay():
    """All frames but one stand close together, so that who stays is nearly done: 0.9 of the last is occupied."""
    demo, here, there = [(0.0, 0.0), (1.0, 0.0), (-0.1, 0.0), (0.0, -0.1)], (0.0, 0.0), (0.15, 0.0)
    for weight, pays in ((10.0, True), (3.0, True), (0.5, False)):
        stay, move = (match([here, x], demo, weight=weight) for x in (here, there))
        assert (move.reward[-1] > stay.reward[-1]) == pays


def test_living_in_the_last_pose_is_worth_a_bounded_number_of_steps():
    """What made agents rush: n steps in the last frame pay at most n times ORCA's reward there, and that is capped
    by every missed frame; all progress is worth `weight`."""
    demo = np.arange(21.0)
    rush = [0.0, 7.0, 14.0, *([20.0] * 60)]
    follow = [*demo, *([20.0] * 42)]
    assert len(rush) == len(follow) == 63
    for temperature, least in ((0.5, 40), (20.0, 1)):
        cost = {name: np.abs(np.subtract.outer(np.array(x), demo)) for name, x in (("rush", rush), ("follow", follow))}
        ours = {name: orca_progress(c, temperature).reward.sum() for name, c in cost.items()}
        theirs = {name: orca(c, temperature).reward.sum() for name, c in cost.items()}
        assert ours["follow"] - ours["rush"] > theirs["follow"] - theirs["rush"] + 0.5
        assert ours["follow"] > ours["rush"] + least
