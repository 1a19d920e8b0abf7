"""One story out of frames told alone: tables by hand, and what must hold of any."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from orcalign.costs.predicted import Entities
from orcalign.costs.predicted.smoothing import smooth, still_stretch, weighted_median

PUSH = Entities(hand=(0, 1), objects=((2, 3),), goal=(4, 5))
REST = np.array([0.0, 30.0, 7.0, 7.0, 8.0, 8.0])


def column(*values):
    return np.array(values, float)[:, None]


@pytest.mark.parametrize(
    ("values", "weights", "expected"),
    [
        ([1, 2, 3], [1, 1, 1], 2),
        ([3, 1, 2], [1, 1, 1], 2),
        ([1, 2], [1, 1], 1),  # the lower of two middles
        ([1, 2, 100], [1, 1, 3], 100),
        ([5, 1, 9], [0.1, 10, 0.1], 1),
    ],
)
def test_weighted_median(values, weights, expected):
    assert weighted_median(column(*values), np.array(weights, float)).tolist() == [expected]


@pytest.mark.parametrize(
    ("places", "scale", "count"),
    [
        ([0, 0, 0, 0], 0.5, 4),
        ([0, 0, 0, 10, 20], 0.5, 3),
        ([0, 0, 0, 10, 0, 0], 0.5, 6),  # one outlier
        ([0, 0, 0, 10], 0.5, 3),  # an outlier at the end is movement
        ([0, 1, 2, 3, 4, 5, 6, 7], 0.1, 3),  # the middle of the first four is 1, and 3 and 4 are off it
        ([0, 10, 20], 0.5, 1),
        ([0, 4, 8, 12, 16], 10.0, 5),  # all within what is not known
        ([4, 0, 0, 0.5, 10, 20], 0.5, 4),  # the first frame is the outlier
        ([0, 0, 0, 0, 0, 0, 10, 10, 0, 0], 0.5, 6),  # two in succession are movement
        ([7], 1.0, 1),
    ],
)
def test_still_stretch(places, scale, count):
    assert still_stretch(column(*places), np.full(len(places), scale)) == count


def film(thing, hand=None, goal=(8.0, 8.0), scale=0.5):
    """Values [J, 6] and scales [J, 3] of an object's places [J, 2]."""
    thing = np.asarray(thing, float)
    J = len(thing)
    hand = np.tile([50.0, 50.0], (J, 1)) if hand is None else np.asarray(hand, float)
    return np.concatenate([hand, thing, np.tile(goal, (J, 1))], 1), np.full((J, 3), scale)


def test_what_rests_is_snapped_and_surer():
    values, scales = film([[0.4, 0], [0.1, 0], [0.2, 0], [0.3, 0]])
    told = smooth(PUSH, values, scales, REST)
    assert told.values[:, 2:4].tolist() == [[0.1 + 0.1, 0.0]] * 4
    assert told.start.tolist() == [0, 30, 0.2, 0, 8, 8]
    # Four frames halve 0.5, and 0.3 is left in any case: more than 0.5, so nothing is gained.
    assert told.scales[:, 1].tolist() == [0.5] * 4
    told = smooth(PUSH, values, scales * 4, REST)
    assert told.scales[:, 1].tolist() == [1.3] * 4
    np.testing.assert_array_equal(told.values[:, :2], values[:, :2])
    np.testing.assert_array_equal(told.scales[:, 0], np.full(4, 2.0))


def test_an_outlier_at_rest_is_snapped_but_no_surer():
    values, scales = film([[0, 0], [0, 0], [9, 0], [0, 0], [0, 0]], scale=2.0)
    told = smooth(PUSH, values, scales, REST)
    assert told.values[:, 2:4].tolist() == [[0, 0]] * 5
    assert told.scales[2, 1] == 2
    assert told.scales[1, 1] == pytest.approx(2 / 5**0.5 + 0.3)


def test_the_goal_is_where_most_and_surest_frames_have_it():
    values, scales = film([[0, 0]] * 5)
    values[:, 4] = [8, 8, 8, 90, 91]
    assert smooth(PUSH, values, scales, REST).values[:, 4].tolist() == [8] * 5
    scales[3:, 2] = 0.1
    assert smooth(PUSH, values, scales, REST).start[4] == 90


def test_what_is_held_keeps_its_place_in_the_hand_as_far_as_the_picture_leaves_it_open():
    x = np.array([0, 0, 0, 0, 6, 12, 18, 24, 30.0])
    hand = np.stack([x + 2, np.zeros(9)], 1)
    truth = np.stack([x, np.zeros(9)], 1)
    seen = truth + [0, 1.0] * (np.arange(9) >= 4)[:, None]  # a centimetre off while it moves
    values, scales = film(seen, hand, goal=(90, 90), scale=3.0)
    told = smooth(PUSH, values, scales, REST)
    # Error 3 against the 3 by which a grasp may slip: halfway.
    np.testing.assert_allclose(told.values[4:, 3], 0.5)
    np.testing.assert_allclose(told.values[4:, 2], x[4:])
    np.testing.assert_allclose(told.scales[4:, 1], 4.5**0.5)
    scales[:, 1] = 1
    told = smooth(PUSH, values, scales, REST)
    np.testing.assert_allclose(told.values[4:, 3], 0.9)
    np.testing.assert_allclose(told.scales[4:, 1], 0.9**0.5)
    # The hand stays behind: not held, and left as it was seen.
    values[:, :2] = [2.0, 0]
    np.testing.assert_allclose(smooth(PUSH, values, scales, REST).values[4:, 3], 1)


def test_what_is_too_far_from_the_hand_is_not_held():
    x = np.array([0, 0, 0, 0, 6, 12, 18, 24, 30.0])
    values, scales = film(np.stack([x, (x > 0) * 1.0], 1), np.stack([x + 11, 0 * x], 1), goal=(90, 90), scale=1.0)
    np.testing.assert_allclose(smooth(PUSH, values, scales, REST).values[4:, 3], 1)


def test_a_hand_alone_is_left_as_it_was_seen():
    values = np.random.default_rng(0).normal(size=(6, 4)) * 20
    told = smooth(Entities((0, 1, 2), gripper=3), values, np.ones((6, 2)), [1, 2, 3, 4])
    np.testing.assert_array_equal(told.values, values)
    assert told.start.tolist() == [1, 2, 3, 4]
    with pytest.raises(ValueError, match="no frames"):
        smooth(Entities((0, 1)), np.zeros((0, 2)), np.zeros((0, 1)), [0, 0])


TWO = Entities(hand=(0, 1), objects=((2, 3), (4, 5)), goal=(6, 7))
FILMS = st.integers(1, 14).flatmap(
    lambda J: st.tuples(
        arrays(float, (J, 8), elements=st.integers(-40, 40).map(float)),
        arrays(float, (J, 4), elements=st.integers(1, 16).map(lambda n: n / 4)),
    )
)


@given(FILMS)
def test_it_says_as_many_frames_and_is_never_less_sure(film):
    values, scales = film
    told = smooth(TWO, values, scales, np.zeros(8))
    assert told.values.shape == values.shape
    assert (told.scales <= scales + 1e-12).all()
    assert (told.scales > 0).all()
    assert np.isfinite(told.values).all()
    np.testing.assert_array_equal(told.values[:, :2], values[:, :2])
    assert (told.values[:, 6:] == told.start[6:]).all()
    np.testing.assert_array_equal(told.values[0, 2:6], told.start[2:6])


@given(FILMS, st.sampled_from([-64.0, 32.0]))
def test_another_origin_and_turned_axes_tell_the_same_story(film, by):
    values, scales = film
    told = smooth(TWO, values, scales, np.zeros(8))
    moved = smooth(TWO, values + by, scales, np.full(8, by))
    np.testing.assert_allclose(moved.values, told.values + by, atol=1e-9)
    np.testing.assert_allclose(moved.start, told.start + by, atol=1e-9)
    swap = [1, 0, 3, 2, 5, 4, 7, 6]
    swapped = smooth(TWO, values[:, swap], scales, np.zeros(8))
    np.testing.assert_allclose(swapped.values, told.values[:, swap], atol=1e-9)
