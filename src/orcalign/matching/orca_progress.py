"""ORCA paid as it goes: the increase of ordered progress at every step, on top of the paper's reward."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NamedTuple, final

import numpy as np
import numpy.typing as npt

from orcalign.checks import require_number
from orcalign.matching.inputs import as_float_array
from orcalign.matching.kernel import kernel
from orcalign.matching.match import FloatArray, Match
from orcalign.matching.orca import orca

SHAPINGS = ("difference", "potential")
ENDS = ("truncated", "terminated")


@final
@dataclass(frozen=True, eq=False)
class OrcaProgressMatch(Match):
    """Ordered coverage, paid as it grows: `assignment` [T, J] is ORCA's C[t, j], in [0, 1]."""

    progress: FloatArray
    """[T] phi: mean of C[t, j], each frame counted by its worth; without one, as in `OrcaMatch.progress`."""
    orca_reward: FloatArray
    """[T] The paper's reward, the last term of `reward`."""


class ProgressTerms(NamedTuple):
    """How progress is paid: the checked settings of `orca_progress` beside temperature and floor."""

    weight: float
    now: float
    """Factor of phi_t: 1 for the difference, gamma for the potential."""
    ends: bool
    """Whether phi after the last step counts as 0."""

    @classmethod
    def of(cls, weight: float, shaping: str, gamma: float, end: str) -> ProgressTerms:
        """Check the settings.

        >>> ProgressTerms.of(10, "potential", 0.9, "truncated")
        ProgressTerms(weight=10.0, now=0.9, ends=False)
        >>> ProgressTerms.of(10, "differences", 0.9, "truncated")
        Traceback (most recent call last):
            ...
        ValueError: shaping is 'differences'; did you mean 'difference'? It must be one of difference, potential.
        """
        weight = require_number(weight, "weight", at_least=0)
        if require_number(gamma, "gamma", above=0) > 1:
            raise ValueError(f"gamma is {gamma!r}; it must be above 0 and at most 1, the learner's discount.")
        _one_of(shaping, "shaping", SHAPINGS)
        _one_of(end, "end", ENDS)
        potential = shaping == "potential"
        return cls(weight, float(gamma) if potential else 1.0, potential and end == "terminated")


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


class LastFrame(NamedTuple):
    """The demo's last frame, held to more than the others: no floor, and a share of their temperature.

    Its costs are rewritten so that the common floor and temperature give P = exp(-cost / (share * temperature)).
    """

    floor: float
    share: float

    @classmethod
    def of(cls, floor: float, last: float | None) -> LastFrame | None:
        """Check the settings; None if the last frame is one as any other.

        >>> LastFrame.of(0.1, 0)
        Traceback (most recent call last):
            ...
        ValueError: last is 0; it must be a finite number above 0.
        """
        if last is None:
            return None
        return cls(require_number(floor, "floor", at_least=0), require_number(last, "last", above=0))

    def __call__(self, cost: npt.ArrayLike, name: str) -> FloatArray:
        """Costs [..., J] with those of the last frame rewritten; what is no cost stays as it is, to be refused.

        >>> LastFrame(0.1, 0.5)([0.2, 0.2], "cost").round(3).tolist()
        [0.2, 0.5]
        """
        costs: FloatArray = as_float_array(cost, name).copy()
        if costs.ndim and costs.shape[-1]:
            end = costs[..., -1]
            with np.errstate(over="ignore", invalid="ignore"):
                own = np.minimum(self.floor + end / self.share, np.finfo(costs.dtype).max)
            costs[..., -1] = np.where((end >= 0) & np.isfinite(end), own, end)
        return costs


def check_worth(worth: npt.ArrayLike, num_frames: int) -> FloatArray:
    """Shares [J] in float64 that sum to 1.

    >>> check_worth([1, 3], 2).tolist()
    [0.25, 0.75]
    """
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


def _one_of(value: str, name: str, known: tuple[str, ...]) -> None:
    if value not in known:
        near = get_close_matches(str(value), known, n=1)
        hint = f"did you mean {near[0]!r}? It" if near else "it"
        raise ValueError(f"{name} is {value!r}; {hint} must be one of {', '.join(known)}.")


def orca_progress(
    cost: npt.ArrayLike,
    temperature: float = 1.0,
    floor: float = 0.0,
    weight: float = 10.0,
    shaping: str = "difference",
    gamma: float = 0.99,
    end: str = "truncated",
    worth: npt.ArrayLike | None = None,
    last: float | None = None,
    *,
    lengths: npt.ArrayLike | None = None,
) -> OrcaProgressMatch:
    """ORCA's reward plus a weight times the increase of ordered progress.

        P, C, orca[t]  as in `orca`
        phi[t]       = mean of C[t, j] over j < J-1  (J = 1: C[t, 0]),  phi[-1] = 0
                       or, if frames have a worth, sum of worth[j] / sum(worth) * C[t, j] over all j
        reward[t]    = orca[t] + weight * (phi[t] - phi[t-1])            shaping "difference"
        reward[t]    = orca[t] + weight * (gamma * phi[t] - phi[t-1])    shaping "potential"

    With "potential" and end "terminated" the phi of the last step counts as 0: weight * (0 - phi[T-2]).

    *Which end?* Shaping leaves the best policy alone if what is added depends on nothing but the first state.
    If the learner takes the value of the state after the last step as 0 (Gymnasium's `terminated`), phi has to
    be 0 there. If it bootstraps from that state (`truncated`: the time is up, the world goes on), its value
    already is lower by weight * phi[T-1], and taking phi away again would count it twice. The difference knows
    no end.

    Bounds, with phi in [0, 1] never falling: "difference" gives [0, weight + 1], and its progress terms sum to
    weight * phi[T-1]; "potential" gives [-(1-gamma) * weight, gamma * weight + 1] (the last step of a
    terminated episode [-weight, 1]), and its progress terms, discounted, sum to gamma**T * weight * phi[T-1], or
    to 0 if terminated.

    Causal, but for the last step of "potential" with end "terminated", which has to know that it is the last.
    O(T J), one pass of ORCA's kernel. `docs/progress.md` says what holds for it and what does not.

    Args:
        cost: [T, J] or [B, T, J], finite, not negative.
        temperature: above 0. Made for a calibrated one: `orca_progress(cost, **calibrate(features)._asdict())`.
        floor: distance below which a frame counts as occupied.
        weight: at least 0: what the whole of progress is worth, in steps spent in the demo's last frame.
        shaping: "difference" or "potential".
        gamma: the learner's discount, above 0 and at most 1; for "potential" only.
        end: "truncated" or "terminated", as the learner treats the episode's last step; for "potential" only.
        worth: [J] what covering each demo frame is worth, in any unit, as `along_path` has it; left out, all but the
            last alike.
        last: above 0: the temperature of the demo's last frame as a share of the others', which then has no floor, so
            that coming nearer to it always pays; left out, it is a frame as any other.
        lengths: [B] rows of each episode, for a batch of unequal lengths.

    Returns:
        OrcaProgressMatch: reward [T], assignment [T, J] = C, progress [T], orca_reward [T].

    Example:
        Two demo frames before the last, covered at the first and second step; then the last one is reached:

        >>> cost = np.array([[0.0, 9.0, 9.0], [9.0, 0.0, 9.0], [9.0, 9.0, 0.0]])
        >>> orca_progress(cost, temperature=0.1).reward.round(3).tolist()
        [5.0, 5.0, 1.0]
        >>> orca_progress(cost, temperature=0.1, shaping="potential", gamma=0.9).reward.round(3).tolist()
        [4.5, 4.0, 0.0]
        >>> orca_progress(cost, temperature=0.1, worth=[0, 1, 3]).reward.round(3).tolist()
        [0.0, 2.5, 8.5]

        Near the last frame: within the floor all is one, but for a last frame that has none:

        >>> near = np.array([[0.0, 9.0], [9.0, 0.3], [9.0, 0.1]])
        >>> orca_progress(near, 0.4, 0.4, weight=0).reward.round(3).tolist()
        [0.0, 1.0, 1.0]
        >>> orca_progress(near, 0.4, 0.4, weight=0, last=0.5).reward.round(3).tolist()
        [0.0, 0.223, 0.607]

    See also:
        `OrcaProgressTracker` for one frame at a time.
    """
    terms = ProgressTerms.of(weight, shaping, gamma, end)
    own = LastFrame.of(floor, last)
    match = orca(cost if own is None else own(cost, "cost"), temperature, floor, lengths=lengths)
    phi, real = match.progress, match.progress.dtype.type
    if worth is not None:
        J = match.assignment.shape[-1]
        phi = np.empty_like(phi)
        weighted(match.assignment.reshape(-1, J), check_worth(worth, J), phi.reshape(-1))
    lasts = np.full(phi.shape[:-1], phi.shape[-1]) if lengths is None else np.asarray(lengths)
    step = np.arange(phi.shape[-1])
    now = phi * real(terms.now)
    if terms.ends:
        now[step == lasts[..., None] - 1] = 0
    now[..., 1:] -= phi[..., :-1]
    reward = match.reward + real(terms.weight) * now
    # Rows beyond an episode have no progress; after its last step that would look like a loss.
    reward[step >= lasts[..., None]] = 0
    return OrcaProgressMatch(reward, match.assignment, phi, match.reward)
