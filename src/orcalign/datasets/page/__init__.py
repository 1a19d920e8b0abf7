"""One page for a data set: all episodes ranked, failures first; a click shows the video, the progress, and why."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from orcalign.datasets.labelling import Labelled
from orcalign.datasets.labels import Curve, Labels, ranked
from orcalign.datasets.truth import Agreement, agreement
from orcalign.files import write_file
from orcalign.report.explainer.document import PagePart, as_text, part_text, render_document, safe

PAGE = "orcalign_page.html"
POINTS = 120
"""Of a curve."""


def write_page(
    done: Labelled, pages: Mapping[int, Path], truth: Mapping[int, Mapping[str, float]] | None = None
) -> Path:
    """Write the page beside the labels, whole or not at all.

    Args:
        done: the labels.
        pages: of some episodes, that explain them.
        truth: as of `read_truth`.
    """
    path = done.progress.parent / PAGE
    write_file(path, dataset_page(done, path.parent, pages, truth or {}).encode())
    return path


def dataset_page(
    done: Labelled, folder: Path, pages: Mapping[int, Path], truth: Mapping[int, Mapping[str, float]]
) -> str:
    """The page; it lies in `folder`, plays the data set's own videos from there, and holds all else itself."""
    order = done.labeller.order
    dataset = order.dataset
    agreed = agreement(done.labels, truth, order.demo_number) if truth else None
    places = {one.number: one for one in dataset.episodes}
    videos = {path: k for k, path in enumerate(sorted({one.video for one in dataset.episodes}))}
    rows = [
        {
            **_row(one, truth.get(one.number, {})),
            "video": videos[places[one.number].video],
            "begins": places[one.number].begins,
            "page": pages[one.number].name if one.number in pages else None,
        }
        for one in ranked(done.labels)
    ]
    data = {
        "episodes": rows,
        "videos": [quote(os.path.relpath(path, folder)) for path in videos],
        "fps": dataset.fps,
        "demo": order.demo_number,
    }
    markup = part_text(__name__, "page.html").replace("{{tiles}}", _tiles(done, agreed))
    part = PagePart(
        markup, part_text(__name__, "page.js"), part_text(__name__, "page.css"), {"dataset": data}, videos=True
    )
    subtitle = f"{dataset.name} · {dataset.camera} · demo: {order.demo_name} · {order.settings.matcher}"
    return render_document(Path(dataset.name).name, "Which episodes follow the demo?", subtitle, [part])


def _row(one: Labels, truth: Mapping[str, float]) -> dict[str, Any]:
    return {
        "number": one.number,
        "frames": len(one.dense),
        "score": round(one.score, 4),
        "dense": squeezed(one.dense),
        "sparse": squeezed(one.sparse),
        "stall": one.story["stall"],
        "quarters": one.story["quarters"],
        "words": [as_text(text) for text in one.story["words"]],
        "truth": ", ".join(f"{name} {value:g}" for name, value in truth.items()),
        "failed": truth.get("success") == 0,
        "picture": f"data:{one.kind};base64,{b64encode(one.picture).decode()}",
    }


def squeezed(curve: Curve) -> str:
    """At most `POINTS` evenly chosen values of a curve in [0, 1], a byte each, in base64; the last is among them.

    >>> from base64 import b64decode
    >>> list(b64decode(squeezed(np.array([0.0, 0.5, 1.0], np.float32))))
    [0, 128, 255]
    """
    kept = np.unique(np.linspace(0, len(curve) - 1, min(len(curve), POINTS)).round().astype(int))
    values = np.nan_to_num(curve[kept]).clip(0, 1) * 255
    return b64encode(values.round().astype(np.uint8).tobytes()).decode()


def _tiles(done: Labelled, agreed: Agreement | None) -> str:
    frames = done.labeller.order.dataset.frames
    scores = [one.score for one in done.labels]
    tiles = {"episodes": f"{len(scores):,}", "frames": f"{frames:,}", "median score": f"{np.median(scores):.2f}"}
    if agreed is not None:
        measured = {"VOC of successes": agreed.voc, "Kendall's tau": agreed.tau, "failure AUROC": agreed.auroc}
        tiles |= {name: f"{value:.3f}" for name, value in measured.items() if value is not None}
    return "".join(f"<div><dt>{safe(name)}</dt><dd><b>{safe(value)}</b></dd></div>" for name, value in tiles.items())
