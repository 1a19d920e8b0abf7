"""A labelled data set as a recording for the Rerun viewer."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from orcalign.datasets.labeller import frames_of
from orcalign.datasets.labelling import Labelled
from orcalign.report.rrd import Track, write_rrd
from orcalign.video import read_video


def write_recording(path: Path, done: Labelled, shown: Iterable[int]) -> None:
    """Progress and reward of all episodes on the data set's own `index`; pictures of those that are shown."""
    order, wanted = done.labeller.order, set(shown)

    def tracks() -> Iterable[Track]:
        for one in done.labels:
            frames = None
            if one.number in wanted:
                options = frames_of(order.dataset, order.dataset.episode(one.number), order.settings.crop)
                frames = read_video(order.dataset.episode(one.number).video, options).frames
            curves = {"progress_dense": one.dense, "progress_sparse": one.sparse, "next.reward": one.reward}
            yield Track("", order.dataset.fps, curves, frames, order.dataset.camera, one.start, one.number)

    write_rrd(path, order.dataset.name, tracks())
