"""What a run's evaluations say against it: what was reached is left again, the environment's own return falls."""

from __future__ import annotations

from typing import Any

import numpy as np

from orcalign.report.training_run.reading import Record, RunRecords, number, section

REACHED = 0.2
"""Coverage from which something has been reached that can be left."""
LEFT = 1 / 3
"""Share of it from which the episode counts as ending there."""
RISES = 0.1
"""Of progress."""
FALLS = 0.1
"""Of the environment's own return, as a share of what it was."""


def doubts(run: RunRecords) -> str:
    """Sentences, each after a space; nothing if there are none."""
    return "".join(f" {one}" for one in (_leaves(run), _against(run)) if one)


def _leaves(run: RunRecords) -> str:
    last = run.evaluations[-1]
    reached, left = number(last.get("reached")), number(last.get("coverage"))
    if reached is None or left is None or reached < REACHED or left >= LEFT * reached:
        return ""
    return (
        f"It arrives and leaves again: the end of the video is covered to {reached:.2f}, and in the last tenth of the "
        f"episodes {left:.2f} of that is left; end the demo with some frames in which it stays."
    )


def _against(run: RunRecords) -> str:
    first, last = run.evaluations[0], run.evaluations[-1]
    followed = [number(one.get("progress")) for one in (first, last)]
    own = [_own(one) for one in (first, last)]
    if None in followed or None in own or followed[1] - followed[0] < RISES:  # type: ignore[operator]
        return ""
    (before, spread), (after, _) = own  # type: ignore[misc]
    if before - after <= max(spread, FALLS * abs(before)):
        return ""
    return (
        f"The better the video is followed, the less the environment itself pays: progress rose from {followed[0]:.2f} "
        f"to {followed[1]:.2f}, and the environment's own return fell from {before:.3g} to {after:.3g}. What it wants "
        "is not what the video shows, or what is followed is not what matters in it."
    )


def _own(record: Record) -> tuple[float, float] | None:
    """The environment's own return in an evaluation, and its spread over episodes."""
    mean = number(record.get("env_return"))
    if mean is None:
        return None
    each: Any = record.get("env_returns") or section(record, "each").get("env_returns") or [mean]
    return mean, float(np.std(each))
