"""The exponential of the kernels, against higher precision."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orcalign.matching.kernel import Q_32, Q_64, exp_all


def ulps(values, dtype):
    out = np.empty_like(values)
    exp_all(values, out)
    exact = np.exp(values.astype(np.longdouble))
    return np.abs(out - exact) / np.spacing(exact.astype(dtype)).astype(np.longdouble), out


@pytest.mark.parametrize(("dtype", "lowest"), [(np.float64, -707.0), (np.float32, -87.0)])
def test_error_is_below_one_and_a_half_units_in_the_last_place(dtype, lowest):
    rng = np.random.default_rng(0)
    near = -rng.random(200_000) * 2
    values = np.concatenate([near, rng.random(200_000) * lowest]).astype(dtype)
    error, _ = ulps(values, dtype)
    assert float(error.max()) < 1.5


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_ends(dtype):
    values = np.array([0.0, -0.0, -710.0, -1e300 if dtype is np.float64 else -1e38], dtype)
    assert ulps(values, dtype)[1].tolist() == [1.0, 1.0, 0.0, 0.0]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_nothing_subnormal(dtype):
    tiny = np.finfo(dtype).tiny
    values = np.linspace(np.log(tiny) - 2, np.log(tiny) + 1, 100_001).astype(dtype)
    _, out = ulps(values, dtype)
    assert ((out == 0) | (out >= tiny)).all()
    assert (out[values > np.log(tiny) + 1e-4] > 0).all()


@given(st.lists(st.floats(-800, 0), min_size=2, max_size=40))
def test_rises_with_its_argument_and_stays_in_bounds(values):
    values = np.sort(np.array(values))
    out = np.empty_like(values)
    exp_all(values, out)
    assert (out >= 0).all()
    assert (out <= 1).all()
    # Neighbouring results may swap by a rounding; a real fall would be larger.
    assert (np.diff(out) >= -2e-16 * out[1:]).all()


@pytest.mark.parametrize("coefficients", [Q_64, Q_32])
def test_coefficients_interpolate_at_the_chebyshev_nodes(coefficients):
    """q(r) = (e^r - 1 - r) / r^2 at the nodes of +-ln2/2, in extended precision from its series."""
    n = len(coefficients)
    half = math.log(2) / 2 * 1.0001
    nodes = half * np.cos(np.pi * (2 * np.arange(n) + 1) / (2 * n)).astype(np.longdouble)
    q = sum(nodes**k / np.longdouble(math.factorial(k + 2)) for k in range(20))
    mine = sum(np.longdouble(c) * nodes**k for k, c in enumerate(coefficients))
    assert float(np.abs(mine - q).max()) < (1e-16 if n > 5 else 1e-7)
