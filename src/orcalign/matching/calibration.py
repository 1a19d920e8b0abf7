"""Floor and temperature from the demo alone.

ORCA multiplies one occupancy per demo frame, so the scale of the distances decides what it can tell apart:
with temperature 1 and cosine distances around 0.1, a missed frame costs a tenth and the agent learns to skip
the middle; with a temperature far below the distances that even a good attempt keeps, every product is 0.

What the right scale is, the demo itself says: two of its frames that show different moments should not count
as the same place. The rule:

1. *Forget the timing.* Walk through the demo and keep a frame when it is further than 5% of the demo's
   largest distance from the last one kept. A pause adds nothing, twice the frame rate adds next to nothing,
   and a fast stretch is kept whole. (Distances of neighbouring frames, the obvious statistic, shrink to 0
   under pauses and with the square of the frame rate under cosine distance.)
2. *Spread* = the median distance between any two kept frames: how far apart two moments of this demo are.
3. floor = spread/4, temperature = spread/4. A frame within a quarter of the spread counts as reached; one
   that is as far off as another moment of the demo counts exp(-3) = 5%; in between it falls off smoothly.

The shares are reasoned, not tuned on any task. What the rule cannot know is how close an attempt with other
objects in other places can come at all; that needs rollouts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from orcalign.matching.costs import distance as distance_named
from orcalign.matching.match import FloatArray

NOVEL = 0.05
"""Share of the demo's largest distance beyond which a frame is news."""
FLOOR_SHARE = 0.25
TEMPERATURE_SHARE = 0.25


class Calibration(NamedTuple):
    """Settings for `orca`; use as `orca(cost, **calibration._asdict())`."""

    temperature: float
    floor: float


def calibrate(demo_features: npt.ArrayLike, distance: str = "cosine") -> Calibration:
    """Floor and temperature for `orca` from the distances between the demo's own frames.

    Repeating frames does not change the result at all, the frame rate hardly; if all distances are c times
    as large, so are floor and temperature.

    Args:
        demo_features: [J, D], at least two frames that differ.
        distance: "cosine" or "euclidean", as used for the cost matrix.

    Returns:
        Calibration(temperature, floor).

    >>> calibrate([[0.0], [1.0], [1.0], [1.0], [2.0]], distance="euclidean")
    Calibration(temperature=0.25, floor=0.25)
    """
    pairs = distance_named(distance)(demo_features, demo_features).astype(np.float64)
    reach = float(pairs.max())
    # Equal frames are not at 0 exactly in cosine distance; this is far above rounding and below any content.
    if len(pairs) < 2 or reach < 1e-6:
        raise ValueError(
            f"the demo's {len(pairs)} frame(s) are all the same in these features (largest distance {reach:.1e}); "
            f"calibration needs two that differ. Use another encoder or distance, or set floor and temperature."
        )
    kept = novel_frames(pairs, NOVEL * reach)
    among = pairs[np.ix_(kept, kept)]
    spread = float(np.median(among[np.triu_indices(len(kept), k=1)]))
    return Calibration(temperature=TEMPERATURE_SHARE * spread, floor=FLOOR_SHARE * spread)


def novel_frames(pairs: FloatArray, step: float) -> list[int]:
    """Frames further than `step` from the last one kept, the first among them.

    Args:
        pairs: [J, J] distances between the demo's frames.
        step: how far is far enough.

    >>> novel_frames(np.array([[0.0, 0.1, 1.0], [0.1, 0.0, 0.9], [1.0, 0.9, 0.0]]), step=0.5)
    [0, 2]
    """
    kept = [0]
    for j in range(1, len(pairs)):
        if pairs[kept[-1], j] > step:
            kept.append(j)
    return kept
