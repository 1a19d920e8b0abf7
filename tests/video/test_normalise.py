"""Camera and light, against scenes that are drawn anew for another camera: nothing here is shared with the package."""

import numpy as np
import pytest

from orcalign.video import Normaliser, normalise
from orcalign.video.alignment import Similarity, align

HEIGHT, WIDTH = 108, 144


def points(camera=(0.0, 0.0, 0.0, 0.0)):
    """Scene coordinates of every pixel for a camera that shifts the picture by (right, down), zooms and turns it."""
    right, down, zoom, turn = camera
    y, x = np.mgrid[:HEIGHT, :WIDTH].astype(float)
    u, v = x - (WIDTH - 1) / 2 - right, y - (HEIGHT - 1) / 2 - down
    c, s = np.cos(np.deg2rad(turn)) / (1 + zoom), np.sin(np.deg2rad(turn)) / (1 + zoom)
    return c * u + s * v, -s * u + c * v


def ground(x, y, seed=0):
    """A textured wall: a sum of waves in random directions."""
    rng = np.random.default_rng(seed)
    grey = np.full(x.shape, 125.0)
    for _ in range(30):
        angle, period, phase = rng.uniform(0, 2 * np.pi), rng.uniform(7, 30), rng.uniform(0, 6)
        grey += 7 * np.sin((np.cos(angle) * x + np.sin(angle) * y) * 2 * np.pi / period + phase)
    return grey


def film(course, camera=(0.0, 0.0, 0.0, 0.0), light=1.0, scene=ground, noise=1.5, seed=0):
    """Frames of a disc that crosses the scene at `course` [T] in [-1, 1]; light is a factor, [H,W] or [T]."""
    x, y = points(camera)
    rng = np.random.default_rng(seed)
    frames = []
    for t, place in enumerate(course):
        picture = scene(x, y)[..., None] * np.array([1.0, 0.9, 0.8])
        picture[np.hypot(x - place * WIDTH / 3, y) < 13] = (190, 40, 40)
        now = light[t] if np.ndim(light) == 1 else light if np.ndim(light) == 0 else light[..., None]
        frames.append(np.clip(picture * now + rng.normal(0, noise, picture.shape), 0, 255))
    return np.array(frames).round().astype(np.uint8)


COURSE = np.linspace(-1, 1, 20)
DEMO = film(COURSE)
FIXED = Normaliser(DEMO)


def error(frames, other=DEMO):
    return np.abs(frames.astype(int) - other)[:, 14:-14, 14:-14].mean()


@pytest.mark.parametrize(
    "camera",
    [(6, 0, 0, 0), (-5, 4, 0, 0), (0, 0, 0.03, 0), (0, 0, -0.04, 0), (0, 0, 0, 2), (8, -3, 0.03, -2), (12, 0, 0, 0)],
)
def test_a_camera_that_moved_is_moved_back(camera):
    correction = FIXED.correction(film(COURSE, camera, seed=1))
    found, (right, down, zoom, turn) = correction.camera, camera
    assert found.right * WIDTH == pytest.approx(right, abs=0.25)
    assert found.down * WIDTH == pytest.approx(down, abs=0.25)
    assert found.zoom == pytest.approx(zoom, abs=0.003)
    assert found.turn == pytest.approx(turn, abs=0.15)
    fixed = FIXED(film(COURSE, camera, seed=1))
    assert error(fixed.frames) < 4 < error(film(COURSE, camera))
    assert 0.75 < fixed.seen.mean() <= 1
    assert all(word.endswith(": corrected") for word in fixed.words)


def test_the_words_name_what_was_done():
    assert FIXED(film(COURSE, seed=1)).words == ()
    assert FIXED(film(COURSE, (6, 0, 0, 0))).words == ("camera moved by 6 px: corrected",)
    assert FIXED(film(COURSE, (0, 0, 0.03, 0))).words == ("zoomed in by 3%: corrected",)
    assert FIXED(film(COURSE, (0, 0, 0, 2))).words == ("camera turned by 2.0 degrees: corrected",)
    assert FIXED(film(COURSE, light=0.7)).words == ("light 30% darker: corrected",)
    flickers = film(COURSE, light=1 + 0.1 * np.sin(np.arange(20) * 1.7))
    assert FIXED(flickers).words == ("light that flickers by 10%: corrected",)


@pytest.mark.parametrize("light", [0.7, 1.2, np.linspace(0.75, 1.2, WIDTH)[None].repeat(HEIGHT, 0)])
def test_light_is_brought_back_and_does_not_pass_for_motion(light):
    dim = film(COURSE, (5, 0, 0, 0), light=light, seed=1)
    correction = FIXED.correction(dim)
    assert correction.camera.right * WIDTH == pytest.approx(5, abs=0.3)
    assert error(correction.apply(dim)[0]) < 5 < error(dim)


def test_tint_and_flicker_are_brought_back():
    warm = (film(COURSE, seed=1) * [1.1, 1.0, 0.85]).clip(0, 255).astype(np.uint8)
    assert error(FIXED(warm).frames) < 3.5 < error(warm)
    flickers = film(COURSE, light=1 + 0.2 * np.sin(np.arange(20)), seed=1)
    assert error(FIXED(flickers).frames) < 4 < error(flickers)


def test_what_was_not_seen_is_the_references_background():
    fixed = FIXED(film(COURSE, (9, 0, 0, 0), seed=1))
    assert not fixed.seen[:, -8:].any()
    assert fixed.seen[:, 2:-12].all()
    still = np.median(DEMO, axis=0)
    assert np.abs(fixed.frames[:, ~fixed.seen] - still[~fixed.seen]).mean() < 2


def test_the_same_frames_stay_the_same_and_twice_is_bit_for_bit_once():
    same = FIXED(DEMO)
    np.testing.assert_array_equal(same.frames, DEMO)
    assert same.seen.all()
    moved = film(COURSE, (5, 2, 0, 1), light=0.8)
    first, again = FIXED(moved), normalise(moved, DEMO)
    np.testing.assert_array_equal(first.frames, again.frames)
    assert first.words == again.words


def test_what_is_known_of_the_first_frames_serves_for_those_to_come():
    moved = film(COURSE, (6, 2, 0, 0), seed=1)
    early = FIXED.correction(moved[:1])
    assert early.camera.right * WIDTH == pytest.approx(6, abs=0.5)
    whole, _ = early.apply(moved)
    one_by_one = np.concatenate([early.apply(frame[None])[0] for frame in moved])
    np.testing.assert_array_equal(whole, one_by_one)


def plain(x, y):
    """A grey wall above a grey table."""
    return np.where(y > 25, 90.0, 140.0)


def test_a_thing_that_stands_elsewhere_is_no_camera_that_moved():
    here, there = film(np.full(8, 0.2), scene=plain), film(np.full(8, 0.4), scene=plain, seed=1)
    fixed = normalise(there, here)
    assert not any("camera" in word for word in fixed.words)
    assert error(fixed.frames, there) < 1
    textured = FIXED.correction(film(np.full(20, 0.5), seed=1))
    assert textured.camera == Similarity()


def test_another_scene_is_left_alone_and_named():
    other = film(COURSE, scene=lambda x, y: ground(x, y, seed=5), seed=1)
    fixed = FIXED(other)
    assert fixed.words == ("another camera or another scene: not corrected",)
    np.testing.assert_array_equal(fixed.frames, other)
    mirrored = FIXED(np.ascontiguousarray(film(COURSE)[:, :, ::-1]))
    assert mirrored.words == fixed.words
    far = FIXED(film(COURSE, (0, 0, 0.6, 0)))
    assert far.words == fixed.words


@pytest.mark.parametrize("grey", [0, 128, 255])
def test_without_texture_nothing_is_moved(grey):
    still = np.full((4, 40, 50, 3), grey, np.uint8)
    for reference, frames in ((still, DEMO), (DEMO, still), (still, still)):
        fixed = normalise(frames, reference)
        assert fixed.seen.all()
        assert fixed.frames.shape == frames.shape


def test_another_size_is_kept():
    large = film(COURSE, (6, 0, 0, 0)).repeat(2, axis=1).repeat(2, axis=2)
    fixed = FIXED(large)
    assert fixed.frames.shape == large.shape
    assert fixed.words == ("camera moved by 12 px: corrected",)


@pytest.mark.parametrize("shape", [(1, 1, 1, 3), (3, 5, 7, 3), (2, 9, 200, 3)])
def test_tiny_pictures_do_no_harm(shape):
    frames = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
    assert normalise(frames, frames[::-1]).frames.shape == shape


def test_frames_of_another_kind_are_refused():
    with pytest.raises(ValueError, match=r"frames are float64 .* uint8 \[T,H,W,3\]"):
        normalise(DEMO / 255, DEMO)
    with pytest.raises(ValueError, match="at least one"):
        normalise(DEMO[:0], DEMO)


def test_similarities_compose():
    one, other = Similarity(0.05, -0.02, 0.03, 0.04), Similarity(-0.01, 0.06, -0.02, 0.01)
    both = other.after(one)
    assert both.after(one.inverse()).furthest(100, 80) != 0
    rest = other.inverse().after(both).after(one.inverse())
    assert rest.furthest(100, 80) == pytest.approx(0, abs=1e-9)
    assert Similarity(0, 0, np.cos(0.1) - 1, np.sin(0.1)).turn == pytest.approx(np.degrees(0.1))


def test_agreement_is_a_share():
    x, y = points()
    for seed in range(3):
        found = align(ground(x, y).astype(np.float32), ground(x, y, seed).astype(np.float32))
        assert 0 <= found.agreement <= 1
        assert found.trusted == (seed == 0)
