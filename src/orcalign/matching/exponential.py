"""exp(-x) for x >= 0 inside a kernel, in a form that compilers turn into SIMD code.

`math.exp` in a compiled loop is a library call per cell, which no compiler turns into vectors; and `np.exp`
would need the matrix to be read and written twice more. This one is a few fused
multiply-adds: x = k*ln2 + r with |r| <= ln2/2, e^r = 1 + r + r^2*q(r) with a polynomial q, and 2^k put
straight into the exponent bits. Error below 1.5 units in the last place (`tests/matching/test_exponential.py`
measures it and derives the coefficients again).

A value below the smallest normal number (about 2e-308, or 1e-38 in float32) is returned as 0: products
with subnormal numbers are slow on most CPUs and mean nothing as a probability.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from orcalign.matching.kernel import kernel

LOG2_E = 1.4426950408889634
# ln 2 in two parts; the first has enough trailing zeros for k * LN2_HIGH to be exact.
LN2_HIGH = 0.6931471803691238
LN2_LOW = 1.9082149292705877e-10
# Adding 1.5 * 2^52 rounds to an integer and leaves it in the low bits of the sum; the 1023 beside it is
# the bias of the exponent, so that those bits are 2^k once they are shifted into place.
ROUND_64 = 6755399441055744.0 + 1023.0
# Here k = -1023 and the exponent bits are 0, which makes the power 0.
SMALLEST_64 = -1023 * 0.6931471805599453
Q_64 = (
    0.5000000000000001,
    0.16666666666666669,
    0.04166666666662413,
    0.008333333333330062,
    0.0013888888917213717,
    0.00019841269863053618,
    2.4801521295954376e-05,
    2.7557268459997064e-06,
    2.7620088445409746e-07,
    2.510038549551032e-08,
)

F32 = np.float32
LOG2_E_32 = F32(LOG2_E)
LN2_HIGH_32 = F32(0.693359375)
LN2_LOW_32 = F32(-2.1219444e-4)
ROUND_32 = F32(12582912.0 + 127.0)
SMALLEST_32 = F32(-127 * 0.6931471805599453)
Q_32 = tuple(F32(c) for c in (0.5, 0.16666575, 0.041666556, 0.008363179, 0.0013926184))
ONE_32 = F32(1.0)


def exp_nonpositive(x: Any) -> Any:
    """exp(x) for x <= 0 inside kernels; this body is what plain Python sees.

    >>> exp_nonpositive(0.0)
    np.float64(1.0)
    """
    return np.exp(x)


def _exp_64(x: Any) -> Any:
    clamped = x if x > SMALLEST_64 else SMALLEST_64
    shifted = clamped * LOG2_E + ROUND_64
    k = shifted - ROUND_64
    r = (clamped - k * LN2_HIGH) - k * LN2_LOW
    q = Q_64[9]
    q = q * r + Q_64[8]
    q = q * r + Q_64[7]
    q = q * r + Q_64[6]
    q = q * r + Q_64[5]
    q = q * r + Q_64[4]
    q = q * r + Q_64[3]
    q = q * r + Q_64[2]
    q = q * r + Q_64[1]
    q = q * r + Q_64[0]
    power = np.int64(np.float64(shifted).view(np.int64) << 52).view(np.float64)
    return ((q * r + 1.0) * r + 1.0) * power


def _exp_32(x: Any) -> Any:
    clamped = x if x > SMALLEST_32 else SMALLEST_32
    shifted = clamped * LOG2_E_32 + ROUND_32
    k = shifted - ROUND_32
    r = (clamped - k * LN2_HIGH_32) - k * LN2_LOW_32
    q = Q_32[4]
    q = q * r + Q_32[3]
    q = q * r + Q_32[2]
    q = q * r + Q_32[1]
    q = q * r + Q_32[0]
    power = np.int32(np.float32(shifted).view(np.int32) << np.int32(23)).view(np.float32)
    return ((q * r + ONE_32) * r + ONE_32) * power


@overload(exp_nonpositive, jit_options={"fastmath": {"contract"}})
def _exp_nonpositive_in_kernels(x: Any) -> Any:
    return _exp_32 if x == types.float32 else _exp_64


@kernel
def exp_all(values: Any, out: Any) -> None:
    """out[i] = exp(values[i]) for 1-D values <= 0; for tests and for measuring the limit."""
    for i in range(values.size):
        out[i] = exp_nonpositive(values[i])
