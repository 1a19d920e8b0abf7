"""How far an episode is from a demo, as an `ObjectView` sees both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np
import numpy.typing as npt

from orcalign.costs.frames import FrameCosts
from orcalign.costs.objects.journey import COLUMNS, JourneyCosts
from orcalign.encoders.protocol import Features
from orcalign.matching import along_path
from orcalign.matching.match import FloatArray

MISSING, LAST_CHANGE, LAST_WAY = 3 / 4, 1.0, 2.0
"""What it costs, as a share of the reach, if a thing that has changed or gone in the demo has not; and in the last
frame, where one stays."""


@final
class ViewCosts:
    """Distances of an episode to a demo in several views, in units of what changes in the demo.

        view[t, j]    = max(0, (1 - s[j]) * whole[t, j] + s[j] * square[t, j] - start * (1 - j / (J - 1)))
        change[t, j]  = mean over things but goals of |A xor D| / max(|A or D|, n / 2)
        cost          = max(view, 3/4 change, 3/4 way),  in the demo's last frame max(view, change, 2 way)

    whole and square are distances within each view, divided by the largest between two of the demo's frames; s rises
    from 0 to 1 along the demo's path. start is what the sum is in the first frame: the arm begins where it always
    begins, and so looks moved in the square until it has come to the object. With several things the square is that
    of the one whose turn it is in the demo: the first that has not yet half changed, in the end the last.

    A and D are the pixels of a thing that show something else than in the first frame, in frame t of the episode and
    in frame j of the demo; n is how many these are at most in the demo. With a floor of 3/8 of the reach a frame can
    be occupied if no more than half of these pixels differ (in the last one, three in eight); whether it is, the views
    say. way is how far a thing that is taken away is from where it is in the demo (`JourneyCosts`).

    Args:
        demo_features: [J, dim], of an `ObjectView`: the whole picture, a square for each thing, pixels of each thing,
            places of each thing that is taken away.
        distance: "cosine" or "euclidean".
        pixels: how many each thing has, in the order in which they change in the demo.
        journeys: for each thing that is taken away the number of its goal, or None. A goal stays: what changes in its
            pixels is who passes before it, which another layout has elsewhere, and it is not asked.
        changes: whether their changes and journeys count.

    >>> costs = ViewCosts(np.array([[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]]), "euclidean", pixels=(0,))
    >>> costs(np.array([[0.0, 2.0], [1.0, 2.0], [2.0, 4.0]])).tolist()
    [[0.0, 0.25, 0.5], [0.5, 0.0, 0.5], [1.0, 0.5, 0.0]]

    The object is taken along in the demo, and left alone here; all else looks the same:

    >>> demo = np.array([[0.0, 0.0, 0.0, 0.0], [1.0, 2.0, 0.0, 0.0], [2.0, 4.0, 1.0, 1.0]])
    >>> costs = ViewCosts(demo, "euclidean", pixels=(2,))
    >>> costs(demo * [1, 1, 0, 0])[:, -1].tolist(), costs(demo)[:, -1].tolist()
    ([1.0, 1.0, 1.0], [1.0, 1.0, 0.0])
    """

    def __init__(
        self,
        demo_features: npt.ArrayLike,
        distance: str = "cosine",
        pixels: Sequence[int] = (),
        journeys: Sequence[int | None] = (),
        changes: bool = True,
    ) -> None:
        features = np.asarray(demo_features)
        self.num_frames, self.dim = features.shape
        beside = [*pixels, *[COLUMNS] * len(journeys)]
        width = (self.dim - sum(beside)) // (1 + len(pixels))
        self._ends = np.cumsum([width] * (1 + len(pixels)) + beside)[:-1]
        self._things = len(pixels)
        views, changed, where = self._parts(features)
        self._views = [FrameCosts(one, distance) for one in views]
        between = [view.between_demo_frames() for view in self._views]
        # A view in which nothing changes has no unit, and all distances in it are 0 anyway.
        self._reach = [float(pairs.max()) or 1.0 for pairs in between]
        # Cosine distances are squares: their roots add up along a straight way.
        steps = np.sqrt(between[0]) if distance == "cosine" else between[0]
        self._near = np.cumsum(along_path(steps)) if self.num_frames > 1 else np.zeros(1)
        self._turn = _turns(changed, self.num_frames)
        self._changes = {
            number: ChangeCosts(one)
            for number, one in enumerate(changed)
            if changes and number not in journeys and (one > 0).any()
        }
        self._journeys = [JourneyCosts(one) for one in where] if changes else []

    def __call__(self, features: npt.ArrayLike, first: npt.ArrayLike | None = None) -> FloatArray:
        """Costs [T, J] of an episode's features [T, dim]; each row depends on those of the episode's first frame, which
        is the first of these unless it is given [dim]."""
        if first is not None:
            return self(np.concatenate([np.asarray(first)[None], np.asarray(features)]))[1:]
        rows = np.asarray(features)
        if rows.ndim != 2 or rows.shape[1] != self.dim:
            raise ValueError(
                f"features have shape {rows.shape} and the demo's rows {self.dim}; both must come from the same "
                f"ObjectView."
            )
        views, changed, where = self._parts(rows)
        cost = self._seen([view(part) for view, part in zip(self._views, views, strict=True)])
        left = 1 - np.arange(self.num_frames) / max(1, self.num_frames - 1)
        cost = np.maximum(cost - cost[0, 0] * left, 0)
        return self._largest(
            cost,
            [one(changed[number]) for number, one in self._changes.items()],
            [one(seen) for one, seen in zip(self._journeys, where, strict=bool(self._journeys))],
        )

    def between_demo_frames(self) -> FloatArray:
        """Costs [J, J] of the demo's frames to one another."""
        cost = self._seen([view.between_demo_frames() for view in self._views])
        return self._largest(
            cost,
            [one.between_demo_frames() for one in self._changes.values()],
            [one.between_demo_frames() for one in self._journeys],
        )

    def _parts(self, features: Features) -> tuple[list[Features], list[Features], list[Features]]:
        """Of the features [T, dim] those of all views, of each thing's pixels, and of each journey."""
        parts = np.split(features, self._ends, axis=1)
        views = 1 + self._things
        return parts[:views], parts[views : views + self._things], parts[views + self._things :]

    def _seen(self, distances: list[FloatArray]) -> FloatArray:
        """One matrix [T, J] of those in each view."""
        views = [pairs / reach for pairs, reach in zip(distances, self._reach, strict=True)]
        out: FloatArray = (1 - self._near) * views[0] + self._near * np.choose(self._turn, views)
        return out

    def _largest(self, cost: FloatArray, changes: list[FloatArray], journeys: list[FloatArray]) -> FloatArray:
        """Of what is seen, what has changed and where things are."""
        for costs, last in ((changes, LAST_CHANGE), (journeys, LAST_WAY)):
            if costs:
                weight = np.full(self.num_frames, MISSING)
                weight[-1] = last
                cost = np.maximum(cost, weight * sum(costs) / len(costs))
        return cost


@final
class ChangeCosts:
    """How much of what has changed differs: |A xor D| / max(|A or D|, n / 2) for sets of pixels.

    n is the most that changes in the demo; where next to nothing has changed, next to nothing differs. What is not
    known costs nothing.

    Args:
        demo: [J, M] 1 for what has changed in a demo frame, else 0; something must have.

    >>> costs = ChangeCosts(np.array([[0, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1]]))
    >>> costs(np.array([[0, 0, 0, 0], [1, 0, 0, 0], [0, 1, 1, 1]])).tolist()
    [[0.0, 1.0, 1.0], [0.5, 0.5, 0.75], [1.0, 0.75, 0.25]]
    """

    def __init__(self, demo: npt.ArrayLike) -> None:
        self._demo = np.asarray(demo, np.float64)
        self._sums = self._demo.sum(axis=1)

    def __call__(self, changed: npt.ArrayLike) -> FloatArray:
        """Costs [T, J], in [0, 1], of what has changed in an episode [T, M]: 1 or 0, or -1 in rows that do not tell."""
        rows = np.asarray(changed, np.float64)
        # Whole numbers, so that a row has the same bits alone and in company.
        both = rows @ self._demo.T
        either = rows.sum(axis=1)[:, None] + self._sums - both
        out: FloatArray = (either - both) / np.maximum(either, self._sums.max() / 2)
        out[(rows < 0).any(axis=1)] = 0
        return out

    def between_demo_frames(self) -> FloatArray:
        """Costs [J, J] of the demo's frames to one another."""
        return self(self._demo)


def _turns(changed: Sequence[npt.NDArray[np.floating]], num_frames: int) -> npt.NDArray[np.intp]:
    """Number [J] of the view whose turn it is in each demo frame: 0 for the whole picture, then the things' squares.

    >>> _turns([np.array([[0, 0], [1, 0], [1, 1], [1, 1]]), np.array([[0], [0], [0], [1]])], 4).tolist()
    [1, 1, 2, 2]
    """
    turn = np.full(num_frames, len(changed))
    for number in reversed(range(len(changed) - 1)):
        shares = changed[number].mean(axis=1)
        turn[: int(np.argmax(shares >= shares.max() / 2)) + 1] = number + 1
    return turn
