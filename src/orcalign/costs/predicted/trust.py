"""On which frames of a demo an eye is believed, told by what it said of the learner's own frames before it knew them.

An eye that has learned from the learner's frames alone has not seen what the learner has not done: of an object that
it never saw moved it says that it rests. Until the demo's hand comes to the object that is so in any case. From then on
the eye is believed on a demo frame if own frames look like it, as near as own frames look like one another, in what the
eye itself looks at; if enough of those show a moved object; and if it had been right about it before it learned from
them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from orcalign.costs.predicted.described import DescribedDemo
from orcalign.costs.predicted.relative import NEAR, STILL
from orcalign.matching.match import FloatArray

NEIGHBOURS = 12
"""Own frames that are asked about a demo frame."""
USUAL = 0.95
"""Share of own frames that have their neighbours within the distance that counts as alike."""
RIGHT = 3.0
"""Centimetres by which the eye may have been off, in the median of the neighbours."""
SOME = 1 / 3
"""Share of the neighbours that must show the object moved."""
AT_GOAL = 2.0
"""Centimetres from its goal at which a thing usually rests once the task is done."""
GRASP = 4.0
"""Centimetres beyond its closest approach at which the hand still holds what it carried."""


def believe(
    demo: DescribedDemo,
    looks: FloatArray,
    own_looks: FloatArray,
    own_values: FloatArray,
    own_starts: FloatArray,
    guesses: FloatArray,
) -> npt.NDArray[np.bool_]:
    """[J] Whether what the eye says of the objects in a demo frame is believed.

    Args:
        demo: as the eye describes it.
        looks: [J, H] what the eye makes of the demo's frames, its last hidden layer.
        own_looks: [N, H] of own frames.
        own_values: [N, E] where things truly were.
        own_starts: [N, E] and at the start of those episodes.
        guesses: [N, E] what the eye said of each frame before it had learned from it; nan where it said nothing.
    """
    entities = demo.entities
    if not entities.objects:
        return np.ones(len(demo), bool)
    scale = own_looks.std(axis=0) + 1e-6
    own, shown = own_looks / scale, looks / scale
    asked = ~np.isnan(guesses).any(axis=1)
    believed = np.zeros(len(demo), bool)
    believed[: untouched(demo)] = True
    if asked.sum() < 2 * NEIGHBOURS:
        return believed
    usual = np.quantile(_nearest(own[asked], own[asked], NEIGHBOURS + 1)[0][:, -1], USUAL)
    distances, nearest = _nearest(shown, own[asked], NEIGHBOURS)
    values, starts, said = own_values[asked], own_starts[asked], guesses[asked]
    for j in np.flatnonzero(~believed):
        if distances[j, -1] > usual:
            continue
        like, right = nearest[j], True
        for k in range(len(entities.objects)):
            place = entities.at(f"object {k + 1}")
            moved = np.linalg.norm(values[like][:, place] - starts[like][:, place], axis=1) >= STILL
            still = np.linalg.norm(demo.values[:, place] - demo.start[place], axis=1).max() < STILL
            if k and still:
                continue
            off = np.linalg.norm(said[like][:, place] - values[like][:, place], axis=1)
            right &= bool(moved.mean() >= SOME) and bool(np.median(off[moved]) <= RIGHT)
        believed[j] = right
    return believed


def untouched(demo: DescribedDemo) -> int:
    """Frames at the demo's beginning in which objects rest: until the hand comes to the first one, or one moves.

    >>> from orcalign.costs.predicted.entities import Entities
    >>> values = np.array([[20.0, 0.0], [9.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    >>> untouched(DescribedDemo.known(Entities((0,), objects=((1,),), unit=1.0), values, values[0]))
    2
    """
    entities = demo.entities
    first = entities.at("object 1")
    apart = np.linalg.norm(demo.values[:, entities.at("hand")] - demo.start[first], axis=1)
    comes = apart < apart.min() + NEAR
    for k in range(len(entities.objects)):
        place = entities.at(f"object {k + 1}")
        comes |= np.linalg.norm(demo.values[:, place] - demo.start[place], axis=1) >= STILL
    return int(np.flatnonzero(comes)[0])


def with_trust(demo: DescribedDemo, believed: npt.NDArray[np.bool_]) -> DescribedDemo:
    """The same, with objects that are not believed where they may be: in the hand, if they were there when they were
    believed last, else at their start."""
    values = demo.values.copy()
    entities = demo.entities
    if not entities.objects or believed.all():
        return replace(demo, believed=believed)
    hand, first = entities.at("hand"), entities.at("object 1")
    apart = np.linalg.norm(values[:, hand] - values[:, first], axis=1)
    held = (apart[believed].min() if believed.any() else 0.0) + GRASP
    last: int | None = None
    for j in range(len(demo)):
        if believed[j]:
            last = j
            continue
        for k in range(len(entities.objects)):
            place = entities.at(f"object {k + 1}")
            values[j, place] = demo.start[place]
        if last is not None and apart[last] < held:
            values[j, first] = values[j, hand] - (demo.values[last, hand] - demo.values[last, first])
    return replace(demo, values=values, believed=believed)


def with_goal(demo: DescribedDemo) -> DescribedDemo:
    """The same, with its goal drawn to where its first object ends (or its hand, where there is none): a demo ends in
    success, up to `AT_GOAL`, and each of the two places counts by what the eye expects of it.

    >>> from orcalign.costs.predicted.entities import Entities
    >>> states = [[0.0, 10.0], [7.0, 10.0]]
    >>> demo = DescribedDemo.known(Entities((0,), goal=(1,), unit=1.0), states, states[0])
    >>> blurred = replace(demo, scales=np.full((2, 2), [0.1, 4.0]))
    >>> with_goal(demo).values[0, 1].round(1), with_goal(blurred).values[0, 1].round(1)
    (np.float64(10.0), np.float64(7.6))
    """
    entities = demo.entities
    if not entities.goal or not demo.believed[-1]:
        return demo
    names = [part.name for part in entities.parts]
    thing = "object 1" if entities.objects else "hand"
    at, end = entities.at("goal"), demo.values[-1, entities.at(thing)]
    if entities.objects and np.linalg.norm(end - demo.start[entities.at(thing)]) < STILL:
        return demo
    read = float(np.median(demo.scales[:, names.index("goal")])) ** 2
    ended = float(demo.scales[-1, names.index(thing)]) ** 2 + AT_GOAL**2
    values, start = demo.values.copy(), demo.start.copy()
    goal = (np.median(values[:, at], axis=0) * ended + end * read) / (ended + read)
    values[:, at], start[at] = goal, goal
    return replace(demo, values=values, start=start)


def _nearest(one: FloatArray, others: FloatArray, count: int) -> tuple[FloatArray, npt.NDArray[np.int64]]:
    """[N, count] Distances to the nearest of the others, ascending, and which those are."""
    squares = (one**2).sum(1)[:, None] + (others**2).sum(1)[None] - 2 * one @ others.T
    nearest = np.argsort(squares, axis=1, kind="stable")[:, :count]
    return np.sqrt(np.maximum(np.take_along_axis(squares, nearest, 1), 0)), nearest
