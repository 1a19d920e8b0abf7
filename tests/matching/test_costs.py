"""Distances, context, calibration, pooling."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from matching.cost_strategies import cost_matrices
from reference import matching as reference
from scipy.spatial import distance as scipy_distance

from orcalign.matching import (
    MATCHERS,
    Match,
    calibrate,
    context,
    cosine,
    euclidean,
    final_frame,
    orca,
    orca_progress,
    pool,
    pool_rewards,
    require_pool,
)
from orcalign.matching.costs import distance as distance_named


@given(
    hnp.arrays(np.float64, (5, 3), elements=st.floats(-1e3, 1e3)),
    hnp.arrays(np.float64, (4, 3), elements=st.floats(-1e3, 1e3)),
)
def test_cosine_is_in_bounds_and_right(x, y):
    d = cosine(x, y)
    assert (d >= 0).all()
    assert (d <= 2).all()
    for t, j in np.ndindex(d.shape):
        if np.abs(x[t]).max() > 1e-100 and np.abs(y[j]).max() > 1e-100:
            assert d[t, j] == pytest.approx(
                scipy_distance.cosine(x[t] / np.abs(x[t]).max(), y[j] / np.abs(y[j]).max()), abs=1e-12
            )


def test_cosine_of_parallel_vectors_never_leaves_the_bounds():
    rng = np.random.default_rng(0)
    for dtype in (np.float32, np.float64):
        x = rng.normal(size=(50, 300)).astype(dtype)
        assert cosine(x, x * 3).min() >= 0
        assert cosine(x, -x).max() <= 2
        assert cosine(x, x).dtype == dtype


def test_cosine_of_zero_and_huge_vectors():
    x = np.array([[0.0, 0.0], [1e200, 1e200], [1e-200, 0.0]])
    np.testing.assert_allclose(cosine(x, x), [[0, 1, 1], [1, 0, 1 - 0.5**0.5], [1, 1 - 0.5**0.5, 0]], atol=1e-15)


def test_batches_of_features():
    rng = np.random.default_rng(0)
    x, y = rng.random((3, 5, 8)), rng.random((4, 8))
    for metric in (cosine, euclidean):
        both = metric(x, y)
        assert both.shape == (3, 5, 4)
        for b in range(3):
            np.testing.assert_allclose(both[b], metric(x[b], y), rtol=1e-12)


def test_euclidean_is_exact_at_zero():
    x = np.random.default_rng(0).normal(size=(6, 1000)) * 1e6
    assert np.diag(euclidean(x, x)).tolist() == [0] * 6
    assert euclidean(x.astype(np.float32), x.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (np.ones((2, 3)), np.ones((2, 4)), "size 3 and y of size 4"),
        (np.ones(3), np.ones((2, 3)), r"x has shape \(3,\)"),
        (np.ones((2, 3)), np.ones((2, 2, 3)), r"y has shape \(2, 2, 3\)"),
        (np.full((2, 3), np.nan), np.ones((2, 3)), r"x\[0, 0\] is nan"),
        (np.ones((2, 3)), np.array([[1.0, 2.0, np.inf]]), r"y\[0, 2\] is inf"),
        (np.ones((0, 3)), np.ones((2, 3)), "at least one"),
    ],
)
def test_bad_features_are_named(x, y, message):
    for metric in (cosine, euclidean):
        with pytest.raises(ValueError, match=message):
            metric(x, y)


@given(cost_matrices(max_side=9), st.integers(1, 12), st.sampled_from(["future", "past"]))
def test_context_against_the_loop(cost, window, direction):
    expected = reference.context(cost, window, direction == "future")
    np.testing.assert_allclose(context(cost, window, direction), expected, rtol=1e-12, atol=1e-12)


def test_context_of_a_batch_is_held_at_each_episodes_end():
    cost = np.random.default_rng(0).random((3, 9, 5))
    lengths = [9, 4, 1]
    batch = context(cost, 3, lengths=lengths)
    for b, length in enumerate(lengths):
        np.testing.assert_array_equal(batch[b, :length], context(cost[b, :length], 3))


@given(cost_matrices(max_side=12), st.integers(1, 5))
def test_context_of_the_past_keeps_the_reward_causal(cost, window):
    half = (len(cost) + 1) // 2
    whole = orca(context(cost, window, "past")).reward[:half]
    np.testing.assert_array_equal(whole, orca(context(cost[:half], window, "past")).reward)


def test_context_of_the_future_looks_window_minus_one_frames_ahead():
    cost = np.random.default_rng(0).random((10, 6))
    changed = cost.copy()
    changed[7] += 1
    differs = (context(cost, 3) != context(changed, 3)).any(axis=1)
    assert differs.tolist() == [False] * 5 + [True] * 3 + [False] * 2


def test_bad_context():
    with pytest.raises(ValueError, match="window is 0"):
        context(np.ones((2, 2)), 0)
    with pytest.raises(ValueError, match="direction is 'back'"):
        context(np.ones((2, 2)), 2, "back")


def curve(times):
    """A smooth path through feature space, as a function of time in [0, 1]."""
    t = np.asarray(times)[:, None]
    return np.concatenate([np.cos(2 * t * np.arange(1, 6)), np.sin(3 * t * np.arange(1, 6)) + 2], axis=1)


@pytest.mark.parametrize("distance", ["cosine", "euclidean"])
def test_calibration_ignores_repeated_frames_exactly(distance):
    frames = curve(np.linspace(0, 1, 20))
    repeated = np.repeat(frames, np.random.default_rng(0).integers(1, 6, 20), axis=0)
    assert calibrate(repeated, distance) == pytest.approx(calibrate(frames, distance), rel=1e-9)


@pytest.mark.parametrize("distance", ["cosine", "euclidean"])
@pytest.mark.parametrize("frames", [10, 15, 40, 100, 200])
def test_calibration_hardly_depends_on_the_frame_rate(distance, frames):
    reference_rate = calibrate(curve(np.linspace(0, 1, 25)), distance)
    assert calibrate(curve(np.linspace(0, 1, frames)), distance) == pytest.approx(reference_rate, rel=0.1)


def test_calibration_hardly_depends_on_the_timing():
    even = np.linspace(0, 1, 60)
    assert calibrate(curve(even**3)) == pytest.approx(calibrate(curve(even)), rel=0.01)


def test_calibration_scales_with_the_distance():
    frames = curve(np.linspace(0, 1, 20))
    one, ten = calibrate(frames, "euclidean"), calibrate(10 * frames, "euclidean")
    assert ten == pytest.approx((10 * one.temperature, 10 * one.floor))


def test_calibrated_occupancy_tells_moments_apart():
    """A neighbouring frame counts as reached, one half the reach off as good as not."""
    frames = curve(np.linspace(0, 1, 60))
    temperature, floor = calibrate(frames)
    pairs = cosine(frames, frames)
    P = np.exp(-np.maximum(0, pairs - floor) / temperature)
    assert np.diag(P, 1).min() == 1
    assert P[pairs > pairs.max() / 2].max() == pytest.approx(np.exp(-3), abs=0.003)


@pytest.mark.parametrize(("off", "scale"), [(0.0, 1.0), (0.9, 1.0), (1.3, 1.3), (1.9, 1.9), (50.0, 2.0)])
def test_rollouts_raise_the_floor_to_what_attempts_reach_but_not_beyond_a_quarter(off, scale):
    demo = np.arange(9.0)[:, None]  # reach 8, an eighth is 1
    rollouts = [np.full((5, 9), near) for near in (off / 2, off, 3 * off)]  # the middle one counts
    wild = np.concatenate([np.full((3, 9), off), np.full((2, 9), 100.0)])  # and half of its frames
    for costs in (rollouts, [wild]):
        assert calibrate(demo, "euclidean", costs) == pytest.approx((scale, scale))


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        (np.ones((4, 3)), r"shape \(4, 3\); they must be \[T, J\] with J = 9"),
        (np.ones((1, 4, 9)), "one by one"),
        (np.full((4, 9), np.nan), "finite"),
    ],
)
def test_bad_rollouts_are_named(cost, message):
    with pytest.raises(ValueError, match=message):
        calibrate(np.arange(9.0)[:, None], "euclidean", [cost])


@given(st.integers(2, 12), st.data(), st.sampled_from(["cosine", "euclidean"]))
def test_calibration_is_above_0_or_refused(J, data, distance):
    values = data.draw(st.lists(st.integers(-2, 2).map(float), min_size=2 * J, max_size=2 * J))
    frames = np.array(values).reshape(J, 2)
    try:
        found = calibrate(frames, distance)
    except ValueError:
        assert (distance_named(distance)(frames, frames) < 1e-5).all()
    else:
        assert found.floor == found.temperature > 0


def test_the_size_of_the_features_does_not_matter():
    """What counts as the same is relative to the features."""
    frames = curve(np.linspace(0, 1, 20))
    for size in (1e-9, 1e9):
        assert calibrate(size * frames, "euclidean").floor == pytest.approx(size * calibrate(frames, "euclidean").floor)
    with pytest.raises(ValueError, match="all the same"):
        calibrate(1e9 * frames[[0, 0, 0]] + np.array([[0.0], [1e-3], [0.0]]), "euclidean")


@pytest.mark.parametrize("frames", [np.ones((5, 3)), np.ones((1, 3)), np.zeros((4, 2))])
def test_calibration_needs_frames_that_differ(frames):
    with pytest.raises(ValueError, match="all the same in these features"):
        calibrate(frames)


def test_calibration_with_an_unknown_distance():
    with pytest.raises(ValueError, match="distance is 'l1'; Known: cosine, euclidean"):
        calibrate(np.eye(3), "l1")


def test_pooling_by_hand():
    a = final_frame(np.array([[1.0], [5.0], [1.0]]))
    b = final_frame(np.array([[9.0, 2.0], [9.0, 2.0], [9.0, 2.0]]))
    by_step = pool([a, b])
    assert by_step.reward.tolist() == [-1, -2, -1]
    assert by_step.demo.tolist() == [0, 1, 0]
    assert by_step.best_demo == 1
    assert by_step.best is b
    whole = pool([a, b], "best")
    assert whole.reward.tolist() == [-2, -2, -2]
    assert whole.demo.tolist() == [1, 1, 1]


@given(st.lists(cost_matrices(max_side=6, min_side=3).map(lambda c: c[:3]), min_size=1, max_size=4))
def test_pooled_reward_is_the_best_of_all(costs):
    matches = [orca(cost) for cost in costs]
    pooled = pool(matches)
    assert (pooled.reward == np.max([m.reward for m in matches], axis=0)).all()
    assert pooled.reward.sum() >= pool(matches, "best").reward.sum()


@pytest.mark.parametrize(
    ("matches", "how", "message"),
    [
        ([], "max", "matches is empty"),
        ([orca(np.ones((2, 2)))], "mean", "how is 'mean'"),
        ([orca(np.ones((2, 2))), orca(np.ones((3, 2)))], "max", "one and the same episode"),
        ([orca(np.ones((1, 2, 2)))], "max", "a batch with pool_rewards"),
    ],
)
def test_bad_pools_are_named(matches, how, message):
    with pytest.raises(ValueError, match=message):
        pool(matches, how)


@settings(max_examples=50)
@given(st.integers(1, 4), st.integers(1, 5), st.integers(0, 2**32 - 1), st.sampled_from(["max", "best"]))
def test_a_batch_is_pooled_as_its_episodes(K, B, seed, how):
    rewards = np.random.default_rng(seed).normal(size=(K, B, 7))
    reward, demo, best = pool_rewards(rewards, how)
    assert (reward.shape, demo.shape, best.shape) == ((B, 7), (B, 7), (B,))
    for b in range(B):
        one = pool([Match(rewards[k, b], np.zeros((7, 1))) for k in range(K)], how)
        np.testing.assert_array_equal(reward[b], one.reward)
        np.testing.assert_array_equal(demo[b], one.demo)
        assert best[b] == one.best_demo


def test_progress_is_not_paid_once_per_demo():
    """Two demos show the same way at other moments; a learner that goes it once makes progress on one, then on the
    other. The highest increment at every step pays both."""
    learner = np.arange(0.0, 20.5)[:, None]
    matches = [orca_progress(euclidean(learner, np.arange(start, 20.5, 2)[:, None]), 0.05) for start in (0.0, 1.0)]
    paid = {how: pool(matches, how).reward.sum() for how in ("max", "best")}
    assert paid["best"] == max(match.reward.sum() for match in matches) == pytest.approx(11)
    assert paid["max"] > 1.9 * paid["best"]
    assert pool(matches, require_pool("orca_progress")).reward.sum() == paid["best"]
    with pytest.raises(ValueError, match=r"would pay the same progress once per demo; use pool='best'\."):
        require_pool("orca_progress", "max")


def test_every_matcher_says_how_it_may_be_pooled():
    for name, one in MATCHERS.items():
        assert one.pools == (("best",) if name == "orca_progress" else ("max", "best"))
        assert require_pool(name) == one.pools[0]
        assert require_pool(name, "best") == "best"
        with pytest.raises(ValueError, match="pool is 'mean'; Known: auto, max, best"):
            require_pool(name, "mean")
