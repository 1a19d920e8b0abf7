"""The object is found where it stands, and what is seen moves with it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from orcalign.encoders import make_encoder
from orcalign.rewards import Finder, ObjectView, VideoReward
from orcalign.rewards.object_view import ViewCosts

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


@pytest.fixture(scope="module")
def finder():
    found = Finder.learn(scene(*HOME), [scene(*place) for place in PLACES])
    assert found is not None
    return found


def test_the_object_is_found_where_it_stands(finder):
    assert np.abs(np.subtract(finder.home, HOME) - 3.5).max() <= 1
    for place in (*PLACES, HOME, (30, 30)):
        assert finder.shift(scene(*place)) == (place[0] - HOME[0], place[1] - HOME[1])


def test_an_arm_that_has_moved_is_not_taken_for_the_object(finder):
    assert finder.shift(scene(30, 30, arm=(50, 50))) == (4, -4)


def test_whoever_acts_is_not_taken_for_the_object():
    """A large arm that has begun to move, as in the demo's first frame: it would be found right where it is."""

    def with_arm(row, column, down):
        frame = scene(row, column)
        frame[2 + down : 16 + down, 4:22] = (160, 20, 120)
        return frame

    shown = with_arm(*HOME, 4)
    firsts, nexts = ([with_arm(*place, down) for place in PLACES] for down in (0, 5))
    finder = Finder.learn(shown, firsts, nexts)
    looking_at_all = Finder.learn(shown, firsts)
    for place in PLACES:
        assert finder.shift(with_arm(*place, 4)) == (place[0] - HOME[0], place[1] - HOME[1])
    assert any(looking_at_all.shift(with_arm(*place, 4)) == (0, 0) for place in PLACES)


def test_nothing_is_found_where_nothing_stands_elsewhere():
    same = [scene(*HOME)] * 6
    assert Finder.learn(scene(*HOME), same) is None
    noise = np.random.default_rng(0)
    rustle = [
        np.clip(scene(*HOME) + noise.integers(-3, 4, (SIZE, SIZE, 1)), 0, 255).astype(np.uint8)
        for _ in range(6)
    ]
    assert Finder.learn(scene(*HOME), rustle) is None


def test_what_is_not_found_is_taken_to_be_where_the_demo_has_it(finder):
    gone = scene(*HOME)
    gone[10:, 10:] = (150, 120, 90)
    assert finder.shift(gone) == (0, 0)


def test_the_square_moves_with_the_object(finder):
    view = ObjectView(make_encoder("pixels"), finder, share=0.5)
    demo = view.cut(episode(*HOME))
    assert demo.shape == (6, 32, 32, 3)
    for place in PLACES[:4]:
        np.testing.assert_array_equal(view.cut(episode(*place)), demo)


def test_at_the_edge_the_picture_is_drawn_out(finder):
    view = ObjectView(make_encoder("pixels"), finder, share=0.75)
    first = scene(19, 42)
    seen = view.cut(first[None])[0]
    assert seen.shape == (48, 48, 3)
    top, left = (round(at - 24) for at in finder.home)
    np.testing.assert_array_equal(seen[20, -1], first[top - 7 + 20, min(SIZE - 1, left + 8 + 47)])


def test_the_same_movement_beside_an_object_elsewhere_is_preferred(finder):
    """Compared whole, the arm that repeats the demo's path past the object is preferred."""
    encoder = make_encoder("pixels")
    beside = episode(33, 41)
    past = np.stack(
        [scene(33, 41, (HOME[0] + way, HOME[1] - 6)) for way in np.linspace(-12, 2, 6).round().astype(int)]
    )
    whole = VideoReward(episode(*HOME), encoder, context=1, temperature=0.05)
    moving = VideoReward(
        episode(*HOME), ObjectView(encoder, finder), context=1, matcher="orca_progress", calibrated=True
    )
    assert moving.matcher_settings == ({"temperature": 0.375, "floor": 0.375},)
    assert moving(beside).total > moving(past).total
    assert whole(past).total > whole(beside).total


def test_a_demo_in_which_nothing_moves_is_refused_all_the_same(finder):
    still = np.stack([scene(*HOME)] * 5)
    with pytest.raises(ValueError, match="calibration needs two frames that can be told apart"):
        VideoReward(still, ObjectView(make_encoder("pixels"), finder), calibrated=True)
    # Without calibration there is a reward, and it is a number.
    assert np.isfinite(VideoReward(still, ObjectView(make_encoder("pixels"), finder))(still).reward).all()


@pytest.mark.parametrize("J", [1, 2, 6])
@pytest.mark.parametrize("T", [1, 3, 9])
def test_rewards_are_bounded_numbers_whatever_is_seen(finder, J, T):
    reward = VideoReward(
        episode(*HOME)[:J],
        ObjectView(make_encoder("pixels"), finder),
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
        2 * encoder.dim,
        encoder.spatial,
    )
    others = (
        encoder,
        ObjectView(encoder, finder, 0.75),
        ObjectView(encoder, replace(finder, home=(9, 9))),
        ObjectView(encoder, replace(finder, still=~finder.still)),
    )
    assert len({view.fingerprint, *(one.fingerprint for one in others)}) == 5


def test_frames_of_another_size_are_refused(finder):
    with pytest.raises(ValueError, match=r"the frames are 32x32 pixels and the demo's 64x64.*--look whole"):
        finder.shift(np.zeros((32, 32, 3), np.uint8))
    with pytest.raises(ValueError, match="the frames are 32x32"):
        Finder.learn(scene(*HOME), [np.zeros((32, 32, 3), np.uint8)] * 5)


def test_there_is_no_stream_of_it(finder):
    view = ObjectView(make_encoder("pixels"), finder)
    with pytest.raises(ValueError, match="an ObjectView looks at whole episodes"):
        VideoReward(episode(*HOME), view, context=1).stream()


features = arrays(np.float64, st.tuples(st.integers(2, 6), st.just(4)), elements=st.floats(-3, 3))


@given(features, features)
def test_costs_are_the_formula(demo, attempt):
    """Slowly, by hand: two views of two numbers each."""
    J, far = len(demo), lambda a, b: float(np.sqrt(((a - b) ** 2).sum()))
    reach = [
        max(far(a, b) for a in demo[:, v] for b in demo[:, v]) or 1.0 for v in (slice(0, 2), slice(2, 4))
    ]
    steps = [0.0] + [far(demo[j, :2], demo[j - 1, :2]) for j in range(1, J)]
    near = np.cumsum(steps) / sum(steps) if sum(steps) > 0 else np.arange(1, J + 1) / J
    wanted = np.array(
        [
            [
                (1 - near[j]) * far(row[:2], demo[j, :2]) / reach[0]
                + near[j] * far(row[2:], demo[j, 2:]) / reach[1]
                for j in range(J)
            ]
            for row in attempt
        ]
    )
    wanted = np.maximum(wanted - wanted[0, 0] * (1 - np.arange(J) / (J - 1)), 0)
    costs = ViewCosts(demo, "euclidean")
    got = costs(attempt)
    scale = max(1.0, wanted.max())
    np.testing.assert_allclose(got / scale, wanted / scale, atol=1e-6)
    assert got[0, 0] == 0
    # The demo itself begins where the demo begins.
    np.testing.assert_allclose(costs(demo), costs.between_demo_frames(), atol=1e-6)


def test_features_of_something_else_are_refused():
    with pytest.raises(ValueError, match="the same ObjectView"):
        ViewCosts(np.eye(4))(np.eye(2))
