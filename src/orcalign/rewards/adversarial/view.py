"""What a discriminator sees of a state or of a frame's features: few numbers of about unit size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from orcalign.matching.match import FloatArray

Seen = npt.NDArray[np.float32]
"""[N, k] Rows as a `View` shows them."""
STILL = 0.01
"""What varies by less than this share of what varies most is left out: it tells episodes apart, not what is done."""
SLOW = 0.02
"""Deviations in a step that count as one of the demo's at least: what creeps is not blown up."""
AXES = 16
"""Directions in which a demo's features vary most that are looked at."""
FARTHEST = 10.0
"""Deviations at which numbers are cut: beyond, it is just somewhere else."""


@final
@dataclass(frozen=True, eq=False)
class View:
    """Rows [N, D] → [N, k], measured from the demo's mean in the demo's own deviations."""

    centre: FloatArray
    """[D]"""
    axes: FloatArray
    """[D, k] Of unit length."""
    scale: FloatArray
    """[k]"""
    beside: bool = False
    """Whether a last number says how far a row is from all that these axes can show."""

    @classmethod
    def of_states(cls, demo: npt.ArrayLike) -> View:
        """Those numbers of the states [J, D] that change during the demo, each by itself.

        >>> view = View.of_states([[0.0, 7.0, 1.0], [4.0, 7.0, 1.0]])
        >>> view([[4.0, 3.0, 2.0]]).tolist()  # the goal stands elsewhere: that is not what the demo shows
        [[1.0]]
        """
        rows = np.asarray(demo, np.float64)
        varies = rows.std(axis=0)
        kept = varies > STILL * varies.max()
        if not kept.any():
            raise ValueError("no number of the demo's states changes; give a demo in which something is done.")
        return cls(rows.mean(axis=0), np.eye(rows.shape[1])[:, kept], varies[kept])

    @classmethod
    def of_features(cls, demo: npt.ArrayLike) -> View:
        """The directions in which features [J, D] vary most, and how far a row is from all of them."""
        rows = np.asarray(demo, np.float64)
        centre = rows.mean(axis=0)
        _, sizes, directions = np.linalg.svd(rows - centre, full_matrices=False)
        if sizes[0] < 1e-9:
            raise ValueError("no frame of the demo looks unlike the others; give a demo in which something is done.")
        kept = min(AXES, int((sizes > STILL * sizes[0]).sum()))
        deviations = sizes[:kept] / np.sqrt(len(rows))
        # In weak directions a deviation would blow up noise.
        return cls(centre, directions[:kept].T, np.maximum(deviations, 0.1 * deviations[0]), beside=True)

    def __call__(self, rows: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """[N, k]"""
        off: Any = np.asarray(rows, np.float64) - self.centre
        seen = off @ self.axes
        shown = seen / self.scale
        if self.beside:
            rest = np.linalg.norm(off - seen @ self.axes.T, axis=1, keepdims=True) / self.scale[0]
            shown = np.concatenate([shown, rest], axis=1)
        cut: Seen = np.clip(shown, -FARTHEST, FARTHEST).astype(np.float32)
        return cut


def steps_of(demo: Sequence[Seen]) -> FloatArray:
    """[k] How far the demo's rows [J, k] go from one to the next."""
    moves = np.concatenate([np.diff(one.astype(np.float64), axis=0) for one in demo])
    far: FloatArray = np.maximum(np.sqrt(np.square(moves).mean(axis=0)), SLOW)
    return far


def pairs(seen: Seen, step: npt.ArrayLike) -> Seen:
    """[N, 2k] What a transition is seen as, of rows [N+1, k]: where it begins, and where it leads in the demo's steps.

    Rows side by side would say the same, but one step is small beside the whole way, and which way it goes would hardly
    be seen.

    >>> pairs(np.array([[1.0], [1.5], [2.5]], np.float32), [0.5]).tolist()
    [[1.0, 1.0], [1.5, 2.0]]
    """
    moves: Any = np.clip(np.diff(seen.astype(np.float64), axis=0) / np.asarray(step), -FARTHEST, FARTHEST)
    return np.concatenate([seen[:-1], moves.astype(np.float32)], axis=1)


def nearness(demo: npt.NDArray[np.float32], seen: npt.NDArray[np.float32]) -> float:
    """How near an episode [T, k] comes to each of the demo's rows [J, k], in whatever order: 1 if it meets them all.

    It does not move as a discriminator does, so that policies of different times can be compared.

    >>> rows = np.eye(3, dtype=np.float32)
    >>> nearness(rows, rows), nearness(rows, rows + 9) < 0.01
    (1.0, True)
    """
    off = demo[:, None].astype(np.float64) - seen[None]
    nearest = np.sqrt(np.square(off).mean(axis=2)).min(axis=1)
    return float(np.exp(-nearest).mean())
