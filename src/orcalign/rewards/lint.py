"""Is this demo fit to learn from? Findings with frame numbers and what to do about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from orcalign.costs import FrameCosts
from orcalign.encoders.resize import resize
from orcalign.matching.match import FloatArray
from orcalign.rewards.demos import DemoLike, as_demos
from orcalign.video import Demo

Severity = Literal["error", "warning", "note"]
Ranges = tuple[tuple[int, int], ...]

CELLS = 32
"""Pictures are compared by the mean colours of 32x32 cells, which averages sensor and codec noise away."""
NOISE = 3.0
"""Largest change of a cell, in levels of 255, up to which two pictures are the same; more if they are grainy."""
PAIRS = 16
"""Of frames that follow each other, by which the grain of a demo is measured."""
PIXELS = 256
"""Rows and columns by which it is measured, at most."""
GRAIN = 16.0
"""Standard deviation, in levels of 255, up to which changes can be grain: what differs by more are other pictures."""
DEVIATIONS = 6.0
"""Standard deviations that none of the 3,072 values of some dozens of pictures exceeds by chance."""
BLACK = 16.0
"""A picture is black if no cell is brighter."""
JUMP = 5.0
"""A step is a jump if it is so many times as large as the median step."""
UNDERFLOW = 708.0
"""exp(-708) is about the smallest number that float64 holds with full precision."""
WEAK = 200.0
"""Frames from which the reward is a number that only its logarithm makes sense of."""
FEATURE_NOISE = 1e-4
"""Cosine distance that an encoder's arithmetic alone may cause."""
MANY = 400
"""Frames up to which all pairs are compared; of longer demos, evenly spaced ones."""


@dataclass(frozen=True)
class Finding:
    """One thing about a demo that somebody should know.

    >>> str(Finding("long-pause", "warning", ((3, 9),), "Nothing moves.", "Cut it."))
    'warning long-pause (frames 3-8): Nothing moves. Cut it.'
    """

    code: str
    severity: Severity
    frames: Ranges
    """Half-open ranges (start, stop) of demo frames; empty if the whole demo is meant."""
    message: str
    advice: str

    def __str__(self) -> str:
        shown = ", ".join(str(a) if b == a + 1 else f"{a}-{b - 1}" for a, b in self.frames[:8])
        more = ", ..." if len(self.frames) > 8 else ""
        where = f" (frames {shown}{more})" if shown else ""
        return f"{self.severity} {self.code}{where}: {self.message} {self.advice}"


def wise_to_train(findings: Iterable[Finding]) -> bool:
    """Whether no finding is an error.

    >>> wise_to_train([]), wise_to_train([Finding("too-short", "error", (), "Two frames.", "Film more.")])
    (True, False)
    """
    return all(finding.severity != "error" for finding in findings)


def lint_demo(demo: DemoLike, features: npt.ArrayLike | None = None, distance: str = "cosine") -> list[Finding]:
    """Look for what makes a demo hard or useless to learn from, the worst first.

    From what the demo knows of itself: ends-without-success. From pixels alone: too-short, too-long, static,
    black-frames, long-pause, duplicate-frames, jump, returns-to-start. With features also: indistinct-frames, and what
    looks like the start to the encoder.

    Args:
        demo: one demo, as for `VideoReward`.
        features: [J, D] its features, from the encoder that the reward will use.
        distance: "cosine" or "euclidean", as for the reward.

    >>> frames = np.zeros((2, 8, 8, 3), np.uint8)
    >>> [finding.code for finding in lint_demo(frames)]
    ['too-short', 'black-frames', 'static']
    """
    demos = as_demos(demo)
    if len(demos) > 1:
        raise ValueError(f"there are {len(demos)} demos; lint them one at a time.")
    one = demos[0]
    pictures = resize(one.frames, CELLS).reshape(len(one), -1).astype(np.float32)
    own = None if features is None else FrameCosts(features, distance)
    if own is not None and own.num_frames != len(one):
        raise ValueError(
            f"there are features of {own.num_frames} frames for a demo of {len(one)}; encode this demo's frames."
        )
    noise = cell_noise(one.frames)
    found = [*_length(one), *_success(one), *_black(pictures), *_motion(pictures, noise)]
    if not any(finding.code == "static" for finding in found):
        found += [*_return(pictures, own), *_indistinct(pictures, own, noise)]
    return sorted(found, key=lambda finding: get_args(Severity).index(finding.severity))


def _length(demo: Demo) -> Iterator[Finding]:
    J = len(demo)
    fps = max(0.1, demo.fps * 100 / J)
    slower = f"Import it with a lower frame rate (--fps {fps:.2g} leaves about 100 frames), or use matcher orca_log."
    if J < 3:
        message = f"The demo has {J} frame(s), and order needs a beginning, a middle and an end."
        advice = "Import it with a higher frame rate, or film more of it."
        yield Finding("too-short", "error", (), message, advice)
    # A fair attempt is one floor above the floor on average; calibrated, floor and temperature are equal.
    elif J > UNDERFLOW:
        message = f"With {J} frames orca's product is 0 for a fair attempt at the calibrated temperature."
        yield Finding("too-long", "error", (), message, slower)
    elif J > WEAK:
        message = f"With {J} frames orca's reward is tiny (about 1e-{J * 0.434:.0f} for a fair attempt)."
        yield Finding("too-long", "warning", (), message, slower)


def _success(demo: Demo) -> Iterator[Finding]:
    if demo.success is not None and not demo.success[-1]:
        done = np.array(demo.success)
        message = f"The task is not done in the last frame ({demo.success_words} show success)."
        advice = "Who imitates it exactly fails: end it at a success (demo warp --keep), or make it by --demo-end hold."
        yield Finding("ends-without-success", "warning", ranges(done), message, advice)


def _black(pictures: FloatArray) -> Iterator[Finding]:
    black = pictures.max(axis=1) <= BLACK
    if not black.any():
        return
    # Black at an end is a fade that trimming removes, but untrimmed it is the goal that would be learned.
    bad = black[0] or black[-1] or black.mean() > 0.1
    message = f"{int(black.sum())} of {len(black)} frames are black."
    advice = "No learner will look like that: trim them (--start, --end) or leave them out."
    yield Finding("black-frames", "error" if bad else "warning", ranges(black), message, advice)


def _motion(pictures: FloatArray, noise: float) -> Iterator[Finding]:
    J = len(pictures)
    if J < 2:
        return
    steps = np.abs(np.diff(pictures, axis=0))
    still = steps.max(axis=1) <= noise
    if still.all() and np.abs(pictures - pictures[0]).max() <= 2 * noise:
        message = "Nothing moves in the whole demo."
        yield Finding("static", "error", ((0, J),), message, "Choose a part of the video that shows the task.")
        return
    # still[j] is about frames j and j+1: a run of n still steps is n+1 equal pictures.
    runs = [(a, b + 1) for a, b in ranges(still)]
    shortest = max(5, -(-J // 10))
    pauses = tuple(run for run in runs if run[1] - run[0] >= shortest)
    doubles = tuple(run for run in runs if run[1] - run[0] < shortest)
    if pauses:
        longest = max(b - a for a, b in pauses)
        message = f"Nothing moves for up to {longest} frames in a row."
        advice = "orca does not mind, but other matchers will wait there: cut pauses with demo warp --keep."
        yield Finding("long-pause", "warning", pauses, message, advice)
    if doubles:
        count = sum(b - a - 1 for a, b in doubles)
        message = f"{count} frames repeat the one before."
        advice = "Harmless; a lower frame rate (--fps) removes them and makes matching faster."
        yield Finding("duplicate-frames", "note", doubles, message, advice)
    size = steps.mean(axis=1)
    jumps = (size > JUMP * np.median(size[~still])) & ~still if (~still).sum() >= 3 else np.zeros(J - 1, bool)
    if jumps.any():
        places = tuple((int(j), int(j) + 2) for j in np.flatnonzero(jumps))
        message = f"The picture jumps at {len(places)} place(s), as at a cut."
        advice = "What happens in between is never rewarded: use one uncut take, or trim to one side of the cut."
        yield Finding("jump", "warning", places, message, advice)


def _return(pictures: FloatArray, own: FrameCosts | None) -> Iterator[Finding]:
    J = len(pictures)
    if J < 3:
        return
    from_start = np.abs(pictures - pictures[0]).mean(axis=1)
    alike = from_start[-1] <= 0.1 * from_start.max()
    seen_by = "the last frame looks like the first"
    if own is not None and not alike:
        between = own.between_demo_frames()
        alike = between.max() >= 1e-6 and between[0, -1] <= between.max() / 16
        seen_by = "to the encoder the last frame looks like the first"
    if alike:
        message = f"The demo ends where it began: {seen_by}, so a learner that does nothing is already at the goal."
        advice = "End the demo at the moment of success (--end), before the way home."
        yield Finding("returns-to-start", "warning", ((0, 1), (J - 1, J)), message, advice)


def _indistinct(pictures: FloatArray, own: FrameCosts | None, noise: float) -> Iterator[Finding]:
    J = len(pictures)
    if own is None or J < 3:
        return
    from scipy.spatial.distance import cdist

    chosen = np.unique(np.linspace(0, J - 1, min(J, MANY)).round().astype(np.int64))
    pixels = cdist(pictures[chosen], pictures[chosen], "chebyshev")
    between = own.between_demo_frames()[np.ix_(chosen, chosen)]
    same = pixels <= noise
    # What equal pictures are apart is noise of the features; a cosine has a smallest noise of its own.
    apart = max(float(between[same].max()), FEATURE_NOISE if own.distance == "cosine" else 0.0)
    blind = (pixels > 5 * noise) & (between <= apart)
    confused = np.zeros(J, bool)
    confused[chosen] = blind.any(axis=1)
    if not confused.any():
        return
    share = float(confused[chosen].mean())
    a, b = (int(chosen[i]) for i in np.argwhere(blind)[0])
    message = (
        f"{share:.0%} of the frames show something else than another frame, and the encoder gives both the same "
        f"features (such as frames {a} and {b}; distance up to {apart:.1e})."
    )
    advice = "Use another encoder, a larger input size, or crop closer to the action."
    severity: Severity = "error" if share > 0.5 else "warning"
    yield Finding("indistinct-frames", severity, ranges(confused), message, advice)


def ranges(mask: npt.NDArray[np.bool_]) -> Ranges:
    """Half-open runs of True in a mask [J].

    >>> ranges(np.array([True, True, False, True]))
    ((0, 2), (3, 4))
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8))).tolist()
    return tuple(zip(edges[::2], edges[1::2], strict=True))


def cell_noise(frames: npt.NDArray[np.uint8]) -> float:
    """Largest change of a cell that the grain of the pictures [J,H,W,3] explains, in levels of 255.

    Grain is what half of all pixels change by from one frame to the next, and each on its own: a cell, which
    averages many, hardly changes by it in large pictures, and visibly in small ones. What moves changes a cell
    as much as its pixels, and most of a picture does not move.

    >>> grain = np.random.default_rng(0).normal(100, 5, (9, 64, 64, 3)).astype(np.uint8)
    >>> cell_noise(np.zeros((9, 64, 64, 3), np.uint8)), round(cell_noise(grain))
    (3.0, 14)
    """
    J, H, W, _ = frames.shape
    if J < 2:
        return NOISE
    before = np.unique(np.linspace(0, J - 2, min(J - 1, PAIRS)).round().astype(np.int64))
    # Single pixels tell it, so that of large pictures a few are enough.
    few = frames[:, :: -(-H // PIXELS), :: -(-W // PIXELS)]
    changes = few[before + 1].astype(np.int16) - few[before]
    sizes = np.abs(changes - np.median(changes)).ravel()
    half = sizes.size // 2
    # Of a normal distribution the half that deviates less does so by 0.3247 standard deviations on average.
    spread = float(np.partition(sizes, half)[:half].mean()) / 0.3247
    if spread > GRAIN:
        return NOISE
    # The triangle that makes a cell of n pixels leaves 2/3 of what their plain mean would.
    left = min(1.0, 2 / 3 * CELLS / float(np.sqrt(H * W)))
    return max(NOISE, DEVIATIONS * spread * left)
