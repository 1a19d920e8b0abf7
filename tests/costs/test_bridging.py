"""What is put between two frames of a demo that are far apart."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orcalign.costs.predicted import DescribedDemo, Entities
from orcalign.costs.predicted.bridging import CUT, MOST, STEP, bridge
from orcalign.costs.predicted.relative import Relative
from orcalign.rewards import Evidence
from orcalign.rewards.follow import FollowReward

PUSH = Entities(hand=(0, 1), objects=((2, 3),), goal=(4, 5), unit=1.0)


def cut():
    """A demo that comes to a thing, and is cut to where the thing lies 40 cm further on."""
    rows = [[-20, 0], [-10, 0], [0, 0], [40, 0], [40, 0]]
    things = [[0, 0], [0, 0], [0, 0], [40, 0], [40, 0]]
    values = np.concatenate([rows, things, np.tile([40.0, 0.0], (5, 1))], axis=1).astype(float)
    return DescribedDemo.known(PUSH, values, [-20.0, 0, 0, 0, 40, 0])


def test_frames_near_each_other_are_as_they_were():
    values = np.cumsum(np.full((6, 6), 0.5), axis=0)
    demo = DescribedDemo.known(PUSH, values, values[0])
    bridged = bridge(demo, Relative(demo).between())
    assert (bridged.demo.values == demo.values).all()
    assert not bridged.slack.any()
    assert bridged.real.tolist() == list(range(6))


@given(st.lists(st.floats(0, 300), min_size=1, max_size=8))
def test_the_frames_of_the_video_stay_in_their_order(steps):
    values = np.zeros((len(steps) + 1, 6))
    values[1:, 0] = np.cumsum(steps)
    demo = DescribedDemo.known(PUSH, values, values[0])
    bridged = bridge(demo, Relative(demo).between())
    assert (bridged.demo.values[bridged.real] == demo.values).all()
    assert (np.diff(bridged.real) >= 1).all()
    assert not bridged.slack[bridged.real].any()
    assert (np.diff(bridged.demo.values[:, 0]) >= 0).all()
    far, usual = np.diff(bridged.demo.values[:, 0]), np.median(steps)
    assert far.max() <= max(2 * STEP, CUT * usual, max(steps) / MOST) + 1e-9


def way(where):
    """Of a learner that comes to the thing and takes it to each of these places."""
    hands = np.concatenate([np.linspace([-20.0, 0], [0, 0], 9), where])
    things = np.concatenate([np.zeros((9, 2)), where])
    return np.concatenate([hands, things, np.tile([40.0, 0.0], (len(hands), 1))], axis=1).astype(np.float32)


@pytest.mark.parametrize("side", [0.0, 8.0])
def test_the_way_across_a_cut_is_paid_for_step_by_step_whether_straight_or_round(side):
    reward = FollowReward(PUSH, cut().start, described=cut())
    part = np.linspace(0, 1, 11)[1:]
    across = np.stack([40 * part, 4 * side * part * (1 - part)], axis=1)
    states = way(across)
    evidence = Evidence(len(states) - 1, {"states": states})
    rewards = reward.pay([evidence])[0]
    assert (rewards[8:17] > 0.1).sum() >= 6, "progress on the way, not at its end alone"
    assert reward.follow(evidence)["progress"] > 0.85
    live = reward.stream()
    live.reset(states[0])
    assert [live.push(state=state) for state in states[1:]] == rewards.tolist()
    explained = reward.explain(evidence)
    assert explained is not None
    assert explained.match.match.assignment.shape == explained.match.costs[0].shape == (len(states) - 1, 5)
    assert explained.wanted.max() == 4


def test_who_stays_where_the_demo_is_cut_is_not_paid_for_the_rest():
    reward = FollowReward(PUSH, cut().start, described=cut())
    states = way(np.zeros((10, 2)))
    assert 0.2 < reward.follow(Evidence(len(states) - 1, {"states": states}))["progress"] < 0.6
