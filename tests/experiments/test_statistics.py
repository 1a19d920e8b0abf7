"""Statistics against the library that defined them, and against SciPy's bootstrap."""

import numpy as np
import pytest
from scipy import stats

from orcalign.experiments.statistics import (
    interquartile_mean,
    mean_and_error,
    probability_of_improvement,
    profile,
    stratified_bootstrap,
    with_interval,
)

# The part of rliable that needs no `arch`, which does not import with the pandas of today.
metrics = pytest.importorskip("rliable.metrics")
RNG = np.random.default_rng(0)


@pytest.mark.parametrize("shape", [(1, 1), (3, 10), (2, 3), (5, 7)])
def test_interquartile_mean(shape):
    scores = RNG.normal(size=shape)
    assert interquartile_mean(scores) == pytest.approx(metrics.aggregate_iqm(scores))


@pytest.mark.parametrize("runs", [(3, 3), (2, 5)])
def test_probability_of_improvement(runs):
    ours = RNG.integers(0, 4, (runs[0], 6)).astype(float)
    others = RNG.integers(0, 4, (runs[1], 6)).astype(float)
    expected = metrics.probability_of_improvement(ours, others)
    assert probability_of_improvement(ours, others) == pytest.approx(expected)


def test_the_bootstrap_of_one_task_is_scipys():
    scores = RNG.normal(size=(12, 1))
    expected = stats.bootstrap((scores[:, 0],), np.mean, n_resamples=20_000, method="percentile", rng=1)
    found = stratified_bootstrap(np.mean, scores, repeats=20_000)
    assert found == pytest.approx(expected.confidence_interval, abs=0.02)


def test_the_bootstrap_draws_within_tasks():
    """Tasks that differ widely, runs that do not: drawn across tasks, the mean would move by tens."""
    scores = np.array([[0.0, 100.0], [0.1, 100.1]])
    low, high = stratified_bootstrap(np.mean, scores)
    assert 50.0 <= low < high <= 50.1


def test_the_bootstrap_draws_for_each_task_anew():
    """Were whole runs drawn, the mean of these would often be 0 or 1."""
    low, high = stratified_bootstrap(np.mean, np.array([[0.0] * 60, [1.0] * 60]))
    assert 0.3 < low < high < 0.7


def test_the_same_numbers_every_time():
    scores = RNG.normal(size=(3, 4))
    assert with_interval(interquartile_mean, scores) == with_interval(interquartile_mean, scores)


def test_profiles_fall():
    scores = RNG.random((3, 5))
    found = profile(scores, np.linspace(-0.1, 1.1, 20))
    assert found[0] == 1
    assert found[-1] == 0
    assert (np.diff(found) <= 0).all()


def test_one_value_has_no_error():
    assert mean_and_error([2.0]) == (2.0, None)
    assert mean_and_error([1.0, 2.0, 3.0])[1] == pytest.approx(stats.sem([1, 2, 3]))
