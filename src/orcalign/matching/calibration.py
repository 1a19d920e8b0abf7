"""Floor and temperature from the demo, and from a few rollouts if there are any.

ORCA multiplies one occupancy per demo frame, so the scale of the distances decides what it can tell apart. The rule:

1. *Reach* = the largest distance between two of the demo's frames. It does not depend on how long anything is
   shown. (Means and medians over pairs of frames follow the timing, which is what a misaligned demo has wrong.)
2. floor = temperature = reach/8. A frame within an eighth of the reach counts as reached; one that is half the
   reach off, as two moments of a demo typically are, counts exp(-3) = 5%.
3. What the demo cannot know is how close attempts come at all: objects stand elsewhere, the light is another.
   Rollouts say it, whatever they do: their *offset* is the median over frames of the distance to the nearest
   demo frame (the median of several rollouts). floor = temperature = offset, but at least reach/8 and at most
   reach/4, with which the demo's most different frames still count as no more than 5% the same.

`docs/maths.md` has more on why.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from orcalign.matching.costs import distance as distance_named
from orcalign.matching.match import as_valid_episodes

STRICT = 1 / 8
"""Share of the reach for attempts that look like the demo."""
LENIENT = 1 / 4
"""Share of the reach that is not exceeded, however far off attempts are."""
SAME = 1e-6
"""Distance, for euclidean as a share of the features' length, up to which frames are the same: far above
rounding, far below any content."""


class Calibration(NamedTuple):
    """Settings for `orca`; use as `orca(cost, **calibration._asdict())`."""

    temperature: float
    floor: float


def calibrate(
    demo_features: npt.ArrayLike, distance: str = "cosine", rollout_costs: Sequence[npt.ArrayLike] = ()
) -> Calibration:
    """Floor and temperature for `orca` and `orca_progress` from the distances between the demo's own frames.

    Args:
        demo_features: [J, D], at least two frames that differ.
        distance: "cosine" or "euclidean", as used for the cost matrix.
        rollout_costs: [T, J] each, without context: a few attempts against this demo, unlabelled, good or bad.
            Random actions will do. For a demo in whose very scene the learner acts, leave them out.

    >>> demo = [[0.0], [1.0], [1.0], [1.0], [2.0]]
    >>> calibrate(demo, distance="euclidean")
    Calibration(temperature=0.25, floor=0.25)
    >>> calibrate(demo, "euclidean", rollout_costs=[[[0.3, 0.7, 0.7, 0.7, 1.7]]])
    Calibration(temperature=0.3, floor=0.3)
    """
    pairs = distance_named(distance)(demo_features, demo_features)
    reach = float(pairs.max())
    lengths = 1.0 if distance == "cosine" else float(np.linalg.norm(demo_features, axis=1).max())
    if len(pairs) < 2 or reach <= SAME * lengths:
        raise ValueError(
            f"the demo's {len(pairs)} frame(s) are all the same in these features (largest distance {reach:.1e}); "
            f"calibration needs two that differ. Use another encoder or distance, or set floor and temperature."
        )
    offsets = [_offset(cost, len(pairs)) for cost in rollout_costs]
    scale = float(np.clip(np.median(offsets), STRICT * reach, LENIENT * reach)) if offsets else STRICT * reach
    return Calibration(temperature=scale, floor=scale)


def _offset(cost: npt.ArrayLike, J: int) -> float:
    """How near the rollout comes to the demo in half of its frames."""
    rollout = as_valid_episodes(cost)
    if rollout.batched or rollout.cost.shape[2] != J:
        raise ValueError(
            f"a rollout's costs have shape {np.shape(cost)}; they must be [T, J] with J = {J}, the demo's frames "
            f"(give the episodes of a batch one by one)."
        )
    return float(np.median(rollout.cost[0].min(axis=1)))
