"""Warps: laws of composition, inverses, parsing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orcalign.video import Warp, compose, identity, keep, pause, slow_down, speed_up


@st.composite
def warps(draw, length=None, least=1):
    size = draw(st.integers(1, 30)) if length is None else length
    indices = draw(st.lists(st.integers(0, size - 1), min_size=least, max_size=30))
    return Warp(tuple(indices), size)


@st.composite
def chains(draw):
    first = draw(warps())
    second = draw(warps(len(first)))
    return first, second, draw(warps(len(second)))


@given(chains())
def test_composition_is_associative(chain):
    a, b, c = chain
    assert compose(compose(a, b), c) == compose(a, compose(b, c))


@given(chains())
def test_composition_is_applying_one_after_the_other(chain):
    a, b, _ = chain
    frames = np.random.default_rng(0).integers(0, 9, (a.source_length, 2))
    np.testing.assert_array_equal(compose(a, b).apply(frames), b.apply(a.apply(frames)))


@given(warps())
def test_identity_changes_nothing(warp):
    assert compose(identity(warp.source_length), warp) == warp
    assert compose(warp, identity(len(warp))) == warp


@given(warps())
def test_inverse_is_the_first_position_that_shows_a_frame(warp):
    inverse = warp.inverse()
    assert inverse.shape == (warp.source_length,)
    for frame, position in enumerate(inverse):
        expected = warp.indices.index(frame) if frame in warp.indices else -1
        assert position == expected


@given(warps())
def test_nearest_inverse_is_the_closest_shown_frame(warp):
    shown = sorted(set(warp.indices))
    for frame, position in enumerate(warp.inverse(nearest=True)):
        closest = min(shown, key=lambda s: (abs(s - frame), s))
        assert position == warp.indices.index(closest)


@given(st.permutations(range(12)))
def test_inverse_of_a_permutation_undoes_it(order):
    warp = Warp(tuple(order), 12)
    assert compose(warp, Warp(tuple(warp.inverse()), 12)) == identity(12)


@given(warps())
def test_keep_list_round_trip(warp):
    assert keep(warp.keep_list(), warp.source_length) == warp


@given(st.integers(1, 40), st.integers(1, 12))
def test_speed_up_undoes_slow_down(length, k):
    slow = slow_down(length, k)
    assert len(slow) == length * k
    assert compose(slow, speed_up(len(slow), k, keep_last=False)) == identity(length)


@given(st.integers(1, 40), st.integers(1, 12), st.data())
def test_speeds_change_only_their_segment(length, k, data):
    start = data.draw(st.integers(0, length - 1))
    stop = data.draw(st.integers(start + 1, length))
    fast, slow = speed_up(length, k, (start, stop)), slow_down(length, k, (start, stop))
    for warp in (fast, slow):
        assert list(warp.indices) == sorted(warp.indices)
        assert [i for i in warp if not start <= i < stop] == [*range(start), *range(stop, length)]
        assert warp.indices[-1] == length - 1
    assert len(slow) == length + (k - 1) * (stop - start)


@given(st.integers(1, 40), st.integers(0, 9), st.data())
def test_pause_holds_one_frame(length, frames, data):
    at = data.draw(st.integers(0, length - 1))
    indices = pause(length, at, frames).indices
    assert [indices.count(i) for i in range(length)] == [1 + frames * (i == at) for i in range(length)]
    assert list(indices) == sorted(indices)


def test_apply_keeps_the_other_axes():
    frames = np.arange(2 * 3 * 4).reshape(2, 3, 4)
    np.testing.assert_array_equal(Warp((1, 1, 0), 2).apply(frames), frames[[1, 1, 0]])


def test_spaces_and_order_are_free():
    assert keep(" 3 , 0 - 2,3", 4).indices == (3, 0, 1, 2, 3)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "'' in keep-list ''"),
        ("0-2,,5", "'' in keep-list '0-2,,5'"),
        ("0-2,x", "'x'"),
        ("1-2-3", "'1-2-3'"),
        ("-1", "'-1'"),
        ("0.5", "'0.5'"),
        ("٣", "'٣'"),
        ("5-3", "'5-3'.*backwards.*3-5"),
        ("0-10", "Frame 10 .*10 frames; use 0 to 9"),
        ("12", "Frame 12 .*10 frames"),
        ("0-999999999", "Frame 999999999"),
        ("9" * 40, "neither"),
    ],
)
def test_parse_errors_name_the_piece(text, words):
    with pytest.raises(ValueError, match=words):
        keep(text, 10)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Warp((), 3), "at least one frame"),
        (lambda: Warp((0, 3), 3), "index 3 .* 3 frames; use 0 to 2"),
        (lambda: Warp((0, -1), 3), "index is -1"),
        (lambda: Warp((0, 1.5), 3), "1.5"),
        (lambda: Warp((0, True), 3), "True"),
        (lambda: Warp((0,), 0), "length is 0"),
        (lambda: identity(0), "length is 0"),
        (lambda: speed_up(5, 0), "k is 0"),
        (lambda: speed_up(5, 2, (3, 3)), r"segment=\(3, 3\)"),
        (lambda: slow_down(5, 2, (0, 6)), r"segment=\(0, 6\)"),
        (lambda: pause(5, 5, 1), "at is 5"),
        (lambda: pause(5, 0, -1), "frames is -1"),
        (lambda: compose(identity(3), identity(4)), "maps 4 frames, the first one gives 3"),
        (lambda: identity(3).apply(np.zeros(4)), "3 frames, the array has 4"),
        (lambda: identity(3).apply(3), "no axis"),
    ],
)
def test_errors(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_numpy_indices_are_fine():
    assert Warp(np.array([0, 2]), np.int64(3)) == Warp((0, 2), 3)  # type: ignore[arg-type]
