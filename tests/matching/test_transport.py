"""OT and TemporalOT: by hand, against POT and plain NumPy, marginals, bands, warnings."""

import subprocess
import sys

import numpy as np
import ot as pot
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matching.cost_strategies import cost_matrices
from reference import matching as reference

from orcalign.matching import NotConvergedWarning, band_mask, even, ot, temporal_ot, window_that_fits


def test_by_hand():
    # Two frames each. The plan is [[p, 1/2-p], [1/2-p, p]] with p/(1/2-p) = exp(1/epsilon).
    epsilon = 0.5
    match = ot(np.array([[0.0, 1.0], [1.0, 0.0]]), epsilon=epsilon)
    p = 0.5 * np.exp(1 / epsilon) / (1 + np.exp(1 / epsilon))
    np.testing.assert_allclose(match.assignment, [[p, 0.5 - p], [0.5 - p, p]], rtol=1e-12)
    np.testing.assert_allclose(match.reward, [-(0.5 - p)] * 2, rtol=1e-12)


@settings(max_examples=60, deadline=None)
@given(cost_matrices(max_side=15, highest=2.0), st.sampled_from([0.5, 1.0, 5.0]))
def test_against_pot(cost, epsilon):
    T, J = cost.shape
    match = ot(cost, epsilon, tolerance=1e-11)
    plan = pot.sinkhorn(np.full(T, 1 / T), np.full(J, 1 / J), cost, epsilon, method="sinkhorn_log", stopThr=1e-12)
    np.testing.assert_allclose(match.assignment, plan, atol=1e-8)


@settings(max_examples=60, deadline=None)
@given(cost_matrices(max_side=12))
def test_exact_against_pot(cost):
    T, J = cost.shape
    match = ot(cost, epsilon=0)
    assert -match.reward.sum() == pytest.approx(pot.emd2(np.full(T, 1 / T), np.full(J, 1 / J), cost), abs=1e-10)
    assert match.sweeps == 0


@settings(max_examples=60, deadline=None)
@given(
    cost_matrices(max_side=15),
    st.sampled_from([0.05, 1.0]),
    st.integers(1, 4),
    st.sampled_from(["linear", "blocks"]),
)
def test_temporal_against_log_sinkhorn(cost, epsilon, window, band):
    T, J = cost.shape
    window = window_that_fits(T, J, window, band)
    mask = band_mask(T, J, window, band)
    plan, _, error = reference.log_sinkhorn(cost, mask, epsilon, sweeps=3000, tolerance=1e-11)
    if error > 1e-11:
        return  # the reference has not converged: nothing to compare with
    match = temporal_ot(cost, window, epsilon, band, tolerance=1e-11, max_sweeps=100_000)
    np.testing.assert_allclose(match.assignment, plan, atol=1e-8)
    assert not match.assignment[~mask].any()


@settings(deadline=None)
@given(cost_matrices(max_side=20, highest=1.0), st.sampled_from([0.2, 1.0]))
def test_marginals(cost, epsilon):
    T, J = cost.shape
    for match in (
        ot(cost, epsilon),
        temporal_ot(cost, window=2, epsilon=epsilon),
        ot(cost, 0),
        temporal_ot(cost, 1, 0),
    ):
        np.testing.assert_allclose(match.assignment.sum(axis=1), 1 / T, rtol=1e-9)
        assert np.abs(match.assignment.sum(axis=0) - 1 / J).sum() <= 1e-9
        assert match.marginal_error <= 1e-9
        assert (match.assignment >= 0).all()
        np.testing.assert_allclose(match.reward, -(match.assignment * cost).sum(axis=1), atol=1e-14)


@settings(max_examples=30, deadline=None)
@given(cost_matrices(max_side=10))
def test_exact_on_the_band_is_no_dearer_than_entropic(cost):
    exact, entropic = temporal_ot(cost, 2, 0), temporal_ot(cost, 2, 0.5, tolerance=1e-10, max_sweeps=100_000)
    assert exact.reward.sum() >= entropic.reward.sum() - 1e-7
    assert not exact.assignment[~band_mask(*cost.shape, 2)].any()


def test_normalised_rows():
    cost = np.random.default_rng(0).random((6, 4))
    plain, rows = ot(cost), ot(cost, normalise_rows=True)
    np.testing.assert_allclose(rows.assignment.sum(axis=1), 1)
    np.testing.assert_allclose(rows.reward, 6 * plain.reward)


def test_large_epsilon_is_even():
    cost = np.random.default_rng(0).random((9, 5))
    np.testing.assert_allclose(ot(cost, 1e6, normalise_rows=True).reward, even(cost).reward, rtol=1e-5)


@pytest.mark.filterwarnings("ignore::orcalign.matching.NotConvergedWarning")
@pytest.mark.parametrize("sweeps", [1, 2, 7, 60, 333])
@pytest.mark.parametrize("ratio", [1, 200, 500, 5000, 100_000])
def test_sweep_for_sweep_the_same_as_in_the_log_domain(ratio, sweeps):
    """However far costs are above epsilon: beyond a ratio of 300 plain scaling underflows and is absorbed."""
    rng = np.random.default_rng(0)
    x, y = np.sort(rng.random(23)), np.sort(rng.random(17)) * 1.4
    cost = np.abs(x[:, None] - y) * ratio
    mask = np.ones(cost.shape, bool)
    match = ot(cost, epsilon=1.0, tolerance=1e-300, max_sweeps=sweeps)
    # A log-domain sweep, if it was the last, ends with exact columns instead of exact rows.
    columns = abs(match.assignment.sum(axis=1) - 1 / 23).max() > 1e-9
    plan, _, error = reference.log_sinkhorn(cost, mask, 1.0, sweeps, end_with_columns=columns)
    if not columns:
        assert match.marginal_error == pytest.approx(error, rel=1e-6, abs=1e-12)
    np.testing.assert_allclose(match.assignment, plan, rtol=1e-6, atol=1e-12 * ratio)


@pytest.mark.filterwarnings("ignore::orcalign.matching.NotConvergedWarning")
def test_single_precision_far_above_epsilon():
    cost = (np.random.default_rng(0).random((9, 9)) * 1e4).astype(np.float32)
    match = ot(cost, epsilon=1.0, max_sweeps=2000)
    assert np.isfinite(match.assignment).all()
    assert match.assignment.sum() == pytest.approx(1, abs=1e-4)


def test_stopping_early_warns_and_says_so():
    cost = np.random.default_rng(0).random((20, 20))
    with pytest.warns(NotConvergedWarning, match=r"after 3 sweeps with a marginal error of .* raise max_sweeps"):
        match = ot(cost, epsilon=0.005, max_sweeps=3)
    assert match.sweeps == 3
    columns = np.abs(match.assignment.sum(axis=0) - 1 / 20).sum()
    assert match.marginal_error == pytest.approx(columns)
    assert columns > 1e-9


def test_stopping_early_in_the_log_domain():
    cost = np.random.default_rng(0).random((20, 20)) * 1e5
    with pytest.warns(NotConvergedWarning):
        match = ot(cost, epsilon=1.0, max_sweeps=2)
    assert np.isfinite(match.reward).all()


@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 5))
def test_the_linear_band_is_always_feasible_and_symmetric(T, J, window):
    assert window_that_fits(T, J, window) == window
    mask = band_mask(T, J, window)
    np.testing.assert_array_equal(mask, band_mask(J, T, window).T)
    np.testing.assert_array_equal(mask, mask[::-1, ::-1])
    assert mask.any(axis=0).all()
    assert mask.any(axis=1).all()


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 4), st.sampled_from(["linear", "blocks"]))
@settings(deadline=None, max_examples=60)
def test_the_window_that_fits_is_the_smallest(T, J, window, band):
    """Feasibility by a maximum flow in disguise: exact transport that pays 1 off the band."""

    def feasible(width):
        off = (~band_mask(T, J, width, band)).astype(float)
        return pot.emd2(np.full(T, 1 / T), np.full(J, 1 / J), off) < 1e-9

    fits = window_that_fits(T, J, window, band)
    assert feasible(fits)
    assert fits == window or not feasible(fits - 1)


def test_blocks_by_hand():
    # 7 rows on 3 columns: 2, 2 and, with the remainder, 3.
    assert band_mask(7, 3, 0, "blocks").argmax(axis=1).tolist() == [0, 0, 1, 1, 2, 2, 2]


@pytest.mark.parametrize("J", range(37, 55))
def test_an_infeasible_band_says_which_window_would_do(J):
    cost = np.ones((63, J))
    with pytest.raises(ValueError, match=r"no plan with uniform marginals for T = 63.*window=(\d+) would do") as error:
        temporal_ot(cost, band="blocks")
    window = int(str(error.value).split("; window=")[1].split()[0])
    temporal_ot(cost, window, band="blocks", max_sweeps=100_000, tolerance=1e-3)
    temporal_ot(cost)  # the linear band has no such trouble


def test_exact_transport_does_not_load_torch():
    code = (
        "import sys, os, numpy as np; from orcalign.matching import ot; "
        "ot(np.ones((3, 2)), epsilon=0); "
        "assert 'ot' in sys.modules and 'torch' not in sys.modules, 'torch was loaded'; "
        "assert not [k for k in os.environ if k.startswith('POT_BACKEND')]; "
    )
    subprocess.run([sys.executable, "-c", code], check=True)
