"""The paper's three counterexamples: where matching frame by frame rewards the wrong learner.

Paths on a grid of cells. The demo jumps from subgoal to subgoal; a learner moves at most one cell per step.
The distance of two cells is the Manhattan distance. In each case the good learner covers all subgoals in
order, the bad one does not, and one method fails to see it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from orcalign.checks import require
from orcalign.matching.match import FloatArray

Path = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Counterexample:
    """A demo with a good and a bad learner, and who is misled by them."""

    name: str
    title: str
    """What goes wrong, in one line."""
    fooled: str
    """The matcher that does not rank the good learner above the bad one."""
    demo: Path
    """J cells (x, y)."""
    good: Path
    """T cells (x, y)."""
    bad: Path
    """T cells (x, y)."""

    def cost(self, learner: str) -> FloatArray:
        """Manhattan distances [T, J] of the "good" or the "bad" learner to the demo.

        >>> COUNTEREXAMPLES["order"].cost("good")[0].tolist()
        [0.0, 2.0, 4.0, 2.0]
        """
        require("learner", learner, ("good", "bad"))
        cells = np.array(self.good if learner == "good" else self.bad)
        distances: FloatArray = np.abs(cells[:, None] - np.array(self.demo)).sum(axis=-1).astype(np.float64)
        return distances


_CLOCKWISE: Path = ((0, 0), (0, 1), (0, 2), (1, 2), (2, 2), (2, 1), (2, 0))
_HOOK: Path = ((0, 0), (1, 0), (2, 0), (3, 0), (3, 1), (3, 2), (3, 3), (2, 3), (1, 3))
_CORNER: Path = ((0, 0), (1, 0), (2, 0), (2, 1))


def _walk(path: Path, stops: tuple[int, ...]) -> Path:
    return tuple(path[i] for i in stops)


COUNTEREXAMPLES: dict[str, Counterexample] = {
    case.name: case
    for case in (
        Counterexample(
            name="order",
            title="OT does not see the order: going round the wrong way pays the same",
            fooled="ot",
            demo=_walk(_CLOCKWISE, (0, 2, 4, 6)),
            good=_CLOCKWISE,
            bad=tuple((y, x) for x, y in _CLOCKWISE),
        ),
        Counterexample(
            name="stalling",
            title="DTW does not see stalling: waiting at the second subgoal pays the same",
            fooled="dtw",
            demo=_CORNER,
            good=_walk(_CORNER, (0, 1, 2, 3, 3, 3, 3)),
            bad=_walk(_CORNER, (0, 1, 1, 1, 1, 2, 3)),
        ),
        Counterexample(
            name="slowness",
            title="TemporalOT prefers the slow learner, which keeps the demo's pace and never arrives",
            fooled="temporal_ot",
            demo=_walk(_HOOK, (0, 1, 2, 5, 8)),
            good=_walk(_HOOK, (0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8)),
            bad=_walk(_HOOK, (0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5)),
        ),
    )
}
