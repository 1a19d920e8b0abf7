"""Time warps as index maps: output frame k shows original frame indices[k].

A warp never touches pixels, so the same one applies to frames, features, timestamps or success flags.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orcalign.checks import require, require_count


@dataclass(frozen=True)
class Warp:
    """A map from output frames to the frames of an original of `source_length`.

    >>> warp = Warp((0, 1, 1, 3), 4)
    >>> warp.apply(np.array([10, 11, 12, 13]))
    array([10, 11, 11, 13])
    """

    indices: tuple[int, ...]
    """Original frame shown at each output position; any order, repeats allowed."""
    source_length: int
    """Number of frames of the original."""

    def __post_init__(self) -> None:
        indices = tuple(require_count(i, "Frame index", at_least=0) for i in self.indices)
        vars(self).update(indices=indices, source_length=_length(self.source_length))
        if not self.indices:
            raise ValueError("A warp without indices shows nothing; keep at least one frame.")
        if (last := max(self.indices)) >= self.source_length:
            raise ValueError(
                f"Frame index {last} is outside an original of {self.source_length} frames; "
                f"use 0 to {self.source_length - 1}."
            )

    def __len__(self) -> int:
        return len(self.indices)

    def __iter__(self) -> Iterator[int]:
        return iter(self.indices)

    def apply(self, array: ArrayLike) -> NDArray[Any]:
        """Warp an array along its first axis: [source_length, ...] → [len(warp), ...]."""
        values = np.asarray(array)
        if values.shape[:1] != (self.source_length,):
            have = f"{len(values)} frames" if values.ndim else "no axis"
            raise ValueError(
                f"This warp maps an original of {self.source_length} frames, the array has {have}; "
                "make the warp for the array's length."
            )
        return values[np.array(self.indices, dtype=np.intp)]

    def inverse(self, nearest: bool = False) -> NDArray[np.int64]:
        """For each original frame the first output position that shows it [source_length].

        A frame that is never shown gives -1 or, with `nearest`, the first position showing the closest
        shown frame (the earlier one of two equally close).

        >>> Warp((0, 4), 5).inverse(nearest=True)
        array([0, 0, 0, 1, 1])
        """
        first = np.full(self.source_length, -1, dtype=np.int64)
        shown, position = np.unique(np.array(self.indices), return_index=True)
        first[shown] = position
        if nearest:
            frames = np.arange(self.source_length)
            right = np.clip(np.searchsorted(shown, frames), 0, len(shown) - 1)
            left = np.clip(right - 1, 0, None)
            closer_left = np.abs(frames - shown[left]) <= np.abs(frames - shown[right])
            first = position[np.where(closer_left, left, right)].astype(np.int64)
        return first

    def keep_list(self) -> str:
        """The warp as text that `keep` reads back; runs of four and more are written as ranges.

        >>> keep("0-14,31,43,44", 63).keep_list()
        '0-14,31,43,44'
        """
        pieces: list[str] = []
        for _, group in groupby(enumerate(self.indices), key=lambda pair: pair[1] - pair[0]):
            run = [index for _, index in group]
            pieces += [f"{run[0]}-{run[-1]}"] if len(run) > 3 else [str(index) for index in run]
        return ",".join(pieces)


def _length(length: int) -> int:
    return require_count(length, "length", at_least=1)


def _segment(length: int, segment: tuple[int, int] | None) -> tuple[int, int]:
    _length(length)
    if segment is None:
        return 0, length
    start, stop = segment
    if not 0 <= start < stop <= length:
        raise ValueError(
            f"segment=({start}, {stop}) must satisfy 0 <= start < stop <= {length}, the length; stop is not part of it."
        )
    return start, stop


def identity(length: int) -> Warp:
    """Every frame once, in order.

    >>> identity(3).indices
    (0, 1, 2)
    """
    return Warp(tuple(range(_length(length))), length)


def keep(text: str, length: int) -> Warp:
    """Frames and inclusive ranges in the order in which they are listed.

    >>> keep("0-2, 7, 9", 10).indices
    (0, 1, 2, 7, 9)
    """
    _length(length)
    indices: list[int] = []
    for piece in text.split(","):
        match = re.fullmatch(r"\s*([0-9]{1,9})\s*(?:-\s*([0-9]{1,9})\s*)?", piece)
        if match is None:
            raise ValueError(
                f"{piece.strip()!r} in keep-list {text!r} is neither a frame like 7 nor a range like 0-14."
            )
        first = int(match[1])
        last = first if match[2] is None else int(match[2])
        if last < first:
            raise ValueError(
                f"Range {piece.strip()!r} in keep-list {text!r} runs backwards; write {last}-{first}, "
                "or list frames one by one to reverse them."
            )
        # Checked before the range is spelled out: "0-999999999" must not take the memory.
        if last >= length:
            raise ValueError(
                f"Frame {last} in keep-list {text!r} is outside an original of {length} frames; use 0 to {length - 1}."
            )
        indices += range(first, last + 1)
    return Warp(tuple(indices), length)


def speed_up(length: int, k: int, segment: tuple[int, int] | None = None, keep_last: bool = True) -> Warp:
    """Keep every k-th frame of `segment` (start, stop), from its first on; all frames outside it.

    With `keep_last` the very last frame of the original, which shows the goal, is kept in any case.

    >>> speed_up(10, 3, segment=(2, 6)).indices
    (0, 1, 2, 5, 6, 7, 8, 9)
    """
    require_count(k, "k", at_least=1)
    start, stop = _segment(length, segment)
    indices = [*range(start), *range(start, stop, k), *range(stop, length)]
    if keep_last and indices[-1] != length - 1:
        indices.append(length - 1)
    return Warp(tuple(indices), length)


def slow_down(length: int, k: int, segment: tuple[int, int] | None = None) -> Warp:
    """Show each frame of `segment` (start, stop) k times.

    >>> slow_down(4, 3, segment=(1, 2)).indices
    (0, 1, 1, 1, 2, 3)
    """
    require_count(k, "k", at_least=1)
    start, stop = _segment(length, segment)
    slow = [index for index in range(start, stop) for _ in range(k)]
    return Warp((*range(start), *slow, *range(stop, length)), length)


def pause(length: int, at: int, frames: int) -> Warp:
    """Hold frame `at` for `frames` more frames.

    >>> pause(4, at=2, frames=2).indices
    (0, 1, 2, 2, 2, 3)
    """
    require("at", at, at_least=0, below=_length(length))
    require_count(frames, "frames", at_least=0)
    return Warp((*range(at + 1), *[at] * frames, *range(at + 1, length)), length)


def compose(first: Warp, second: Warp) -> Warp:
    """One warp on the original that does `first` and then `second`.

    >>> compose(speed_up(6, 2, keep_last=False), slow_down(3, 2)).indices
    (0, 0, 2, 2, 4, 4)
    """
    if second.source_length != len(first):
        raise ValueError(
            f"The second warp maps {second.source_length} frames, the first one gives {len(first)}; "
            f"make the second for length {len(first)}."
        )
    return Warp(tuple(first.indices[i] for i in second.indices), first.source_length)
