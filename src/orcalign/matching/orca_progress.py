"""ORCA paid as it goes: the increase of ordered progress at every step, on top of the paper's reward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from orcalign.checks import require_number
from orcalign.matching.kernel import flush, kernel
from orcalign.matching.match import FloatArray, Match, as_float_array
from orcalign.matching.orca import orca


@final
@dataclass(frozen=True, eq=False)
class OrcaProgressMatch(Match):
    """Ordered coverage, paid as it grows: `assignment` [T, J] is ORCA's C[t, j], in [0, 1]."""

    progress: FloatArray
    """[T] phi: mean of C[t, j], each frame counted by its worth; without one, as in `OrcaMatch.progress`."""
    orca_reward: FloatArray
    """[T] The paper's reward, the last term of `reward`."""


def along_path(between: npt.ArrayLike) -> FloatArray:
    """What each frame of a demo is worth if progress is measured by how much the pictures change, not in frames.

    A frame is worth its distance to the one before, so that a pause is worth nothing and a jump, where the demo is
    sped up, as much as what happens in it. The first frame, where everyone begins, is worth nothing.

    Args:
        between: [J, J] distances between the demo's frames.

    Returns:
        [J] shares that sum to 1; all alike if no frame differs from the one before.

    >>> along_path([[0.0, 1.0, 4.0], [1.0, 0.0, 3.0], [4.0, 3.0, 0.0]]).tolist()
    [0.0, 0.25, 0.75]
    """
    steps = np.concatenate([[0.0], np.diag(as_float_array(between, "between"), 1)])
    total = steps.sum()
    return steps / total if total > 0 else np.full(len(steps), 1 / len(steps))


def sharpen_last(cost: npt.ArrayLike, name: str, floor: float, share: float) -> FloatArray:
    """Costs [..., J] that hold the demo's last frame to more: no floor, and a share of the others' temperature.

    Its costs are rewritten so that the common floor and temperature give P = exp(-cost / (share * temperature)). What
    is no cost stays as it is, to be refused.

    >>> sharpen_last([0.2, 0.2], "cost", floor=0.1, share=0.5).round(3).tolist()
    [0.2, 0.5]
    """
    costs: FloatArray = as_float_array(cost, name).copy()
    if costs.ndim and costs.shape[-1]:
        end = costs[..., -1]
        with np.errstate(over="ignore", invalid="ignore"):
            own = np.minimum(floor + end / share, np.finfo(costs.dtype).max)
        costs[..., -1] = np.where((end >= 0) & np.isfinite(end), own, end)
    return costs


def check_worth(worth: npt.ArrayLike, num_frames: int) -> FloatArray:
    """Shares [J] in float64 that sum to 1."""
    array = as_float_array(worth, "worth").astype(np.float64)
    if array.shape != (num_frames,):
        raise ValueError(
            f"worth has shape {array.shape}; it must hold one number for each of the {num_frames} demo frames."
        )
    if not (np.isfinite(array).all() and (array >= 0).all() and array.sum() > 0):
        raise ValueError(f"worth is {array.tolist()}; it must be finite, not negative, and not 0 everywhere.")
    shares: FloatArray = array / array.sum()
    return shares


@kernel
def weighted(coverage: Any, shares: Any, out: Any) -> None:
    """Sums of rows [N, J] by shares [J], each row added up in the same order, whatever the others."""
    for n in range(coverage.shape[0]):
        total = 0.0
        for j in range(shares.size):
            total += np.float64(coverage[n, j]) * shares[j]
        out[n] = min(total, 1.0)
    flush(out)


def orca_progress(
    cost: npt.ArrayLike,
    temperature: float = 1.0,
    floor: float = 0.0,
    weight: float = 10.0,
    worth: npt.ArrayLike | None = None,
    last: float | None = None,
    *,
    lengths: npt.ArrayLike | None = None,
) -> OrcaProgressMatch:
    """ORCA's reward plus a weight times the increase of ordered progress; `OrcaProgressTracker` has it frame by frame.

        P, C, orca[t]  as in `orca`
        phi[t]       = mean of C[t, j] over j < J-1  (J = 1: C[t, 0]),  phi[-1] = 0
                       or, if frames have a worth, sum of worth[j] / sum(worth) * C[t, j] over all j
        reward[t]    = orca[t] + weight * (phi[t] - phi[t-1])

    With phi in [0, 1] never falling the reward is in [0, weight + 1], and its progress terms sum to
    weight * phi[T-1], however the episode ends. Causal. `docs/maths.md` says what holds for it and what does not.

    Args:
        cost, lengths: as in `orca`.
        temperature, floor: as in `orca`; made for those of `calibrate`.
        weight: at least 0: what the whole of progress is worth, in steps spent in the demo's last frame.
        worth: [J] what covering each demo frame is worth, in any unit, as `along_path` has it; left out, all but the
            last alike.
        last: above 0: the temperature of the demo's last frame as a share of the others', which then has no floor, so
            that coming nearer to it always pays; left out, it is a frame as any other.

    Returns:
        OrcaProgressMatch: reward [T], assignment [T, J] = C, progress [T], orca_reward [T].

    Example:
        Two demo frames before the last, covered at the first and second step; then the last one is reached:

        >>> cost = np.array([[0.0, 9.0, 9.0], [9.0, 0.0, 9.0], [9.0, 9.0, 0.0]])
        >>> orca_progress(cost, temperature=0.1).reward.round(3).tolist()
        [5.0, 5.0, 1.0]
        >>> orca_progress(cost, temperature=0.1, worth=[0, 1, 3]).reward.round(3).tolist()
        [0.0, 2.5, 8.5]

        Within the floor of 0.4 all would be one, but for a last frame that has none:

        >>> near = np.array([[0.0, 9.0], [9.0, 0.3], [9.0, 0.1]])
        >>> orca_progress(near, 0.4, 0.4, weight=0, last=0.5).reward.round(3).tolist()
        [0.0, 0.223, 0.607]
    """
    weight = require_number(weight, "weight", at_least=0)
    if last is not None:
        floor = require_number(floor, "floor", at_least=0)
        cost = sharpen_last(cost, "cost", floor, require_number(last, "last", above=0))
    match = orca(cost, temperature, floor, lengths=lengths)
    phi = match.progress
    if worth is not None:
        J = match.assignment.shape[-1]
        phi = np.empty_like(phi)
        weighted(match.assignment.reshape(-1, J), check_worth(worth, J), phi.reshape(-1))
    increase = phi.copy()
    increase[..., 1:] -= phi[..., :-1]
    reward = match.reward + phi.dtype.type(weight) * increase
    if lengths is not None:
        # Rows beyond an episode have no progress; after its last step that would look like a loss.
        reward[np.arange(phi.shape[-1]) >= np.asarray(lengths)[..., None]] = 0
    return OrcaProgressMatch(reward, match.assignment, phi, match.reward)
