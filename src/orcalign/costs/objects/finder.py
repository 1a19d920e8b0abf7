"""Where the things stand that a video is about, seen in an episode's first frame.

What differs there from the first frames of other episodes is what stands elsewhere each time; it is looked for in the
demo's first frame by shifting it until it fits. What moves within the first step is whoever acts, and is not looked at:
it is found in its own place wherever the things stand. Nothing but pictures is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from scipy import ndimage

from orcalign.costs.objects.journey import Journey, find_journeys
from orcalign.costs.objects.thing import (
    DIFFERENT,
    FAR,
    FEWEST,
    Floats,
    Found,
    Frame,
    Frames,
    Mask,
    Pixels,
    Shift,
    Thing,
    blurred,
    contrast,
    search,
)

OFTEN = 0.3
"""Share of other first frames from which a pixel differs if it shows something that stands elsewhere in them. Not a
half: where a thing is moved by little, most first frames show it in the same pixels."""
RIM = 2
"""Pixels around a thing that are looked at as well, and within which two are one."""
MARGIN = 1 / 64
"""Around what moves within the first step, as a share of the picture's height: other first steps lead elsewhere."""
SAMPLES = 500
"""Pixels of a thing that are compared, at most."""
AGREE = 0.045
"""How far apart, as a share of the picture's smaller side, two first frames may see the same thing of the demo."""
TOGETHER = 2.0
"""Pixels by which the shifts of two things differ (median) if the two are one: a box, and a mark that goes with it."""
ENOUGH = 0.5
"""Share of all that stands elsewhere that has to be found in the demo."""
CHANGES = 0.05
"""Share of a thing's pixels that change in the demo if it is one that the demo is about."""


@final
@dataclass(frozen=True, eq=False)
class Finder:
    """Finds the things of a demo in the first frames of other episodes.

    >>> def scene(row, column):
    ...     frame = np.full((64, 64, 3), 90, np.uint8)
    ...     frame[row : row + 7, column : column + 7] = (220, 40, 40)
    ...     return frame
    >>> others = [scene(*at) for at in ((21, 22), (21, 37), (35, 22), (36, 37), (20, 30))]
    >>> demo = np.stack([scene(28, 30), scene(28, 34), scene(28, 38)])
    >>> finder = Finder.learn(demo, others)
    >>> [thing.home for thing in finder.things], finder.find(scene(30, 24))
    ([(31, 33)], (Found(shift=(2, -6), clear=True),))
    >>> Finder.learn(demo, [scene(28, 30)] * 5) is None
    True
    """

    things: tuple[Thing, ...]
    """One at least, in the order in which they change in the demo."""
    size: tuple[int, int]
    """Height and width of the pictures."""
    journeys: tuple[Journey, ...] = ()
    """Of those that are taken away, if these are followed."""

    @classmethod
    def learn(
        cls, demo: Frames, firsts: Sequence[Frame], nexts: Sequence[Frame] = (), follow: bool = True
    ) -> Finder | None:
        """From pictures alone; None if there is nothing to find: very small, or always in one place.

        Things that do not change in the demo are left out, unless none does.

        Args:
            demo: uint8 [J,H,W,3].
            firsts: first frames of other episodes, uint8 [H,W,3]; five or more, with the things here and there.
            nexts: the same episodes after a step of any kind, as many as firsts; what has moved by then is whoever
                acts, and would be found in its own place wherever the things stand. Left out, nobody is there.
            follow: whether things that are taken away in the demo are followed to where it brings them.
        """
        height, width = demo.shape[1:3]
        for frame in (*firsts, *nexts):
            _check_size((height, width), frame.shape)
        others = [blurred(first) for first in firsts]
        moved = np.zeros((height, width), bool)
        for first, after in zip(others, nexts, strict=bool(nexts)):
            moved |= np.abs(first - blurred(after)).sum(-1) > DIFFERENT
        still = ~ndimage.binary_dilation(moved, iterations=max(1, round(MARGIN * height)))
        shown = blurred(demo[0])
        pieces = [_pieces(k, others, still) for k in range(len(others))]
        seen = [
            one for k, (first, of) in enumerate(zip(others, pieces, strict=True)) for one in _seen(k, first, of, shown)
        ]
        groups = _meetings(seen, AGREE * min(height, width), len(firsts))
        # A mark is not the door: where little of what stands elsewhere is found, something else is not understood.
        understood = sum(len(one.body[0]) for group in groups for one in group)
        if understood < ENOUGH * sum(len(body[0]) for of in pieces for body, _ in of):
            return None
        things = []
        for group in _one_each(groups):
            thing = _typical(group)
            changed = thing.changed(demo, (0, 0)).mean(axis=1)
            things.append((thing, changed.max(), int(np.argmax(changed >= changed.max() / 2))))
        about = [one for one in things if one[1] >= CHANGES] or things[:1]
        about.sort(key=lambda one: one[2])
        if not about:
            return None
        chosen = tuple(thing for thing, _, _ in about)
        journeys = find_journeys(chosen, demo, FAR * min(height, width)) if follow else ()
        return cls(chosen, (height, width), journeys)

    def find(self, first: Frame) -> tuple[Found, ...]:
        """Each thing in the episode that begins with ``first``."""
        _check_size(self.size, first.shape)
        seen = blurred(first)
        return tuple(thing.find(seen) for thing in self.things)


@dataclass(frozen=True, eq=False)
class _Candidate:
    """What stands elsewhere in one first frame, and where the demo seems to have it."""

    episode: int
    looked_at: Pixels
    colours: Floats
    body: Pixels
    shift: Shift
    """Against the demo."""
    misfit: float
    """How much it differs there, in units of its own contrast."""

    @property
    def home(self) -> tuple[float, float]:
        rows, columns = self.body
        return rows.mean() - self.shift[0], columns.mean() - self.shift[1]


def _pieces(episode: int, firsts: list[Floats], still: Mask) -> list[tuple[Pixels, Pixels]]:
    """All that stands elsewhere in one of the first frames, piece by piece: its pixels, and some of them with a rim."""
    first = firsts[episode]
    differs = [np.abs(first - other).sum(-1) > DIFFERENT for k, other in enumerate(firsts) if k != episode]
    there = ndimage.binary_opening((np.mean(differs, axis=0) >= OFTEN) & still) if differs else still & False
    parts, count = ndimage.label(ndimage.binary_dilation(there, iterations=RIM))
    pieces = []
    for number in range(1, count + 1):
        body = _pixels((parts == number) & there)
        if len(body[0]) >= FEWEST:
            pieces.append((body, _some(_pixels((parts == number) & still))))
    return pieces


def _seen(episode: int, first: Floats, pieces: list[tuple[Pixels, Pixels]], shown: Floats) -> list[_Candidate]:
    """Those pieces of a first frame that are seen in the demo's."""
    found = []
    for body, looked_at in pieces:
        colours = first[looked_at]
        shift, error = search(colours, looked_at, shown)
        own = contrast(colours)
        # One colour is the table where other episodes have something, and fits anywhere.
        if own > DIFFERENT / 2 and error < own:
            found.append(_Candidate(episode, looked_at, colours, body, shift, error / own))
    return found


def _meetings(seen: list[_Candidate], near: float, episodes: int) -> list[list[_Candidate]]:
    """Groups of candidates from more than half of the episodes that meet in one place of the demo.

    Each first frame has looked for its own things; only where most of them meet there is one.
    """
    groups: list[list[_Candidate]] = []
    left = list(seen)
    while left:
        homes = np.array([one.home for one in left])
        close = np.abs(homes[:, None] - homes).max(-1) <= near
        votes = [len({left[k].episode for k in np.flatnonzero(row)}) for row in close]
        best = int(np.argmax(votes))
        if 2 * votes[best] <= episodes:
            break
        groups.append([left[k] for k in np.flatnonzero(close[best])])
        left = [one for k, one in enumerate(left) if not close[best][k]]
    return groups


def _one_each(groups: list[list[_Candidate]]) -> list[list[_Candidate]]:
    """Largest first, and of those that always move alike only the largest."""
    groups = sorted(groups, key=lambda group: -float(np.median([len(one.body[0]) for one in group])))
    apart: list[list[_Candidate]] = []
    for group in groups:
        if not any(_one_thing(group, other) for other in apart):
            apart.append(group)
    return apart


def _one_thing(group: list[_Candidate], other: list[_Candidate]) -> bool:
    """Whether two groups always move alike."""
    there = {one.episode: one.shift for one in other}
    differ = [np.abs(np.subtract(one.shift, there[one.episode])).max() for one in group if one.episode in there]
    return bool(differ) and float(np.median(differ)) <= TOGETHER


def _typical(group: list[_Candidate]) -> Thing:
    """The candidate of a group that is most like the others in place and size, and fits the demo best."""
    home = np.median([one.home for one in group], axis=0)
    size = np.median([len(one.body[0]) for one in group])
    chosen = min(
        group,
        key=lambda one: (
            np.abs(np.subtract(one.home, home)).max() / (1 + np.sqrt(size))
            + one.misfit
            + abs(np.log(len(one.body[0]) / size))
        ),
    )
    down, right = chosen.shift
    looked_at = chosen.looked_at[0] - down, chosen.looked_at[1] - right
    rows, columns = _some(chosen.body)
    return Thing(looked_at, chosen.colours, (rows - down, columns - right), (int(home[0]), int(home[1])))


def _check_size(demo: tuple[int, ...], frame: tuple[int, ...]) -> None:
    if demo != frame[:2]:
        raise ValueError(
            f"the frames are {frame[1]}x{frame[0]} pixels and the demo's {demo[1]}x{demo[0]}, so that an object "
            "cannot be found in both; make them the same size, or compare whole pictures (--look whole)."
        )


def _pixels(mask: Mask) -> Pixels:
    rows, columns = np.nonzero(mask)
    return rows, columns


def _some(pixels: Pixels) -> Pixels:
    """Not more of them than are needed, evenly chosen."""
    rows, columns = pixels
    if len(rows) <= SAMPLES:
        return rows, columns
    some = np.linspace(0, len(rows) - 1, SAMPLES).astype(int)
    return rows[some], columns[some]
