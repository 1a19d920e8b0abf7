"""Optimal transport rewards: OT over all pairs of frames, and TemporalOT inside a band around the diagonal."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from orcalign.checks import require_count, require_number
from orcalign.matching.band import checked_band, window_that_fits
from orcalign.matching.kernel import kernel, reordering_kernel
from orcalign.matching.match import Episodes, FloatArray, IntArray, Match, as_episodes, require_valid
from orcalign.matching.sinkhorn import sinkhorn
from orcalign.matching.threads import for_chunks

Limits = Callable[[int], tuple[IntArray, IntArray]]
"""From an episode's length T to its band lo [T], hi [T]."""


class NotConvergedWarning(UserWarning):
    """The transport plan was not yet within the tolerance when the solver stopped."""


@final
@dataclass(frozen=True, eq=False)
class TransportMatch(Match):
    """`assignment` [T, J] is the transport plan: it sums to 1, or each row does with `normalise_rows`."""

    sweeps: IntArray
    """[] Sinkhorn sweeps done ([B] for a batch); 0 for an exact plan."""
    marginal_error: FloatArray
    """[] Sum of |column sum - 1/J| of the plan before any normalising ([B] for a batch)."""


def ot(
    cost: npt.ArrayLike,
    epsilon: float = 1.0,
    normalise_rows: bool = False,
    *,
    tolerance: float | None = None,
    max_sweeps: int = 10_000,
    lengths: npt.ArrayLike | None = None,
) -> TransportMatch:
    """Optimal transport rewards: every learner frame weighs 1/T, every demo frame 1/J.

        plan      = argmin <plan, cost> - epsilon * H(plan)   with row sums 1/T and column sums 1/J
        reward[t] = -sum_j plan[t, j] * cost[t, j]

    Not causal: the plan needs the whole episode. It knows no order of frames.

    Args:
        cost: [T, J] or [B, T, J], finite, not negative.
        epsilon: weight of the entropy; the paper has 1 for Meta-world, its code 0.01, and 0 for Humanoid.
            0 is exact and uses POT's network simplex.
        normalise_rows: divide each row of the plan by its sum before the reward, as the authors' code does.
        tolerance: where to stop, as the sum of |column sum - 1/J|; None is 1e-9, or 1e-5 in float32.
        max_sweeps: where to stop anyway, with a `NotConvergedWarning`.
        lengths: [B] rows of each episode, for a batch of unequal lengths.

    Returns:
        TransportMatch: reward [T] (never above 0), assignment [T, J] = plan, sweeps, marginal_error.

    Example:
        >>> import numpy as np
        >>> match = ot(np.array([[0.0, 1.0], [1.0, 0.0]]), epsilon=0)
        >>> match.assignment.tolist()
        [[0.5, 0.0], [0.0, 0.5]]
        >>> ot(np.array([[0.0, 1.0], [1.0, 0.0]]), epsilon=0.1).assignment.round(3).tolist()
        [[0.5, 0.0], [0.0, 0.5]]

    See also:
        `even`, its limit for a large epsilon (rows normalised), in no time.
    """
    episodes = as_episodes(cost, lengths)
    J = episodes.cost.shape[2]

    def everything(T: int) -> tuple[IntArray, IntArray]:
        return np.zeros(T, np.int64), np.full(T, J, np.int64)

    return _solve(episodes, everything, epsilon, normalise_rows, tolerance, max_sweeps)


def temporal_ot(
    cost: npt.ArrayLike,
    window: int | None = None,
    epsilon: float = 1.0,
    band: str = "linear",
    *,
    normalise_rows: bool = False,
    tolerance: float | None = None,
    max_sweeps: int = 10_000,
    lengths: npt.ArrayLike | None = None,
) -> TransportMatch:
    """TemporalOT rewards: transport that may only match frames of about the same time.

        plan      = argmin <plan, cost> - epsilon * H(plan)   with row sums 1/T, column sums 1/J, 0 off the band
        reward[t] = -sum_j plan[t, j] * cost[t, j]

    Only the band is stored and computed on. Not causal.

    Args:
        cost: [T, J] or [B, T, J], finite, not negative.
        window: cells to both sides of the stretched diagonal, counted along the shorter axis. None is
            ceil(J / 10), the paper's for misaligned demos; for aligned ones it has 10.
        epsilon: weight of the entropy; the paper has 1. 0 is exact and uses POT.
        band: "linear", always feasible, or "blocks", as the authors' code has it; see `band_limits`.
        normalise_rows: divide each row of the plan by its sum before the reward.
        tolerance: where to stop, as the sum of |column sum - 1/J|; None is 1e-9, or 1e-5 in float32.
        max_sweeps: where to stop anyway, with a `NotConvergedWarning`.
        lengths: [B] rows of each episode, for a batch of unequal lengths; each has its own band.

    Returns:
        TransportMatch: reward [T] (never above 0), assignment [T, J] = plan, sweeps, marginal_error.

    Example:
        >>> import numpy as np
        >>> temporal_ot(np.ones((4, 2)), window=0).assignment.tolist()
        [[0.25, 0.0], [0.25, 0.0], [0.0, 0.25], [0.0, 0.25]]

    Reference:
        Fu et al., "Robot Policy Learning with Temporal Optimal Transport Reward", NeurIPS 2024.
    """
    episodes = as_episodes(cost, lengths)
    J = episodes.cost.shape[2]

    def limits(T: int) -> tuple[IntArray, IntArray]:
        lo, hi, feasible = checked_band(T, J, window, band)
        if not feasible:
            raise ValueError(
                f"band {band!r} with window={window!r} leaves no plan with uniform marginals for T = {T} and "
                f"J = {J}; window={window_that_fits(T, J, window, band)} would do, and so would band='linear'."
            )
        return lo, hi

    return _solve(episodes, limits, epsilon, normalise_rows, tolerance, max_sweeps)


def _solve(
    episodes: Episodes,
    limits: Limits,
    epsilon: float,
    normalise_rows: bool,
    tolerance: float | None,
    max_sweeps: int,
) -> TransportMatch:
    require_valid(episodes)
    single = episodes.dtype == np.float32
    if tolerance is None:
        tolerance = 1e-5 if single else 1e-9
    epsilon = require_number(epsilon, "epsilon", at_least=0)
    tolerance = require_number(tolerance, "tolerance", above=0)
    max_sweeps = require_count(max_sweeps, "max_sweeps", at_least=1)
    B, T, J = episodes.cost.shape
    lo, hi = np.zeros((B, T), np.int64), np.zeros((B, T), np.int64)
    for b, length in enumerate(episodes.lengths.tolist()):
        lo[b, :length], hi[b, :length] = limits(length)
    plan, reward = episodes.empty(columns=True), episodes.empty(columns=False)
    sweeps, error = np.zeros(B, np.int64), np.zeros(B, episodes.dtype)
    if epsilon == 0:
        _exact(episodes, lo, hi, plan, error)
    else:
        # exp of twice this is finite, and so are products of u, K and v.
        reach = 40.0 if single else 300.0
        real_epsilon = episodes.dtype.type(epsilon)

        def work(start: int, stop: int) -> None:
            _sinkhorn_episodes(
                episodes.cost,
                episodes.lengths,
                lo,
                hi,
                real_epsilon,
                tolerance,
                max_sweeps,
                reach,
                plan,
                sweeps,
                error,
                start,
                stop,
            )

        for_chunks(B, 20 * B * T * J, work)
        worst = int(error.argmax())
        if not error[worst] <= tolerance:
            warnings.warn(
                f"transport stopped after {sweeps[worst]} sweeps with a marginal error of {error[worst]:.1e}, above "
                f"the tolerance {tolerance:.1e}; raise max_sweeps, epsilon (now {epsilon:g}) or the tolerance.",
                NotConvergedWarning,
                stacklevel=3,
            )
    rewards_of_plan(episodes.cost, episodes.lengths, normalise_rows, plan, reward)
    unwrap = episodes.unwrap
    return TransportMatch(unwrap(reward), unwrap(plan), unwrap(sweeps), unwrap(error))


@kernel
def _sinkhorn_episodes(
    cost: Any,
    lengths: Any,
    lo: Any,
    hi: Any,
    epsilon: Any,
    tolerance: float,
    max_sweeps: int,
    reach: float,
    plan: Any,
    sweeps: Any,
    error: Any,
    start: int,
    stop: int,
) -> None:
    for b in range(start, stop):
        T = lengths[b]
        sweeps[b], error[b] = sinkhorn(
            cost[b, :T], lo[b, :T], hi[b, :T], epsilon, tolerance, max_sweeps, reach, plan[b]
        )


@kernel
def rewards_of_plan(cost: Any, lengths: Any, normalise_rows: bool, plan: Any, reward: Any) -> None:
    """reward = minus the row sum of plan times cost; with `normalise_rows` the rows of the plan sum to 1 first."""
    zero = cost.dtype.type(0)
    for b in range(cost.shape[0]):
        for t in range(lengths[b]):
            if normalise_rows:
                _normalise(plan, b, t)
            reward[b, t] = zero - _paid(plan, cost, b, t)  # unlike a minus sign, this never gives -0.0


@reordering_kernel
def _paid(plan: Any, cost: Any, b: int, t: int) -> Any:
    total = cost.dtype.type(0)
    for j in range(cost.shape[2]):
        total += plan[b, t, j] * cost[b, t, j]
    return total


@reordering_kernel
def _normalise(plan: Any, b: int, t: int) -> None:
    mass = plan.dtype.type(0)
    for j in range(plan.shape[2]):
        mass += plan[b, t, j]
    for j in range(plan.shape[2]):
        plan[b, t, j] /= mass


def _exact(episodes: Episodes, lo: IntArray, hi: IntArray, plan: FloatArray, error: FloatArray) -> None:
    """The plan of least cost, by POT's network simplex; off the band a cost that no plan would pay."""
    emd = _pot_emd()
    columns = np.arange(episodes.cost.shape[2])
    for b, T in enumerate(episodes.lengths.tolist()):
        cost = episodes.cost[b, :T].astype(np.float64)
        J = cost.shape[1]
        outside = (columns < lo[b, :T, None]) | (columns >= hi[b, :T, None])
        # An exact plan moves units of 1/(T J), so one unit off the band costs more than all others together.
        cost[outside] = (1.0 + cost.max()) * T * J
        exact, log = emd(np.full(T, 1 / T), np.full(J, 1 / J), cost, numItermax=10_000_000, log=True)
        if log["warning"] is not None:
            warnings.warn(f"exact transport: {log['warning']}", NotConvergedWarning, stacklevel=4)
        plan[b, :T] = np.where(outside, 0.0, exact)
        error[b] = np.abs(plan[b, :T].sum(axis=0) - 1 / J).sum()


def _pot_emd() -> Callable[..., Any]:
    """POT's exact solver. POT loads torch, JAX and others if it finds them, which takes seconds: not for us.

    Those that the process has already loaded stay available to it. Who needs POT's torch backend beside
    orcalign imports `ot` first.
    """
    backends = {"PYTORCH": "torch", "JAX": "jax", "CUPY": "cupy", "TENSORFLOW": "tensorflow"}
    switches = [f"POT_BACKEND_DISABLE_{key}" for key, module in backends.items() if module not in sys.modules]
    added = [switch for switch in switches if switch not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    try:
        from ot.lp import emd
    finally:
        for switch in added:
            del os.environ[switch]
    return emd  # type: ignore[no-any-return]
