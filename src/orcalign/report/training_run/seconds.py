"""Where a run's time went."""

from __future__ import annotations

from dataclasses import dataclass

from orcalign.report.training_run.reading import RunRecords, number, section

PARTS = {
    "simulate": "simulate",
    "render": "draw the frames",
    "observe": "see and compare them",
    "update": "update the agent",
    "wait": "learner waits",
    "evaluate": "evaluate",
    "other": "other",
}
"""What the parts are called on the page, in the order of the data's way."""


@dataclass(frozen=True)
class Spent:
    """Seconds of a run."""

    parts: dict[str, float]
    """By the names of `PARTS`; only those above 0."""
    wall: float
    """By the clock: what the records call their total."""
    whole: bool
    """Whether the clock's time is that of all records; evaluations may not say how long they held up the run."""

    @property
    def overlap(self) -> bool:
        """Whether the parts add up to more than the clock shows, because some ran at the same time."""
        return self.whole and sum(self.parts.values()) > 1.02 * self.wall > 0


def spent(run: RunRecords) -> Spent:
    """Add up the timing of all records; an evaluation counts as one part, whatever it consists of."""
    parts = dict.fromkeys(PARTS, 0.0)
    wall = 0.0
    for record in run.episodes:
        timing = section(record, "timing")
        wall += number(timing.get("total")) or 0.0
        for name, value in timing.items():
            if name != "total":
                parts[name if name in PARTS else "other"] += number(value) or 0.0
    whole = True
    for record in run.evaluations:
        timing = section(record, "timing")
        total = number(timing.get("total"))
        whole = whole and total is not None
        wall += total or 0.0
        worked = sum(number(value) or 0.0 for name, value in timing.items() if name not in ("total", "wait"))
        parts["evaluate"] += worked or total or 0.0
    parts["other"] += max(0.0, wall - sum(parts.values()))
    return Spent({name: seconds for name, seconds in parts.items() if seconds > 0}, wall, whole)


def time_bar(run: RunRecords) -> str:
    """One stacked bar of the parts with a legend; nothing for a run without timing."""
    time = spent(run)
    whole = sum(time.parts.values())
    if whole <= 0:
        return ""
    shares = {name: seconds / whole for name, seconds in time.parts.items()}
    bar = "".join(
        f'<i class="part-{name}" style="flex-grow:{share:.5f}"></i>' for name, share in shares.items()
    )
    legend = "".join(
        f'<li><i class="part-{name}"></i>{PARTS[name]} <b>{_percent(share)}</b></li>'
        for name, share in shares.items()
    )
    note = (
        '<p class="note">Episodes are played while the learner learns or waits, so the parts add up to '
        f"{whole / time.wall:.1f} times the time by the clock.</p>"
        if time.overlap
        else ""
    )
    return (
        '<section aria-labelledby="time-title"><h2 id="time-title">Where the time went</h2>'
        f'<div class="timebar" aria-hidden="true">{bar}</div><ul class="legend">{legend}</ul>{note}</section>'
    )


def _percent(share: float) -> str:
    return "< 1%" if share < 0.005 else f"{share:.0%}"
