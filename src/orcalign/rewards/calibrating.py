"""Calibration of a demo that somebody filmed: refused with an explanation where there is nothing to measure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy.typing as npt

from orcalign.matching import Calibration, calibrate
from orcalign.rewards.lint import lint_demo
from orcalign.video import Demo

POINTLESS = ("static", "indistinct-frames", "too-short", "black-frames")
"""Findings that explain why no two frames can be told apart, the best explanation first."""


def calibrate_demo(
    demo: Demo,
    features: npt.ArrayLike,
    distance: str = "cosine",
    rollout_costs: Sequence[npt.ArrayLike] = (),
) -> Calibration:
    """`calibrate`, for a demo whose pictures are there to explain a refusal with.

    Repeated frames and pauses are fine. A demo in which nothing moves is refused even if its features differ:
    what differs then is the noise of camera, codec or encoder, and its scale says nothing about any task.

    Args:
        demo: J frames.
        features: [J, D] theirs.
        distance: "cosine" or "euclidean".
        rollout_costs: as in `calibrate`.

    >>> import numpy as np
    >>> grey = Demo(np.full((9, 8, 8, 3), 99, np.uint8))
    >>> calibrate_demo(grey, np.ones((9, 4)))
    Traceback (most recent call last):
    ...
    ValueError: calibration needs two frames that can be told apart, and this demo (memory) has none: error static ...
    """
    blind = False
    try:
        calibrate(features, distance)
    except ValueError:
        blind = True
    findings = {one.code: one for one in lint_demo(demo, features if blind else None, distance)}
    if not blind and "static" not in findings:
        return calibrate(features, distance, rollout_costs)
    reason = next((f"{findings[code]} " for code in POINTLESS if code in findings), "")
    raise ValueError(
        f"calibration needs two frames that can be told apart, and this demo ({demo.source}) has none: {reason}"
        f"Or set floor and temperature by hand instead of calibrated."
    )
