"""What the eye of a run sees in its video, as a part of the run's page."""

from __future__ import annotations

from collections.abc import Sequence

from orcalign.report.explainer.document import PagePart
from orcalign.report.seen import seen_by_run, seen_part
from orcalign.report.training_run.reading import RunRecords
from orcalign.report.training_run.words import follows_places
from orcalign.rewards import Evidence


def eye_part(
    run: RunRecords, episodes: Sequence[Evidence] = (), explained: bool = False
) -> tuple[list[PagePart], tuple[str, ...]]:
    """The part, beside the explainer of these episodes if they are `explained`; and what could not be shown.

    Nothing for runs that follow pictures.
    """
    if not follows_places(run):
        return [], ()
    try:
        seen = seen_by_run(run.folder)
        if seen is None:
            return [], ("What the eye sees in the video: it has learned nothing yet.",)
        read = seen.described.entities.read
        learner = [read(one["states"])[1:] for one in episodes if "states" in one.arrays]
        return [seen_part(seen, learner, clip=not explained)], ()
    except (OSError, ValueError, KeyError) as error:
        return [], (f"What the eye sees in the video cannot be shown: {error}",)
