"""Things are found where they stand, what is seen moves with them, and what became of them is asked."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from orcalign.costs.objects import Finder, ObjectModel, ObjectView
from orcalign.costs.objects.thing import blurred
from orcalign.costs.objects.view_costs import ChangeCosts, ViewCosts
from orcalign.encoders import make_encoder
from orcalign.rewards import VideoReward, push_each
from orcalign.video import Demo

SIZE = 64
HOME = (26, 34)
PLACES = ((19, 28), (20, 42), (33, 27), (34, 41), (18, 35), (27, 26), (33, 34))


def scene(row, column, arm=(2, 2), size=SIZE):
    """A plain table, a box with a stripe, and a small arm."""
    frame = np.full((size, size, 3), (150, 120, 90), np.uint8)
    frame[row : row + 8, column : column + 8] = (200, 30, 30)
    frame[row + 3 : row + 5, column : column + 8] = (240, 240, 60)
    frame[arm[0] : arm[0] + 5, arm[1] : arm[1] + 5] = (20, 20, 160)
    return frame


def episode(row, column, steps=6):
    """The arm comes from above and ends beside the box, wherever that stands."""
    ways = np.linspace(-12, 2, steps).round().astype(int)
    return np.stack([scene(row, column, (row + way, column - 6)) for way in ways])


def model_of(demo, finder, encoder="pixels", **more):
    return ObjectModel(make_encoder(encoder), Demo(demo), finder, **more)


@pytest.fixture(scope="module")
def finder():
    found = Finder.learn(episode(*HOME), [scene(*place) for place in PLACES])
    assert found is not None
    return found


def test_the_object_is_found_where_it_stands(finder):
    (thing,) = finder.things
    assert np.abs(np.subtract(thing.home, HOME) - 3.5).max() <= 1
    for place in (*PLACES, HOME, (30, 30)):
        assert finder.find(scene(*place)) == (((place[0] - HOME[0], place[1] - HOME[1]), True),)


def test_an_arm_that_has_moved_is_not_taken_for_the_object(finder):
    assert finder.find(scene(30, 30, arm=(50, 50))) == (((4, -4), True),)


def test_whoever_acts_is_not_taken_for_the_object():
    """A large arm that has begun to move, as in the demo's first frame: it would be found right where it is."""

    def with_arm(row, column, down):
        frame = scene(row, column)
        frame[2 + down : 16 + down, 4:22] = (160, 20, 120)
        return frame

    demo = np.stack([with_arm(*HOME, down) for down in (4, 8, 12)])
    downs = (0, 2, 4, 0, 3, 1, 4)
    firsts = [with_arm(*place, down) for place, down in zip(PLACES, downs, strict=True)]
    nexts = [with_arm(*place, down + 5) for place, down in zip(PLACES, downs, strict=True)]
    finder, looking_at_all = Finder.learn(demo, firsts, nexts), Finder.learn(demo, firsts)
    for place in PLACES:
        assert finder.find(with_arm(*place, 4)) == (((place[0] - HOME[0], place[1] - HOME[1]), True),)
    assert any(thing.home[0] < 20 and thing.home[1] < 22 for thing in looking_at_all.things)


BALLS = ((50, 24), (56, 31), (53, 38), (49, 33), (57, 23), (52, 30), (56, 37))
BALL_HOME = (53, 30)
BOX_PIXELS, BALL_PIXELS = 60, 21
"""Their corners are not counted."""


def two(row, column, ball, mark=False):
    """The scene with a ball that stands elsewhere on its own, and perhaps a mark that goes with the box."""
    frame = scene(row, column)
    frame[ball[0] : ball[0] + 5, ball[1] : ball[1] + 5] = (30, 160, 60)
    if mark:
        frame[row - 18 : row - 13, column + 14 : column + 19] = (240, 240, 240)
    return frame


def taken(place, ball, mark=False, leaves=(2, 4)):
    """The ball goes at one step, then the box at another."""
    frames = [two(*place, ball, mark) for _ in range(6)]
    for t in range(6):
        if t >= leaves[0]:
            frames[t][ball[0] : ball[0] + 5, ball[1] : ball[1] + 5] = (150, 120, 90)
        if t >= leaves[1]:
            frames[t][place[0] - 18 : place[0] + 8, place[1] : place[1] + 19] = (150, 120, 90)
    return np.stack(frames)


def test_several_things_are_found_each_on_its_own_in_the_order_of_the_demo():
    firsts = [two(*place, ball) for place, ball in zip(PLACES, BALLS, strict=True)]
    for leaves, order in (((2, 4), ("ball", "box")), ((5, 3), ("box", "ball"))):
        finder = Finder.learn(taken(HOME, BALL_HOME, leaves=leaves), firsts)
        sizes = {"ball": BALL_PIXELS, "box": BOX_PIXELS}
        assert [len(thing.body[0]) for thing in finder.things] == [sizes[one] for one in order]
        found = dict(zip(order, finder.find(two(30, 30, (50, 33))), strict=True))
        assert found == {"box": ((4, -4), True), "ball": ((-3, 3), True)}


def test_what_always_moves_alike_is_one_thing():
    near = ((24, 32), (28, 36), (23, 35), (29, 33), (26, 38), (22, 31), (30, 37))
    firsts = [two(*place, ball, mark=True) for place, ball in zip(near, BALLS, strict=True)]
    finder = Finder.learn(taken(HOME, BALL_HOME, mark=True), firsts)
    assert [len(thing.body[0]) >= BOX_PIXELS for thing in finder.things] == [False, True]


def test_a_mark_alone_is_not_enough():
    """Beside it something large stands elsewhere, too, and looks different each time."""
    rng = np.random.default_rng(0)
    firsts = []
    for ball in BALLS:
        frame = two(*HOME, ball)
        frame[14:40, 26:52] = rng.integers(0, 256, (2, 2, 3)).repeat(13, 0).repeat(13, 1)
        firsts.append(frame)
    assert Finder.learn(taken(HOME, BALL_HOME, leaves=(2, 9)), firsts) is None
    (ball,) = Finder.learn(taken(HOME, BALL_HOME, leaves=(2, 9)), [two(*HOME, ball) for ball in BALLS]).things
    assert len(ball.body[0]) == BALL_PIXELS


def test_things_that_do_not_change_in_the_demo_are_left_out():
    firsts = [two(*place, ball) for place, ball in zip(PLACES, BALLS, strict=True)]
    (ball,) = Finder.learn(taken(HOME, BALL_HOME, leaves=(2, 9)), firsts).things
    assert len(ball.body[0]) == BALL_PIXELS
    # If nothing changes, the largest is looked at.
    (box,) = Finder.learn(taken(HOME, BALL_HOME, leaves=(9, 9)), firsts).things
    assert len(box.body[0]) == BOX_PIXELS


def test_a_thing_that_is_hardly_moved_is_found_whole_enough():
    """Most first frames show it in the same pixels, so that their median has it, too."""
    near = [(HOME[0] + down, HOME[1] + right) for down, right in ((0, 0), (1, 2), (-2, 1), (2, -2), (-1, -1), (3, 3))]
    finder = Finder.learn(taken(HOME, BALL_HOME), [two(*place, BALL_HOME) for place in near])
    assert finder.find(two(HOME[0] + 2, HOME[1] + 1, BALL_HOME)) == (((2, 1), True),)


def test_who_leaves_the_thing_alone_is_paid_less():
    """All else is the same, a large arm that comes; the ball is taken along, or is not."""

    def with_arm(frames):
        for t, frame in enumerate(frames):
            frame[44:64, 4 * t : 4 * t + 8] = (160, 20, 120)
        return frames

    firsts = [two(*place, ball) for place, ball in zip(PLACES, BALLS, strict=True)]
    demo = with_arm(taken(HOME, BALL_HOME, leaves=(2, 9)))
    finder = Finder.learn(demo, firsts)
    done, left_alone = (with_arm(taken(HOME, (52, 33), leaves=leaves)) for leaves in ((2, 9), (9, 9)))
    reward = VideoReward(demo, model=model_of(demo, finder), context=1, matcher="orca_progress", calibrated=True)
    assert reward(done).total > 2 * reward(left_alone).total
    costs = reward.model.costs
    ends = [costs(reward.encoder(frames))[-1, -1] for frames in (done, left_alone)]
    assert ends[0] < 0.375
    assert ends[1] == pytest.approx(1)
    # On the way it costs less: who passes by may be forgiven what they leave behind.
    assert costs(reward.encoder(left_alone))[-2, -2] == pytest.approx(0.75)
    # Asked for the squares alone, it looks much the same.
    alone = model_of(demo, finder, changes=False)
    assert alone.compare(alone.encoder(left_alone))[0][-1, -1] < ends[1]


def test_changes_are_those_of_the_whole_blurred_picture():
    """Only a part is blurred; pixel by pixel it is the same."""
    rng = np.random.default_rng(1)
    frames = rng.integers(0, 256, (4, SIZE, SIZE, 3), np.uint8)
    finder = Finder.learn(episode(*HOME), [scene(*place) for place in PLACES])
    (thing,) = finder.things
    for shift in ((0, 0), (-24, 30), (3, -2)):
        rows = np.clip(thing.body[0] + shift[0], 0, SIZE - 1)
        columns = np.clip(thing.body[1] + shift[1], 0, SIZE - 1)
        seen = blurred(frames)[:, rows, columns]
        wanted = np.abs(seen - seen[0]).sum(-1) > 25
        np.testing.assert_array_equal(thing.changed(frames, shift), wanted)


sets = st.integers(1, 8).flatmap(
    lambda m: st.tuples(*(arrays(bool, st.tuples(st.integers(1, 5), st.just(m))) for _ in range(2)))
)


@given(sets)
def test_change_costs_are_those_of_sets(pair):
    demo, attempt = pair
    demo[-1, 0] = True
    as_sets = [[set(np.flatnonzero(row)) for row in rows] for rows in (demo, attempt)]
    most = max(len(one) for one in as_sets[0])
    wanted = [[len(a ^ d) / max(len(a | d), most / 2) for d in as_sets[0]] for a in as_sets[1]]
    got = ChangeCosts(demo)(attempt)
    np.testing.assert_allclose(got, wanted)
    assert (got <= 1).all()
    # What is not known costs nothing.
    assert not ChangeCosts(demo)(np.full((2, demo.shape[1]), -1.0)).any()
    # A row has the same bits alone and in company.
    assert all((ChangeCosts(demo)(attempt[t : t + 1])[0] == got[t]).all() for t in range(len(attempt)))


def test_nothing_is_found_where_nothing_stands_elsewhere():
    same = [scene(*HOME)] * 6
    assert Finder.learn(episode(*HOME), same) is None
    noise = np.random.default_rng(0)
    rustle = [np.clip(scene(*HOME) + noise.integers(-3, 4, (SIZE, SIZE, 1)), 0, 255).astype(np.uint8) for _ in range(6)]
    assert Finder.learn(episode(*HOME), rustle) is None


def test_what_is_not_found_is_taken_to_be_where_the_demo_has_it(finder):
    gone = scene(*HOME)
    gone[10:, 10:] = (150, 120, 90)
    assert finder.find(gone) == (((0, 0), False),)
    anything = np.random.default_rng(3).integers(0, 256, (SIZE, SIZE, 3), np.uint8)
    assert finder.find(anything) == (((0, 0), False),)
    # Whether it changes is not known, and costs nothing; the rest is compared as ever.
    asked, alone = (model_of(episode(*HOME), finder, changes=changes) for changes in (True, False))
    hidden = asked.encoder(np.stack([gone] * 3))
    assert (hidden[:, -BOX_PIXELS:] == -1).all()
    np.testing.assert_array_equal(asked.compare(hidden)[0], alone.compare(hidden)[0])


def test_the_square_moves_with_the_object(finder):
    view = ObjectView(make_encoder("pixels"), finder, share=0.5)
    (demo,) = view.cut(episode(*HOME))
    assert demo.shape == (6, 32, 32, 3)
    for place in PLACES[:4]:
        np.testing.assert_array_equal(view.cut(episode(*place))[0], demo)


def test_at_the_edge_the_picture_is_drawn_out(finder):
    view = ObjectView(make_encoder("pixels"), finder, share=0.75)
    first = scene(19, 42)
    seen = view.cut(first[None])[0][0]
    assert seen.shape == (48, 48, 3)
    top, left = (round(at - 24) for at in finder.things[0].home)
    np.testing.assert_array_equal(seen[20, -1], first[top - 7 + 20, min(SIZE - 1, left + 8 + 47)])


def test_the_same_movement_beside_an_object_elsewhere_is_preferred(finder):
    """Compared whole, the arm that repeats the demo's path past the object is preferred."""
    beside = episode(33, 41)
    past = np.stack([scene(33, 41, (HOME[0] + way, HOME[1] - 6)) for way in np.linspace(-12, 2, 6).round().astype(int)])
    demo = episode(*HOME)
    whole = VideoReward(demo, "pixels", context=1, temperature=0.05)
    moving = VideoReward(demo, model=model_of(demo, finder), context=1, matcher="orca_progress", calibrated=True)
    assert moving.matcher_settings == ({"temperature": 0.375, "floor": 0.375},)
    assert moving(beside).total > moving(past).total
    assert whole(past).total > whole(beside).total


def test_a_demo_in_which_nothing_moves_is_refused_all_the_same(finder):
    still = np.stack([scene(*HOME)] * 5)
    with pytest.raises(ValueError, match="calibration needs two frames that can be told apart"):
        VideoReward(still, model=model_of(still, finder), calibrated=True)
    # Without calibration there is a reward, and it is a number.
    assert np.isfinite(VideoReward(still, model=model_of(still, finder))(still).reward).all()


@pytest.mark.parametrize("J", [1, 2, 6])
@pytest.mark.parametrize("T", [1, 3, 9])
def test_rewards_are_bounded_numbers_whatever_is_seen(finder, J, T):
    reward = VideoReward(
        episode(*HOME)[:J],
        model=model_of(episode(*HOME)[:J], finder),
        matcher="orca_progress",
        progress_in="path",
        temperature=0.375,
        floor=0.375,
    )
    rng = np.random.default_rng(0)
    seen = {
        "black": np.zeros((T, SIZE, SIZE, 3), np.uint8),
        "constant": np.full((T, SIZE, SIZE, 3), 200, np.uint8),
        "identical": np.stack([scene(*HOME)] * T),
        "noise": rng.integers(0, 256, (T, SIZE, SIZE, 3), np.uint8),
    }
    for name, frames in seen.items():
        paid = reward(frames).reward
        assert paid.shape == (T,), name
        assert (paid >= 0).all(), name
        assert (paid <= 11).all(), name


def test_it_is_an_encoder_of_its_own(finder):
    encoder = make_encoder("pixels")
    view = ObjectView(encoder, finder)
    assert (view.name, view.size, view.dim, view.spatial) == (
        encoder.name,
        encoder.size,
        2 * encoder.dim + BOX_PIXELS,
        encoder.spatial,
    )
    assert view(episode(*HOME)).shape == (6, view.dim)
    (thing,) = finder.things
    others = (
        encoder,
        ObjectView(encoder, finder, 0.75),
        ObjectView(encoder, replace(finder, things=(replace(thing, home=(9, 9)),))),
        ObjectView(encoder, replace(finder, things=(replace(thing, colours=thing.colours / 2),))),
        ObjectView(encoder, replace(finder, things=(thing, thing))),
    )
    assert len({view.fingerprint, *(one.fingerprint for one in others)}) == 6


def test_frames_of_another_size_are_refused(finder):
    with pytest.raises(ValueError, match=r"the frames are 32x32 pixels and the demo's 64x64.*--look whole"):
        finder.find(np.zeros((32, 32, 3), np.uint8))
    with pytest.raises(ValueError, match="the frames are 32x32"):
        Finder.learn(episode(*HOME), [np.zeros((32, 32, 3), np.uint8)] * 5)


@pytest.mark.parametrize("encoder", ["pixels", "efficientnet-lite0-mid"])
def test_live_and_afterwards_the_rewards_are_the_same_bits(encoder):
    """Two things, each elsewhere, in two episodes one after the other."""
    firsts = [two(*place, ball) for place, ball in zip(PLACES, BALLS, strict=True)]
    demo = taken(HOME, BALL_HOME)
    model = ObjectModel(make_encoder(encoder, size=32), Demo(demo), Finder.learn(demo, firsts))
    reward = VideoReward(
        demo,
        model=model,
        context=3,
        direction="past",
        matcher="orca_progress",
        calibrated=True,
        progress_in="path",
        last=1.0,
    )
    live = reward.stream()
    episodes = [taken((30, 30), (50, 33)), taken(PLACES[1], BALLS[2], leaves=(3, 5))]
    for frames in episodes:
        live.reset()
        assert [live.push(frame) for frame in frames] == reward(frames).reward.tolist()
    # What was found belongs to the episode.
    assert [live.push(frame) for frame in episodes[0]] != reward(episodes[0]).reward.tolist()
    streams = [reward.stream(), reward.stream()]
    both = [push_each(streams, pair) for pair in zip(*episodes, strict=True)]
    assert np.transpose(both).tolist() == [reward(frames).reward.tolist() for frames in episodes]


def test_a_frame_that_is_refused_does_not_begin_an_episode(finder):
    reward = VideoReward(episode(*HOME), model=model_of(episode(*HOME), finder), context=1)
    live = reward.stream()
    with pytest.raises(ValueError, match="the frames are 32x32"):
        live.push(np.zeros((32, 32, 3), np.uint8))
    frames = episode(33, 41)
    assert [live.push(frame) for frame in frames] == reward(frames).reward.tolist()


features = arrays(np.float64, st.tuples(st.integers(2, 6), st.just(4)), elements=st.floats(-3, 3))


@given(features, features)
def test_costs_are_the_formula(demo, attempt):
    """Slowly, by hand: two views of two numbers each."""
    J, far = len(demo), lambda a, b: float(np.sqrt(((a - b) ** 2).sum()))
    reach = [max(far(a, b) for a in demo[:, v] for b in demo[:, v]) or 1.0 for v in (slice(0, 2), slice(2, 4))]
    steps = [0.0] + [far(demo[j, :2], demo[j - 1, :2]) for j in range(1, J)]
    near = np.cumsum(steps) / sum(steps) if sum(steps) > 0 else np.arange(1, J + 1) / J
    wanted = np.array(
        [
            [
                (1 - near[j]) * far(row[:2], demo[j, :2]) / reach[0] + near[j] * far(row[2:], demo[j, 2:]) / reach[1]
                for j in range(J)
            ]
            for row in attempt
        ]
    )
    wanted = np.maximum(wanted - wanted[0, 0] * (1 - np.arange(J) / (J - 1)), 0)
    costs = ViewCosts(demo, "euclidean", pixels=(0,))
    got = costs(attempt)
    scale = max(1.0, wanted.max())
    np.testing.assert_allclose(got / scale, wanted / scale, atol=1e-6)
    assert got[0, 0] == 0
    # The demo itself begins where the demo begins.
    np.testing.assert_allclose(costs(demo), costs.between_demo_frames(), atol=1e-6)


def test_features_of_something_else_are_refused():
    with pytest.raises(ValueError, match="the same ObjectView"):
        ViewCosts(np.eye(4))(np.eye(2))
