"""What an eye sees in a demo, as a part of a page: over its frames, from above and from the side, frame by frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from orcalign.matching.match import FloatArray
from orcalign.report.explainer.document import PagePart, part_text, safe
from orcalign.report.explainer.embedding import embed_frames
from orcalign.report.seen.demo import SeenDemo
from orcalign.report.seen.verdict import verdict

CLIP_BYTES = 600_000
"""What the demo's pictures may take where the page does not have them anyway."""


def seen_part(seen: SeenDemo, learner: Sequence[FloatArray] = (), clip: bool = True) -> PagePart:
    """The part; `learner` [T, E] has the true values of each attempt of the explainer on the page.

    Without `clip` the pictures are those of that explainer's demo.
    """
    told, parts = seen.described, seen.described.entities.parts
    J = len(told)
    data: dict[str, Any] = {
        "parts": [
            {"name": part.name, "start": part.at.start, "stop": part.at.stop, "place": part in seen.places}
            for part in parts
        ],
        "values": _rounded(told.values, 1),
        "scales": _rounded(told.scales, 2),
        "believed": told.believed.tolist(),
        "start": _rounded(told.start, 1),
        "spots": _rounded(seen.spots, 4) if seen.projection is not None else None,
        "words": [seen.words(j) for j in range(J)],
        "learner": [_rounded(values, 1) for values in learner],
    }
    if clip:
        pictures = embed_frames(seen.demo.frames, CLIP_BYTES)
        data["clip"] = {"name": "demo", "fps": float(seen.demo.fps), "count": J, **pictures}
    markup = part_text("orcalign.report.seen", "seen.html").format(
        verdict="".join(f'<p class="verdict {one.kind}">{safe(one.text)}</p>' for one in verdict(seen)),
        last=J - 1,
        errors=_errors(seen),
        note=safe(_note(seen)),
    )
    script = "\n".join(
        [
            part_text("orcalign.report.explainer", "frames.js"),
            *(part_text("orcalign.report.seen", f) for f in ("marks.js", "seen.js")),
        ]
    )
    return PagePart(markup, script, part_text("orcalign.report.seen", "seen.css"), {"seen": data})


def _errors(seen: SeenDemo) -> str:
    if not seen.errors:
        return ""
    said = "; ".join(f"{safe(name)} {median:.1f} (90%: {most:.1f})" for name, (median, most) in seen.errors.items())
    return f"<p class='errors'><b>Median error on frames that it has not learned from, in cm</b>: {said}</p>"


def _note(seen: SeenDemo) -> str:
    """Where the marks over the pictures come from."""
    if not seen.places:
        return "Nothing is known of these numbers, so there is no place to draw."
    if seen.projection is None:
        return (
            "Where a place is in the picture is not known for this environment's camera, so places are drawn from "
            "above and from the side alone."
        )
    return "Marks stand where the camera of the simulator would show the places; a wrong eye's marks lie beside things."


def _rounded(values: FloatArray, digits: int) -> list[Any]:
    """Nested lists; None for nan."""
    shown = np.round(values, digits).astype(object)
    shown[~np.isfinite(values)] = None
    return shown.tolist()  # type: ignore[no-any-return]
