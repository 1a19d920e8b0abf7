"""A number from 0 to 1 and a few words: was the demo followed, and if not, where does it end?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from orcalign.encoders import Progress
from orcalign.matching import BottleneckMatch, bottleneck, orca
from orcalign.matching.kernel import kernel
from orcalign.matching.match import FloatArray, IntArray
from orcalign.rewards.explanation import Span, Story, VideoMatch
from orcalign.rewards.following import path_of
from orcalign.rewards.story import tell

if TYPE_CHECKING:
    from orcalign.rewards.video_reward import VideoReward

Kind = Literal["followed", "stopped", "skipped", "missed", "order", "nothing", "else", "scene"]
STEEP = 4
"""How suddenly a frame stops to count around the threshold."""
HARDLY = 0.1
"""Share of the demo's way below which nothing was done."""
ELSEWHERE = 0.2
"""Share of the missing frames that must be seen at another time, for the order to be what is wrong."""


@dataclass(frozen=True, eq=False)
class Verdict:
    """What an attempt amounts to."""

    score: float
    """From 0 to 1; the same scale for every demo, length, frame rate and pause."""
    done: bool
    """Whether every moment of the demo was reached in order."""
    kind: Kind
    text: str
    """In words, such as "stopped at 60%"."""
    worst: FloatArray
    """[J] The bottleneck on the way to each demo frame, in units of the demo."""
    reached: npt.NDArray[np.bool_]
    """[J] Demo frames reached in the best order; all of them if done."""
    when: IntArray
    """[J] The learner frame that reached it; else the one before which it should have."""


class Judged(NamedTuple):
    """An attempt, judged beside a demo."""

    match: VideoMatch
    verdict: Verdict
    story: Story
    words: tuple[str, ...]
    """What of camera and light was corrected."""


def judge(
    reward: VideoReward, frames: npt.NDArray[np.uint8], fps: float | None = None, progress: Progress | None = None
) -> Judged:
    """Judge a whole attempt by a reward whose costs have a threshold, as those of `look="fine"` have.

    Args:
        reward: made with `look="fine"`, whatever its matcher.
        frames: uint8 [T,H,W,3].
        fps: of the attempt, to compare its pace with the demo's; None for the demo's own.
        progress: told how many frames have been encoded.
    """
    model: Any = reward.model
    if model.threshold is None:
        raise ValueError("this reward's costs have no threshold to judge by; make it with look='fine'.")
    eye, features = reward.see(frames, progress)
    match = reward.score_features(features)
    k = match.demo
    cost, demo = match.raw_costs[k], reward.demos[k]
    whole, between = model.whole(features, k)
    pace = 1.0 if fps is None else fps / demo.fps
    story = tell(whole, orca(whole / (whole.max() or 1.0)), between, pace, 0.5 * pace * demo.fps)
    verdict = verdict_of(cost, model.threshold, path_of(between), demo.fps)
    if not eye.trusted and np.median(whole.min(axis=1)) > np.median(between):
        # Its moments are further from the demo than the demo's own are from one another.
        flipped = model.begin(np.ascontiguousarray(frames[:, :, ::-1]))
        text = "is mirrored" if flipped.trusted else "shows another scene, or it from another place"
        verdict = replace(verdict, score=0.0, kind="scene", text=text)
    chain: BottleneckMatch = bottleneck(cost, **model.own_scale)
    story = replace(
        retold(story, verdict, demo.fps),
        total=float(match.reward.sum()),
        final_coverage=float(chain.assignment[-1, -1]),
        final_progress=float(chain.progress[-1]),
    )
    return Judged(match, verdict, story, eye.words)


def verdict_of(cost: FloatArray, threshold: float, way: FloatArray, fps: float) -> Verdict:
    """Judge an attempt by its costs in units of the demo.

        L[j]    the bottleneck at the end, as in `bottleneck` with floor 0
        g[j]    1 / (1 + (L[j] / threshold)^4)
        score   (g[J-1] + mean over j of g[j]) / 2
        done    L[J-1] <= threshold

    Args:
        cost: [T, J] of a cost model that has a threshold.
        threshold: cost up to which a demo frame counts as reached.
        way: [J] length of the demo's path up to each frame.
        fps: of the demo, for seconds.

    >>> demo = np.arange(10.0)
    >>> def judged(learner):
    ...     return verdict_of(np.abs(learner[:, None] - demo) / 4, 0.2, demo, fps=10).text
    >>> judged(demo), judged(demo[[0, 1, 2, 3, 4, 5, 5]]), judged(demo[[0] * 9]), judged(demo[::-1])
    ('followed', 'stopped at 60%', 'did nothing', 'wrong order')
    >>> judged(demo[[0, 1, 2, 6, 7, 8, 9]])
    'skipped seconds 0.3 to 0.6'
    """
    worst = bottleneck(cost).worst[-1]
    g = 1 / (1 + (worst / threshold) ** STEEP)
    done = bool(worst[-1] <= threshold)
    reached, when = reached_in_order(cost, threshold)
    kind, text = _words(cost, threshold, reached, when, way, fps)
    return Verdict(float((g[-1] + g.mean()) / 2), done, kind, text, worst, reached, when)


def retold(story: Story, verdict: Verdict, fps: float) -> Story:
    """The story of whole pictures, made to agree with what was reached.

    After a moment that was missed a picture stays another one, and where the learner is in the demo is a guess: what
    begins later is told only where the learner rests.
    """
    J, T = len(verdict.reached), len(story.position)
    quarters = [
        int(verdict.when[stop - 1]) if verdict.reached[:stop].all() else None
        for stop in (-(-(q + 1) * J // 4) for q in range(4))
    ]
    lost = T if verdict.done else int(verdict.when[int(np.argmin(verdict.reached))])
    spans = [
        span
        for span in story.spans
        if (span.kind == "stall" and (span.start <= lost + T // 5 or verdict.kind in ("stopped", "nothing")))
        or (span.kind == "backwards" and (span.stop <= lost or verdict.kind == "order"))
    ]
    missing = runs(~verdict.reached)
    least = min(2, max((stop - first for first, stop in missing), default=0))
    for first, stop in missing:
        if stop - first < least:
            continue
        start, at = (int(verdict.when[k]) for k in (max(0, first - 1), min(stop, J - 1)))
        seconds = f"demo frames {first} to {stop - 1} ({first / fps:.1f} to {stop / fps:.1f} s)"
        if stop < J:
            text = f"By learner frame {at} the learner is at demo frame {stop}, but {seconds} were skipped."
            spans.append(Span("skip", start, at + 1, first, stop, text))
        elif verdict.kind == "missed":
            text = f"From learner frame {at} on something is not as in the demo, and stays so: {seconds} are missing."
            spans.append(Span("skip", at, T, first, stop, text))
    spans.sort(key=lambda span: (span.start, span.kind))
    stall = max((span.length for span in spans if span.kind == "stall"), default=0)
    return replace(story, quarters=tuple(quarters), spans=tuple(spans), longest_stall=stall)


def reached_in_order(cost: FloatArray, threshold: float) -> tuple[npt.NDArray[np.bool_], IntArray]:
    """As many demo frames as can be reached in order, whatever lies between: which [J], and when [J].

    When a frame is not reached: when those before it were.

    >>> cost = np.array([[0.0, 9.0, 9.0], [9.0, 9.0, 0.0]])
    >>> reached, when = reached_in_order(cost, 0.5)
    >>> reached.tolist(), when.tolist()
    ([True, False, True], [0, 0, 1])
    """
    near = np.ascontiguousarray(cost <= threshold)
    counts = np.zeros((near.shape[0] + 1, near.shape[1] + 1), np.int64)
    _count(near, counts)
    T, J = near.shape
    reached, when = np.zeros(J, bool), np.empty(J, np.int64)
    t = T - 1
    for j in range(J - 1, -1, -1):
        # The earliest learner frame with which as much is reached.
        here = counts[t + 1, j + 1]
        while t > 0 and counts[t, j + 1] == here:
            t -= 1
        reached[j] = near[t, j] and counts[t + 1, j] + 1 == here
        when[j] = t
    return reached, when


@kernel
def _count(near: Any, counts: Any) -> None:
    """counts[t+1, j+1]: demo frames up to j that learner frames up to t can reach in order."""
    T, J = near.shape
    for t in range(T):
        for j in range(J):
            counts[t + 1, j + 1] = max(counts[t, j + 1], counts[t + 1, j] + near[t, j])


def _words(
    cost: FloatArray, threshold: float, reached: npt.NDArray[np.bool_], when: IntArray, way: FloatArray, fps: float
) -> tuple[Kind, str]:
    if reached.all():
        return "followed", "followed"
    near = cost <= threshold
    first = int(np.argmin(reached))
    rests, settled = (
        _rests(cost[when[first] + len(cost) // 10 :], threshold),
        _rests(cost[when[first] + 1 :], threshold),
    )
    if not reached.any() or way[reached].max() <= HARDLY * way[-1]:
        nothing = rests and near[:, 0].mean() > 0.9
        return ("nothing", "did nothing") if nothing else ("else", "did something else")
    # A missing frame that is seen at a moment which nothing that was reached explains.
    free = near & ~np.asarray(near[:, reached].any(axis=1))[:, None]
    if free[:, ~reached].any(axis=0).mean() > ELSEWHERE:
        return "order", "wrong order"
    if reached[-1] and not settled:
        start, stop = max(runs(~reached), key=lambda run: run[1] - run[0])
        return "skipped", f"skipped seconds {start / fps:.1f} to {stop / fps:.1f}"
    if rests:
        return "stopped", f"stopped at {first / len(reached):.0%}"
    return "missed", f"missed something from second {first / fps:.1f} on"


def _rests(cost: FloatArray, threshold: float) -> bool:
    """Whether a picture does not change: one that does looks more or less like some demo frame."""
    return not len(cost) or bool(np.ptp(cost, axis=0).max() <= threshold)


def runs(true: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Where it is true: (start, stop) of each stretch.

    >>> runs(np.array([False, True, True, False, True]))
    [(1, 3), (4, 5)]
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], true, [False]]).astype(np.int8)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
