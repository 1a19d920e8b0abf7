"""The matchers as one would write them on a blackboard: slow, obvious, in plain loops.

Nothing here is shared with the package. The fast versions are compared with these.
"""

import itertools
import math

import numpy as np


def occupancy(cost, temperature=1.0, floor=0.0):
    return [[math.exp(-max(0.0, c - floor) / temperature) for c in row] for row in np.asarray(cost).tolist()]


def orca(cost, temperature=1.0, floor=0.0):
    """(reward, coverage, progress)"""
    P = occupancy(cost, temperature, floor)
    T, J = len(P), len(P[0])
    C = [[0.0] * J for _ in range(T)]
    for t in range(T):
        for j in range(J):
            left = C[t][j - 1] if j > 0 else 1.0
            before = C[t - 1][j] if t > 0 else 0.0
            C[t][j] = max(before, left * P[t][j])
    reward = [(C[t][J - 2] if J > 1 else 1.0) * P[t][J - 1] for t in range(T)]
    progress = [sum(C[t][: J - 1]) / (J - 1) if J > 1 else C[t][0] for t in range(T)]
    return np.array(reward), np.array(C), np.array(progress)


def bottleneck(cost, temperature=1.0, floor=0.0):
    """(reward, coverage, progress, worst)"""
    cost = np.asarray(cost).tolist()
    T, J = len(cost), len(cost[0])
    L = [[math.inf] * J for _ in range(T)]
    reward = []
    for t in range(T):
        for j in range(J):
            left = L[t][j - 1] if j > 0 else 0.0
            before = L[t - 1][j] if t > 0 else math.inf
            L[t][j] = min(before, max(left, max(0.0, cost[t][j] - floor)))
        way = L[t][J - 2] if J > 1 else 0.0
        reward.append(math.exp(-max(way, max(0.0, cost[t][J - 1] - floor)) / temperature))
    C = np.exp(-np.array(L) / temperature)
    return np.array(reward), C, C[:, : max(1, J - 1)].mean(axis=1), np.array(L)


def worst_of_best_alignment(cost, t, j):
    """The smallest largest cost of an in-order alignment of demo frames 0..j with frames 0..t, by trying all."""
    choices = itertools.combinations_with_replacement(range(t + 1), j + 1)
    return min(max(cost[i][k] for k, i in enumerate(times)) for times in choices)


def best_alignment(P, t, j):
    """The probability of the best in-order alignment of demo frames 0..j with learner frames 0..t, by trying all."""
    choices = itertools.combinations_with_replacement(range(t + 1), j + 1)
    return max(math.prod(P[i][k] for k, i in enumerate(times)) for times in choices)


def threshold(cost, level):
    P = occupancy(cost)
    J = len(P[0])
    g, rewards = 0, []
    for row in P:
        rewards.append((row[g] + g) / J)
        if row[g] > level and g < J - 1:
            g += 1
    return np.array(rewards)


def dtw_total(cost):
    T, J = cost.shape
    D = np.full((T + 1, J + 1), np.inf)
    D[0, 0] = 0
    for t in range(T):
        for j in range(J):
            D[t + 1, j + 1] = cost[t, j] + min(D[t, j], D[t, j + 1], D[t + 1, j])
    return D[T, J]


def warping_paths(T, J):
    """All paths from (0, 0) to (T-1, J-1)."""

    def extend(path):
        t, j = path[-1]
        if (t, j) == (T - 1, J - 1):
            yield path
            return
        for step in ((1, 1), (1, 0), (0, 1)):
            if t + step[0] < T and j + step[1] < J:
                yield from extend([*path, (t + step[0], j + step[1])])

    yield from extend([(0, 0)])


def soft_dtw(cost, gamma):
    """(value, assignment) from the definition: every path, weighed by exp(-cost/gamma)."""
    T, J = cost.shape
    paths = list(warping_paths(T, J))
    sums = np.array([sum(cost[t, j] for t, j in path) for path in paths])
    weights = np.exp(-(sums - sums.min()) / gamma)
    value = sums.min() - gamma * math.log(weights.sum())
    assignment = np.zeros((T, J))
    for path, weight in zip(paths, weights / weights.sum(), strict=True):
        for t, j in path:
            assignment[t, j] += weight
    return value, assignment


def log_sinkhorn(cost, mask, epsilon, sweeps=100, tolerance=0.0, end_with_columns=False):
    """Masked Sinkhorn in the log domain with NumPy, as public code has it. (plan, sweeps, column error)"""
    T, J = cost.shape
    M = np.where(mask, -cost / epsilon, -np.inf)
    g = np.zeros(J)
    log_a, log_b = -math.log(T), -math.log(J)
    for sweep in range(1, sweeps + 1):
        f = log_a - _logsumexp(M + g, axis=1)
        columns = np.exp(_logsumexp(M + f[:, None], axis=0) + g)
        error = np.abs(columns - 1 / J).sum()
        if error <= tolerance or sweep == sweeps:
            break
        g = log_b - _logsumexp(M + f[:, None], axis=0)
    if end_with_columns:
        g = log_b - _logsumexp(M + f[:, None], axis=0)
    return np.exp(M + f[:, None] + g), sweep, error


def _logsumexp(x, axis):
    peak = x.max(axis=axis, keepdims=True)
    return np.squeeze(peak, axis) + np.log(np.exp(x - peak).sum(axis=axis))


def context(cost, window, ahead):
    T, J = cost.shape
    out = np.zeros_like(cost)
    for t in range(T):
        for j in range(J):
            for k in range(window):
                i, m = (min(t + k, T - 1), min(j + k, J - 1)) if ahead else (max(t - k, 0), max(j - k, 0))
                out[t, j] += cost[i, m] / window
    return out
