"""What of the frames changes is found, and another background is told from the same one under another light."""

from __future__ import annotations

import numpy as np
import pytest

from orcalign.costs.predicted.scenery import Scenery


def moving(boxes, height=100, width=100, noise=0):
    """Frames [N,H,W,3] of textured background with a white square of 6 at each (y, x)."""
    rng = np.random.default_rng(0)
    picture = rng.integers(60, 160, (height // 10, width // 10, 3)).repeat(10, 0).repeat(10, 1)
    frames = np.repeat(picture[None], len(boxes), 0)
    for frame, (y, x) in zip(frames, boxes, strict=True):
        frame[y : y + 6, x : x + 6] = 255
    return (frames + rng.integers(-noise, noise + 1, frames.shape)).clip(0, 255).astype(np.uint8)


def corners(top, bottom, left, right, count=40):
    return [[(top, left), (bottom - 6, right - 6), (top, right - 6), (bottom - 6, left)][k % 4] for k in range(count)]


def test_the_crop_is_a_square_about_what_changes():
    scenery = Scenery.of(moving(corners(40, 60, 20, 70), noise=3))
    top, bottom, left, right = scenery.crop
    assert bottom - top == right - left == 56  # 50, and 6% on each side
    assert top <= 40
    assert bottom >= 60
    assert left == 17
    assert scenery.cut(moving(corners(40, 60, 20, 70))).shape == (40, 56, 56, 3)


@pytest.mark.parametrize(
    ("ends", "size"),
    [((5, 60, 5, 90), (100, 100)), ((5, 90, 20, 60), (100, 100)), ((10, 60, 10, 140), (100, 160))],
    ids=["wide", "high", "no square fits"],
)
def test_everything_is_looked_at_where_a_crop_spares_little(ends, size):
    assert Scenery.of(moving(corners(*ends), *size)).crop == (0, size[0], 0, size[1])


def test_the_crop_stays_in_the_picture():
    assert Scenery.of(moving(corners(0, 50, 50, 100))).crop == (0, 56, 44, 100)


def test_one_flaw_and_a_picture_without_change_move_nothing():
    frames = moving(corners(40, 60, 20, 70))
    frames[3, 0, 0] = 255
    assert Scenery.of(frames).crop == Scenery.of(moving(corners(40, 60, 20, 70))).crop
    assert Scenery.of(moving([(10, 10)] * 30)).crop == (0, 100, 0, 100)


def test_another_light_is_the_same_view_and_a_turned_camera_is_not():
    scenery = Scenery.of(moving(corners(40, 60, 20, 70), noise=3))
    film = moving([(30, 20 + k) for k in range(30)], noise=3)
    same = scenery.difference(film)
    assert same < 0.3
    assert scenery.difference((film * 0.7).astype(np.uint8)) < 0.5
    assert scenery.difference((film * 0.8 + 40).astype(np.uint8)) < 0.5
    turned = [scenery.difference(np.roll(film, by, 2)) for by in (2, 4, 8)]
    assert turned[0] > 0.7
    assert turned == sorted(turned)
    assert turned[1] > 1.5
    assert scenery.difference(film[:, ::-1]) > 3


def test_without_features_nothing_is_said():
    plain = np.full((30, 40, 40, 3), 200, np.uint8)
    assert Scenery.of(plain).difference(plain[:4]) == 0


def test_state_comes_back():
    scenery = Scenery.of(moving(corners(40, 60, 20, 70)))
    back = Scenery.from_state(*scenery.state())
    assert (back.size, back.crop) == (scenery.size, scenery.crop)
    np.testing.assert_array_equal(back.background, scenery.background)
    np.testing.assert_array_equal(back.static, scenery.static)


def test_of_large_pictures_what_differs_at_resets_is_looked_at():
    """A long arm moves everywhere, and things are to be found in a corner."""
    rng = np.random.default_rng(0)
    starts = np.zeros((20, 400, 400, 3), np.uint8)
    for frame in starts:
        y, x = rng.integers(20, 60), rng.integers(300, 360)
        frame[y : y + 8, x : x + 8] = 255
    play = starts.repeat(2, axis=0)
    for k, frame in enumerate(play):
        frame[:, 20 * (k % 20) : 20 * (k % 20) + 20] = 90
    top, bottom, left, right = Scenery.of(play, starts).crop
    assert bottom - top == right - left
    assert 128 <= bottom - top < 170
    assert top == 0
    assert left < 290 < 370 < right
    assert Scenery.of(play).crop == (0, 400, 0, 400), "without them the arm's is all"
    assert Scenery.of(play, play).crop == (0, 400, 0, 400)
    small = starts[:, ::4, ::4]
    assert Scenery.of(small, small).crop == Scenery.of(small).crop, "no closer than the network sees"
