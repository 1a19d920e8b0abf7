"""What holds for all of them: batches, dtypes, memory orders, bad input, causality, threads."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orcalign.matching import MATCHERS, Match, matcher, threads

NAMES = list(MATCHERS)


def arrays_of(match):
    return {field.name: getattr(match, field.name) for field in dataclasses.fields(match)}


@pytest.mark.parametrize("name", NAMES)
def test_a_batch_is_its_episodes(name, monkeypatch):
    rng = np.random.default_rng(0)
    cost = rng.random((9, 14, 10))
    lengths = rng.integers(3, 15, 9)
    for workers, least in (("1", 10**9), ("2", 1)):
        monkeypatch.setenv("ORCALIGN_THREADS", workers)
        monkeypatch.setattr(threads, "MIN_WORK", least)
        batch = MATCHERS[name](cost, lengths=lengths)
        for b, length in enumerate(lengths):
            one = MATCHERS[name](cost[b, :length])
            for key, value in arrays_of(one).items():
                whole = arrays_of(batch)[key][b]
                if key == "path":
                    np.testing.assert_array_equal(whole[: len(value)], value)
                    assert (whole[len(value) :] == -1).all()
                elif value.ndim == 0:
                    assert whole == value
                else:
                    np.testing.assert_array_equal(whole[:length], value)
                    assert (whole[length:] == (-1 if key == "subgoal" else 0)).all()


@pytest.mark.parametrize("name", NAMES)
def test_rows_beyond_an_episode_are_not_read(name):
    cost = np.random.default_rng(0).random((2, 6, 4))
    clean = MATCHERS[name](cost, lengths=[6, 3])
    cost[1, 3:] = np.nan
    dirty = MATCHERS[name](cost, lengths=[6, 3])
    np.testing.assert_array_equal(clean.reward, dirty.reward)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtype_in_is_dtype_out_in_any_memory_order(name, dtype):
    cost = np.random.default_rng(0).random((12, 7)).astype(dtype)
    wide = np.zeros((24, 14), dtype)
    wide[::2, ::2] = cost
    expected = MATCHERS[name](cost)
    assert expected.reward.dtype == expected.assignment.dtype == dtype
    for view in (
        np.asfortranarray(cost),
        wide[::2, ::2],
        cost[::-1][::-1],
        cost.tolist() if dtype == np.float64 else cost,
    ):
        before = np.array(view)
        np.testing.assert_array_equal(MATCHERS[name](view).reward, expected.reward)
        np.testing.assert_array_equal(np.array(view), before)  # the input is left alone


@pytest.mark.parametrize("name", NAMES)
def test_big_endian_and_integers_are_taken_by_value(name):
    cost = np.random.default_rng(0).integers(0, 5, (6, 4))
    expected = MATCHERS[name](cost.astype(np.float64)).reward
    np.testing.assert_array_equal(MATCHERS[name](cost).reward, expected)


@pytest.mark.parametrize("name", NAMES)
def test_single_precision_is_near_double(name):
    cost = np.random.default_rng(0).random((20, 9)).astype(np.float32)
    single, double = MATCHERS[name](cost), MATCHERS[name](cost.astype(np.float64))
    np.testing.assert_allclose(single.reward, double.reward, rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -1.0, -1e-300])
def test_bad_costs_are_named(name, value):
    cost = np.ones((4, 3))
    cost[2, 1] = value
    with pytest.raises(ValueError, match=r"cost\[2, 1\] is .*; costs must be finite and not negative"):
        MATCHERS[name](cost)
    with pytest.raises(ValueError, match=r"cost\[1, 2, 1\] is"):
        MATCHERS[name](np.stack([np.ones((4, 3)), cost]))


@pytest.mark.parametrize("name", NAMES)
def test_negative_zero_is_zero(name):
    assert np.isfinite(MATCHERS[name](np.full((3, 3), -0.0)).reward).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("cost", "message"),
    [
        (np.ones(3), r"shape \(3,\); it must be \[T, J\]"),
        (np.ones((2, 2, 2, 2)), r"shape \(2, 2, 2, 2\)"),
        (np.ones((0, 3)), r"shape \(0, 3\); every axis"),
        (np.ones((3, 0)), r"every axis"),
        (1.0, r"shape \(\)"),
        ([["a", "b"]], "dtype <U1; it must be float32 or float64"),
        ([[None]], "dtype object"),
        (np.ones((2, 2), complex), "dtype complex128"),
        (np.ones((2, 2), np.float16), "dtype float16"),
        (np.ones((2, 2), bool), "dtype bool"),
        ([[1.0, 2.0], [1.0]], "rectangular"),
    ],
)
def test_bad_shapes_and_types_are_named(name, cost, message):
    with pytest.raises(ValueError, match=message):
        MATCHERS[name](cost)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("lengths", "message"),
    [
        ([1], r"lengths has shape \(1,\)"),
        ([0, 1], r"lengths\[0\] is 0; it must be between 1 and T = 3"),
        ([1, 4], r"lengths\[1\] is 4"),
        ([1.5, 2.0], "dtype float64"),
    ],
)
def test_bad_lengths_are_named(name, lengths, message):
    with pytest.raises(ValueError, match=message):
        MATCHERS[name](np.ones((2, 3, 2)), lengths=lengths)


def test_lengths_go_with_batches():
    with pytest.raises(ValueError, match="lengths goes with a batch"):
        MATCHERS["orca"](np.ones((2, 3)), lengths=[2])


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("orca", {"temperature": 0.0}, "temperature is 0.0; it must be a finite number above 0"),
        ("orca", {"temperature": -1}, "temperature is -1"),
        ("orca", {"temperature": np.inf}, "temperature is inf"),
        ("orca", {"temperature": "1"}, "temperature is '1'"),
        ("orca", {"temperature": True}, "temperature is True"),
        ("orca", {"floor": -0.1}, "floor is -0.1; it must be a finite number of at least 0"),
        ("orca", {"floor": np.nan}, "floor is nan"),
        ("orca_log", {"temperature": 0}, "temperature is 0"),
        ("orca_log", {"floor": -1}, "floor is -1"),
        ("orca_progress", {"temperature": 0}, "temperature is 0"),
        ("orca_progress", {"weight": -1}, "weight is -1; it must be a finite number of at least 0"),
        ("bottleneck", {"temperature": 0}, "temperature is 0"),
        ("bottleneck", {"floor": -1}, "floor is -1"),
        ("ot", {"epsilon": -1}, "epsilon is -1"),
        ("ot", {"epsilon": np.nan}, "epsilon is nan"),
        ("ot", {"tolerance": 0}, "tolerance is 0"),
        ("ot", {"max_sweeps": 0}, "max_sweeps is 0; it must be a whole number of at least 1"),
        ("temporal_ot", {"window": -1}, "window is -1"),
        ("temporal_ot", {"window": 1.5}, "window is 1.5"),
        ("temporal_ot", {"band": "round"}, "band is 'round'; Known: linear, blocks"),
        ("soft_dtw", {"gamma": 0}, "gamma is 0"),
        ("threshold", {"temperature": 0}, "temperature is 0"),
    ],
)
def test_bad_settings_are_named(name, settings, message):
    with pytest.raises(ValueError, match=message):
        MATCHERS[name](np.ones((3, 3)), **settings)


@pytest.mark.parametrize("name", NAMES)
def test_causal_means_that_the_future_does_not_matter(name):
    rng = np.random.default_rng(3)
    differs = False
    for _ in range(20):
        cost = rng.random((12, 5))
        changed = cost.copy()
        changed[8:] = rng.random((4, 5)) * 3
        whole, part = MATCHERS[name](cost).reward[:8], MATCHERS[name](changed).reward[:8]
        shorter = MATCHERS[name](cost[:8]).reward
        same = np.array_equal(whole, part) and np.array_equal(whole, shorter)
        differs |= not same
    assert differs != MATCHERS[name].causal


@pytest.mark.parametrize("name", NAMES)
def test_one_frame_each(name):
    match = MATCHERS[name](np.array([[0.5]]))
    assert isinstance(match, Match)
    assert match.reward.shape == (1,)
    assert match.assignment.shape == (1, 1)


def test_a_match_is_frozen():
    match = MATCHERS["orca"](np.ones((2, 2)))
    with pytest.raises(dataclasses.FrozenInstanceError):
        match.reward = np.zeros(2)


def test_names_resolve_and_unknown_ones_list_the_known():
    for name in NAMES:
        assert matcher(name).function.__name__ == name
    with pytest.raises(
        ValueError, match=r"did you mean 'temporal_ot'.*Known: orca, orca_log, orca_progress, bottleneck, ot"
    ):
        matcher("temporalot")
    with pytest.raises(ValueError, match="no matcher is called 'zzz'; Known"):
        matcher("zzz")


@settings(max_examples=20)
@given(st.integers(1, 50), st.integers(1, 8))
def test_chunks_cover_everything_once(count, workers):
    from unittest import mock

    with mock.patch.object(threads, "cores", return_value=workers):
        chunks = threads.for_chunks(count, 10**9, lambda start, stop: (start, stop))
    assert [i for start, stop in chunks for i in range(start, stop)] == list(range(count))


def test_threads_survive_a_fork():
    """A trainer forks after the first batch; the child must not wait for threads that it does not have."""
    import os
    import subprocess
    import sys

    code = (
        "import os, numpy as np; from orcalign.matching import orca\n"
        "cost = np.random.default_rng(0).random((64, 63, 40)); expected = orca(cost).reward\n"
        "child = os.fork()\n"
        "ok = np.array_equal(orca(cost).reward, expected)\n"
        "if child == 0: os._exit(0 if ok else 1)\n"
        "assert ok and os.waitpid(child, 0)[1] == 0\n"
    )
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        check=True,
        timeout=60,
        env={**os.environ, "ORCALIGN_THREADS": "2"},
    )
