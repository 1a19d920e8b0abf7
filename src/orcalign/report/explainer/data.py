"""What the page is made from."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.floating[Any]]
KINDS = ("stall", "skip", "backwards")


class SpanLike(Protocol):
    """A stretch of learner frames in which the demo was not followed; `orcalign.rewards` tells them."""

    @property
    def kind(self) -> str:
        """One of "stall", "skip", "backwards"."""

    @property
    def start(self) -> int:
        """First learner frame."""

    @property
    def stop(self) -> int:
        """One beyond the last learner frame; equal to `start` for something that happened between frames."""

    @property
    def demo_start(self) -> int:
        """First demo frame that it concerns."""

    @property
    def demo_stop(self) -> int:
        """One beyond the last demo frame."""

    @property
    def text(self) -> str:
        """One sentence for people."""


class StoryLike(Protocol):
    """What happened in an attempt, by ordered coverage."""

    @property
    def final_coverage(self) -> float:
        """How far the whole demo was covered in order at the end, in [0, 1]."""

    @property
    def quarters(self) -> Sequence[int | None]:
        """Learner frame at which each quarter of the demo was covered; None: never."""

    @property
    def longest_stall(self) -> int:
        """In frames."""

    @property
    def position(self) -> npt.ArrayLike:
        """[T] Demo frame that the learner follows at t."""

    @property
    def spans(self) -> Sequence[SpanLike]:
        """In any order; they may overlap."""


@dataclass(frozen=True, eq=False)
class PageClip:
    """A video to show.

    >>> PageClip("demo.mp4", np.zeros((4, 2, 3, 3), np.uint8), fps=0)
    Traceback (most recent call last):
        ...
    ValueError: The frame rate of 'demo.mp4' is 0; it must be a number above 0.
    """

    name: str
    frames: npt.NDArray[np.uint8]
    """[T, H, W, 3]"""
    fps: float

    def __post_init__(self) -> None:
        frames = self.frames
        if frames.dtype != np.uint8 or frames.ndim != 4 or frames.shape[3] != 3 or 0 in frames.shape:
            raise ValueError(
                f"The frames of {self.name!r} have type {frames.dtype} and shape {list(frames.shape)}; "
                "they must be uint8 [T,H,W,3] with at least one frame."
            )
        if not (math.isfinite(self.fps) and self.fps > 0):
            raise ValueError(f"The frame rate of {self.name!r} is {self.fps}; it must be a number above 0.")


@dataclass(frozen=True, eq=False)
class PageResult:
    """What one method made of one attempt."""

    reward: FloatArray
    """[T]"""
    assignment: FloatArray
    """[T, J] As in `matching.Match`."""
    total: float
    story: StoryLike

    def __post_init__(self) -> None:
        for name, values in (("reward", self.reward), ("assignment", self.assignment)):
            _require_finite(values, name)
        if not math.isfinite(self.total):
            raise ValueError(f"The total reward is {self.total}; it must be a finite number.")
        if len(self.story.quarters) != 4:
            raise ValueError(f"The story has {len(self.story.quarters)} quarters; it must have 4.")
        for span in self.story.spans:
            if span.kind not in KINDS:
                raise ValueError(f"A span is of kind {span.kind!r}; it must be one of {', '.join(KINDS)}.")


@dataclass(frozen=True, eq=False)
class PageAttempt(PageClip):
    """A learner's video with its costs and one result for each method."""

    cost: FloatArray
    """[T, J] Distance of learner frame t to demo frame j."""
    results: Mapping[str, PageResult]

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.cost.ndim != 2 or self.cost.shape[0] != len(self.frames):
            raise ValueError(
                f"The cost of {self.name!r} has shape {list(self.cost.shape)}; it must be [T, J] with one row "
                f"for each of the {len(self.frames)} frames."
            )
        _require_finite(self.cost, f"cost of {self.name!r}")
        if not self.results:
            raise ValueError(f"{self.name!r} has no results; give those of at least one method.")
        T, J = self.cost.shape
        for method, result in self.results.items():
            for part, shape, wanted in (
                ("reward", result.reward.shape, (T,)),
                ("assignment", result.assignment.shape, (T, J)),
                ("story's position", np.shape(result.story.position), (T,)),
            ):
                if shape != wanted:
                    raise ValueError(
                        f"The {part} of {method!r} for {self.name!r} has shape {list(shape)}; with that "
                        f"cost it must be {list(wanted)}."
                    )


@dataclass(frozen=True, eq=False)
class PageData:
    """Everything that the page shows."""

    demo: PageClip
    attempts: tuple[PageAttempt, ...]
    settings: Mapping[str, str] = field(default_factory=dict)
    """Shown at the end: encoder, distance, versions, …"""

    def __post_init__(self) -> None:
        if not self.attempts:
            raise ValueError("The page has no attempts to show; give at least one.")
        J = len(self.demo.frames)
        for attempt in self.attempts:
            if attempt.cost.shape[1] != J:
                raise ValueError(
                    f"The cost of {attempt.name!r} has {attempt.cost.shape[1]} columns; it must have one for "
                    f"each of the {J} frames of the demo {self.demo.name!r}."
                )


def _require_finite(values: FloatArray, name: str) -> None:
    if not np.isfinite(values).all():
        where = [int(i) for i in np.argwhere(~np.isfinite(values))[0]]
        raise ValueError(f"The {name} has {values[tuple(where)]} at {where}; it must be finite everywhere.")
