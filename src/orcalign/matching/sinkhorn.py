"""Entropic transport between two uniform distributions, on a band of cells."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from orcalign.matching.kernel import exp_nonpositive, kernel, reordering_kernel, wide_vectors


@kernel
def sinkhorn(
    cost: Any, lo: Any, hi: Any, epsilon: Any, tolerance: float, max_sweeps: int, reach: float, plan: Any
) -> Any:
    """Solve  min <plan, cost> - epsilon H(plan)  with row sums 1/T and column sums 1/J, plan = 0 off the band.

    The plan is u[t] K[t, j] v[j] with K = exp((f[t] + g[j] - cost[t, j]) / epsilon). A sweep sets u so that
    the rows are right and then v so that the columns are; with rows read once per sweep, both are done in
    one pass over K. The potentials f and g start at 0, and are needed only where K would underflow or u and
    v leave exp(-reach)..exp(reach): then u and v are absorbed into them by one sweep in the log domain, which
    cannot overflow, and K is computed anew. So it is as fast as plain scaling where that works, and as
    robust as the log domain where it does not.

    Args:
        cost: [T, J].
        lo, hi: [T] the band, as of `band_limits`.
        epsilon: above 0, in the dtype of cost.
        tolerance: sum over columns of |column sum - 1/J| at which to stop.
        max_sweeps: when to stop anyway.
        reach: largest |log u|, |log v| and range of cost / epsilon to be trusted to plain scaling.
        plan: [T, J] output.

    Returns:
        (sweeps, error): sweeps done, and the sum of |column sum - 1/J|, rows being exact (or, stopped in a
        log-domain sweep, the sum of |row sum - 1/T|, columns being exact).
    """
    T, J = cost.shape
    real = cost.dtype.type
    inverse = real(1) / epsilon
    width = 0
    for t in range(T):
        width = max(width, hi[t] - lo[t])
    K = np.zeros((T, width), cost.dtype)
    u, v = np.ones(T, cost.dtype), np.ones(J, cost.dtype)
    columns = np.empty(J, cost.dtype)
    f, g = np.zeros(T, cost.dtype), np.zeros(J, cost.dtype)  # in units of epsilon

    lowest, highest = _range(cost, lo, hi)
    sweeps = 0
    if (highest - lowest) * inverse <= reach:
        f[:] = lowest * inverse
    else:
        _log_sweep(cost, lo, hi, inverse, f, g)
        sweeps += 1
    limit = math.exp(reach)
    while True:
        if sweeps >= max_sweeps:
            error = _columns_only(cost, lo, hi, inverse, f, g, K, u, v)
            break
        _fill_kernel(cost, lo, hi, inverse, f, g, K)
        v[:] = 1
        error, sweeps, stable = _scale(K, lo, hi, u, v, columns, tolerance, max_sweeps, sweeps, limit)
        if stable:
            break
        for j in range(J):
            g[j] += real(math.log(v[j]))
        _log_sweep(cost, lo, hi, inverse, f, g)
        sweeps += 1
    plan[:T] = 0
    for t in range(T):
        for j in range(lo[t], hi[t]):
            plan[t, j] = u[t] * K[t, j - lo[t]] * v[j]
    return sweeps, error


@kernel
def _scale(
    K: Any,
    lo: Any,
    hi: Any,
    u: Any,
    v: Any,
    columns: Any,
    tolerance: float,
    max_sweeps: int,
    sweeps: int,
    limit: float,
) -> Any:
    """Sweeps of plain scaling until done (True) or until u or v grow too large to be trusted (False)."""
    T, J = u.size, v.size
    real = K.dtype.type
    row_sum, column_sum = real(1) / real(T), real(1) / real(J)
    smallest = real(1 / limit)
    while True:
        if not _rows(K, lo, hi, u, v, columns, row_sum, smallest * row_sum):
            return np.inf, sweeps, False
        sweeps += 1
        error = 0.0
        for j in range(J):
            error += abs(v[j] * columns[j] - column_sum)
        if error <= tolerance or sweeps >= max_sweeps:
            return error, sweeps, True
        for j in range(J):
            if not columns[j] > smallest * column_sum:
                return error, sweeps - 1, False  # a log-domain sweep will do this one again
        for j in range(J):
            v[j] = column_sum / columns[j]


@kernel
def _columns_only(cost: Any, lo: Any, hi: Any, inverse: Any, f: Any, g: Any, K: Any, u: Any, v: Any) -> Any:
    """What a log-domain sweep leaves: a plan with exact columns. Returns how far its rows are off."""
    _fill_kernel(cost, lo, hi, inverse, f, g, K)
    u[:], v[:] = 1, 1
    error = 0.0
    for t in range(u.size):
        error += abs(_dot(K, t, v, lo[t], hi[t]) - K.dtype.type(1) / K.dtype.type(u.size))
    return error


@reordering_kernel
def _rows(K: Any, lo: Any, hi: Any, u: Any, v: Any, columns: Any, row_sum: Any, least: Any) -> bool:
    """Set u so that every row sums to `row_sum`, and add the rows up into `columns`; False if a row underflows."""
    wide_vectors()
    columns[:] = 0
    for t in range(u.size):
        total = K.dtype.type(0)
        offset = np.uintp(lo[t])
        for i in range(hi[t] - lo[t]):
            total += K[t, i] * v[offset + np.uintp(i)]
        if not total > least:
            return False
        factor = row_sum / total
        u[t] = factor
        for i in range(hi[t] - lo[t]):
            columns[offset + np.uintp(i)] += factor * K[t, i]
    return True


@reordering_kernel
def _dot(K: Any, t: int, v: Any, lo: int, hi: int) -> Any:
    """Sum of K[t, j] v[j] over the band of row t."""
    total = K.dtype.type(0)
    offset = np.uintp(lo)
    for i in range(hi - lo):
        total += K[t, i] * v[offset + np.uintp(i)]
    return total


@kernel
def _range(cost: Any, lo: Any, hi: Any) -> Any:
    """Smallest and largest cost on the band."""
    lowest, highest = cost[0, lo[0]], cost[0, lo[0]]
    for t in range(lo.size):
        for j in range(lo[t], hi[t]):
            value = cost[t, j]
            lowest = value if value < lowest else lowest
            highest = value if value > highest else highest
    return lowest, highest


@kernel
def _fill_kernel(cost: Any, lo: Any, hi: Any, inverse: Any, f: Any, g: Any, K: Any) -> None:
    """K[t, j - lo[t]] = exp(f[t] + g[j] - cost[t, j] / epsilon); no exponent is above 0 by more than rounding."""
    wide_vectors()
    zero = K.dtype.type(0)
    for t in range(lo.size):
        offset = np.uintp(lo[t])
        for i in range(hi[t] - lo[t]):
            exponent = f[t] + g[offset + np.uintp(i)] - cost[t, offset + np.uintp(i)] * inverse
            K[t, i] = exp_nonpositive(exponent if exponent < zero else zero)


@kernel
def _log_sweep(cost: Any, lo: Any, hi: Any, inverse: Any, f: Any, g: Any) -> None:
    """Set f from g so that the rows are right, then g from f so that the columns are, by log-sum-exp."""
    T, J = cost.shape
    real = cost.dtype.type
    for t in range(T):
        peak = real(-np.inf)
        for j in range(lo[t], hi[t]):
            peak = max(peak, g[j] - cost[t, j] * inverse)
        total = real(0)
        for j in range(lo[t], hi[t]):
            total += exp_nonpositive(g[j] - cost[t, j] * inverse - peak)
        f[t] = -real(math.log(T)) - peak - real(math.log(total))
    peaks = np.full(J, -np.inf, cost.dtype)
    totals = np.zeros(J, cost.dtype)
    for t in range(T):
        for j in range(lo[t], hi[t]):
            peaks[j] = max(peaks[j], f[t] - cost[t, j] * inverse)
    for t in range(T):
        for j in range(lo[t], hi[t]):
            totals[j] += exp_nonpositive(f[t] - cost[t, j] * inverse - peaks[j])
    for j in range(J):
        g[j] = -real(math.log(J)) - peaks[j] - real(math.log(totals[j]))
