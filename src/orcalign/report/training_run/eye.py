"""What the eye of a run sees in its video, as a part of the run's page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from orcalign.costs.predicted import Entities
from orcalign.matching.match import FloatArray
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
        learner = [places for one in episodes if (places := _places(seen.described.entities, one)) is not None]
        return [seen_part(seen, learner, clip=not explained)], ()
    except (OSError, ValueError, KeyError) as error:
        return [], (f"What the eye sees in the video cannot be shown: {error}",)


def _places(entities: Entities, evidence: Evidence) -> FloatArray | None:
    """[T, E] Of the learner: as its pictures were read, or true; None if that was not kept."""
    if "values" in evidence.arrays:
        return np.asarray(evidence["values"])
    return entities.read(evidence["states"])[1:] if "states" in evidence.arrays else None
