"""What lies between two frames of a demo that are far apart, as where its video was cut or sped up.

A learner that stands in the one frame is told nothing of the way to the next by either. So places are put in between,
on the straight way, with a slack that is largest in the middle: nobody knows how the demo went there.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from orcalign.costs.predicted.described import DescribedDemo
from orcalign.matching.match import FloatArray

STEP, CUT = 8.0, 3.0
"""Frames are far apart if they are twice so many centimetres from one another, and so many times as far as frames of
this demo usually are; then they get others in between, at such a distance or at the usual one, if that is larger."""
SLACK = 0.25
"""Of the distance between the two frames, in the middle: about as far as a quarter of a circle is from its chord."""
MOST = 16
"""Frames between two."""


class Bridged(NamedTuple):
    """A demo with more frames than its video, K in the place of J."""

    demo: DescribedDemo
    slack: FloatArray
    """[K] Centimetres by which one may be elsewhere; 0 in the frames of the video."""
    real: npt.NDArray[np.int64]
    """[J] Which of the K are those of the video."""


def bridge(demo: DescribedDemo, between: FloatArray) -> Bridged:
    """The demo with frames between those that are far apart, by distances between its frames [J, J] in centimetres.

    >>> from orcalign.costs.predicted.entities import Entities
    >>> demo = DescribedDemo.known(Entities((0,), unit=1.0), [[0.0], [4.0], [8.0], [28.0]], [0.0])
    >>> bridged = bridge(demo, np.abs(demo.values - demo.values.T))
    >>> bridged.demo.values[:, 0].tolist(), bridged.slack.tolist(), bridged.real.tolist()
    ([0.0, 4.0, 8.0, 18.0, 28.0], [0.0, 0.0, 0.0, 5.0, 0.0], [0, 1, 2, 4])
    """
    steps = between.diagonal(1)
    usual = float(np.median(steps)) if len(steps) else 0.0
    step, cut = max(STEP, usual), max(2 * STEP, CUT * usual)
    before, share, slack, real = [0], [0.0], [0.0], [0]
    for j in range(1, len(demo)):
        far = float(between[j - 1, j])
        count = min(MOST, int(far // step) - 1) if far >= cut else 0
        parts = np.arange(1, count + 1) / (count + 1)
        before += [j - 1] * count + [j]
        share += [*parts.tolist(), 0.0]
        slack += [*(4 * parts * (1 - parts) * SLACK * far).tolist(), 0.0]
        real.append(len(before) - 1)
    at, part = np.array(before), np.array(share)
    after = np.minimum(at + 1, len(demo) - 1)
    made = part > 0

    def both(of: FloatArray, how: np.ufunc) -> FloatArray:
        return np.asarray(np.where(made[:, None], how(of[at], of[after]), of[at]))

    values = demo.values[at] + part[:, None] * (demo.values[after] - demo.values[at])
    told = replace(
        demo,
        values=values,
        scales=both(demo.scales, np.maximum),
        believed=np.where(made, demo.believed[at] & demo.believed[after], demo.believed[at]),
    )
    return Bridged(told, np.array(slack), np.array(real, np.int64))
