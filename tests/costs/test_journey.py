"""A thing that is taken away is followed by its own colours: it has to come to where the demo brings it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from orcalign.costs.objects import Finder, ObjectModel, ObjectView
from orcalign.costs.objects.journey import COLUMNS, JourneyCosts, find_journeys
from orcalign.encoders import make_encoder
from orcalign.rewards import VideoReward
from orcalign.video import Demo

SIZE = 64
TABLE, BALL, BASKET = (150, 120, 90), (30, 160, 60), (200, 30, 30)
BALL_HOME, BASKET_HOME = (50, 20), (12, 40)
BALLS = ((47, 14), (53, 21), (50, 28), (46, 23), (54, 13), (49, 20), (53, 27))
BASKETS = ((5, 34), (6, 48), (19, 33), (20, 47), (4, 41), (13, 32), (19, 40))


def scene(ball, basket):
    """A basket with a white rim, and a ball of 6 x 6 pixels somewhere, or nowhere."""
    frame = np.full((SIZE, SIZE, 3), TABLE, np.uint8)
    frame[basket[0] : basket[0] + 8, basket[1] : basket[1] + 8] = BASKET
    frame[basket[0] : basket[0] + 2, basket[1] : basket[1] + 8] = 240
    if ball is not None:
        frame[ball[0] : ball[0] + 6, ball[1] : ball[1] + 6] = BALL
    return frame


def taken(ball, basket, end=None, steps=5):
    """The ball goes in a straight line into the basket, or to another end."""
    end = (basket[0] + 2, basket[1] + 1) if end is None else end
    return np.stack(
        [
            scene(tuple(np.round(np.add(ball, np.subtract(end, ball) * share)).astype(int)), basket)
            for share in np.linspace(0, 1, steps)
        ]
    )


def learn(demo):
    return Finder.learn(demo, [scene(*places) for places in zip(BALLS, BASKETS, strict=True)])


@pytest.fixture(scope="module")
def demo():
    return taken(BALL_HOME, BASKET_HOME)


@pytest.fixture(scope="module")
def reward(demo):
    return paying(demo, learn(demo))


def model_of(demo, finder, **more):
    return ObjectModel(make_encoder("pixels"), Demo(demo), finder, **more)


def paying(demo, finder):
    return VideoReward(
        demo,
        model=model_of(demo, finder),
        direction="past",
        matcher="orca_progress",
        calibrated=True,
        progress_in="path",
        last=1.0,
    )


def test_the_ball_is_followed_and_the_basket_is_its_goal(demo):
    finder = learn(demo)
    (journey,) = finder.journeys
    assert np.abs(np.subtract(finder.things[journey.thing].home, BALL_HOME) - 2.5).max() <= 1
    assert np.abs(np.subtract(finder.things[journey.goal].home, BASKET_HOME) - 3.5).max() <= 1
    film = taken((47, 28), (15, 35))
    ways = [np.add((47, 28), np.multiply((-30, 8), share)).round() + 2.5 for share in np.linspace(0, 1, 5)]
    np.testing.assert_array_equal(journey.places(film)[:, :2], ways)
    np.testing.assert_array_equal(journey.places(film)[:, 2], 36)


def test_where_it_is_counts_first_from_its_own_place_and_then_from_the_goal(demo, reward):
    """The ball stands lower by 4 and the basket further right by 5; all else is as in the demo."""
    costs, view = reward.model.costs, reward.encoder
    ball, basket = (BALL_HOME[0] + 4, BALL_HOME[1]), (BASKET_HOME[0], BASKET_HOME[1] + 5)
    (journey,) = costs._journeys
    rows = view(taken(ball, basket))[:, -COLUMNS:]
    np.testing.assert_array_equal(rows[0], [0, 0, BALL_HOME[0] + 4 + 2.5, BALL_HOME[1] + 2.5 - 5, 1])
    np.testing.assert_array_equal(rows[-1, 2:], [BASKET_HOME[0] + 2 + 2.5, BASKET_HOME[1] + 1 + 2.5, 1])
    found = journey(rows)
    assert found[0, 0] == found[-1, -1] == 0
    assert np.diag(found).max() < 0.1


def test_a_ball_that_is_knocked_aside_is_not_brought(demo, reward):
    costs, view = reward.model.costs, reward.encoder
    before = paying(demo, replace(view.finder, journeys=()))
    films = {
        "brought": taken((47, 28), (15, 35)),
        "aside": taken((47, 28), (15, 35), end=(47, 56)),
        "gone": taken((47, 28), (15, 35), end=(47, 70)),
        "left": taken((47, 28), (15, 35), end=(47, 28)),
    }
    last = {name: costs(view(film))[-1, -1] for name, film in films.items()}
    assert last["brought"] < 0.375
    # Twice how far it is from (17, 36), in units of how far it goes in the demo; out of sight is as far as it gets.
    goes = np.hypot(36, 21)
    assert last["aside"] == pytest.approx(2 * np.hypot(30, 20) / goes)
    assert last["left"] == pytest.approx(2 * np.hypot(30, 8) / goes)
    assert last["gone"] == 2
    # On the way it costs less.
    assert costs(view(films["gone"]))[-1, -2] == pytest.approx(0.75)
    paid = {name: reward(film).total for name, film in films.items()}
    assert paid["brought"] > 1.5 * max(paid["aside"], paid["gone"], paid["left"])
    # All that was asked before is whether it has left.
    assert before(films["aside"]).total > 1.2 * paid["aside"]


def test_a_square_alone_does_not_ask_where_things_are(demo, reward):
    model = model_of(demo, reward.encoder.finder, changes=False)
    (aside,) = model.compare(model.encoder(taken(BALL_HOME, BASKET_HOME, end=(47, 56))))
    assert aside[-1, -1] < 2


def test_a_goal_is_not_asked_what_became_of_it(demo, reward):
    """Somebody stands before the basket in the demo and goes away; in another layout he stands before the table."""
    passing, elsewhere = demo.copy(), demo.copy()
    for row, frames in ((BASKET_HOME[0], passing), (BASKET_HOME[0] - 8, elsewhere)):
        frames[1:, row : row + 6, BASKET_HOME[1] : BASKET_HOME[1] + 3] = (20, 20, 20)
    finder = reward.encoder.finder
    (journey,) = finder.journeys
    cost, asked = [], []
    for goal in (journey.goal, None):
        model = model_of(passing, replace(finder, journeys=(replace(journey, goal=goal),)))
        cost.append(model.compare(model.encoder(elsewhere))[0][1, 1])
        asked.append(set(model.costs._changes))
    assert asked == [{journey.thing}, {journey.thing, journey.goal}]
    assert cost[0] < cost[1]


def test_an_episode_that_begins_with_it_hidden_is_not_judged_by_it(demo, reward):
    costs, view = reward.model.costs, reward.encoder
    hidden = taken(BALL_HOME, BASKET_HOME)
    hidden[0] = scene(None, BASKET_HOME)
    rows = view(hidden)[:, -COLUMNS:]
    assert (rows[:, -1] == -1).all()
    assert not costs._journeys[0](rows).any()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda frames: frames[:1].repeat(5, 0), "it stays"),
        (lambda frames: taken(BALL_HOME, BASKET_HOME, end=(44, 26)), "it is moved by about its size"),
        (
            lambda frames: np.concatenate([frames[:2], scene(None, BASKET_HOME)[None], frames[2:]]),
            "it is hidden on the way",
        ),
        (lambda frames: with_patch(frames, BALL), "something else has its colour"),
        (lambda frames: with_patch(frames, (34, 156, 66)), "something else has nearly its colour"),
    ],
)
def test_what_cannot_be_followed_is_not(change, why, demo):
    things = learn(demo).things
    assert find_journeys(things, demo, 10)
    assert find_journeys(things, change(demo), 10) == (), why


def with_patch(frames, colour):
    frames = frames.copy()
    frames[:, 4:7, 4:7] = colour
    return frames


def test_a_mark_at_its_edge_is_not_the_thing(demo):
    things = learn(demo).things
    (journey,) = find_journeys(things, demo, 10)
    home = things[journey.thing].home
    for off, followed in ((2, 1), (6, 0)):
        moved = [
            replace(thing, home=(home[0] + off, home[1])) if number == journey.thing else thing
            for number, thing in enumerate(things)
        ]
        assert len(find_journeys(moved, demo, 10)) == followed


def test_a_goal_is_near_where_it_ends(demo):
    things = learn(demo).things
    ends_elsewhere = taken(BALL_HOME, BASKET_HOME, end=(40, 55))
    assert find_journeys(things, demo, 10)[0].goal is not None
    assert find_journeys(things, ends_elsewhere, 10)[0].goal is None


def test_one_frame_at_a_time_is_the_same_to_the_last_bit(reward):
    film = taken((47, 28), (15, 35), steps=7)
    whole = reward.encoder(film)
    live = reward.encoder.begin(film[0])
    for t, row in enumerate(whole):
        np.testing.assert_array_equal(live(film[t : t + 1])[0], row)
    stream = reward.stream()
    np.testing.assert_array_equal([stream.push(frame) for frame in film], reward(film).reward)


def test_another_journey_is_another_view(reward):
    finder = reward.encoder.finder
    other = ObjectView(make_encoder("pixels"), replace(finder, journeys=()))
    assert other.fingerprint != reward.encoder.fingerprint
    assert other.dim == reward.encoder.dim - COLUMNS


PLACES = st.integers(1, 6).flatmap(
    lambda rows: arrays(np.float32, (rows, 4), elements=st.integers(-100, 100).map(float))
)


@given(demo=PLACES, rows=PLACES, sight=st.lists(st.sampled_from([1, 1, 1, 0, -1]), min_size=6, max_size=6))
def test_the_costs_are_those_of_a_plain_loop(demo, rows, sight):
    demo = np.c_[demo - [*demo[0, :2], 0, 0], np.ones(len(demo))]
    rows = np.c_[rows, sight[: len(rows)]]
    costs = JourneyCosts(demo)
    found = costs(rows)
    steps = [0.0, *(np.linalg.norm(demo[j, :2] - demo[j - 1, :2]) for j in range(1, len(demo)))]
    far = max(np.linalg.norm(row[:2]) for row in demo) or 1.0
    for t, row in enumerate(rows):
        for j, shown in enumerate(demo):
            near = sum(steps[: j + 1]) / (sum(steps) or 1.0)
            off = (1 - near) * (row[:2] - shown[:2]) + near * (row[2:4] - shown[2:4])
            wanted = {1: min(1.0, np.linalg.norm(off) / far), 0: 1.0, -1: 0.0}[int(row[4])]
            assert found[t, j] == pytest.approx(wanted, abs=1e-12)
        np.testing.assert_array_equal(costs(rows[t : t + 1])[0], found[t])
    assert np.diag(costs.between_demo_frames()).max() == 0
