"""The same labels from a cluster: episodes as a Ray Data set, labelled by tasks; a node that dies costs some time, and
nothing else."""

from __future__ import annotations

import functools
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from orcalign.datasets.hub import find_dataset
from orcalign.datasets.labeller import Labeller, LabelOrder, Told
from orcalign.datasets.labels import Labels
from orcalign.datasets.lerobot import Episode
from orcalign.training.players import plainly
from orcalign.training.ray_players import connect


def on_ray(order: LabelOrder, labeller: Labeller, episodes: Sequence[Episode], told: Told) -> Iterator[Labels]:
    """A task for each episode, as many at a time as the cluster has CPUs for; labels as they come.

    A folder must be seen by all machines; what comes from the hub is fetched by each.
    """
    ray = connect()
    import ray.data as ray_data

    ray_data.DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    # Kept until the end: a task that is started again needs it again.
    travelling = ray.put(order)
    lengths = {one.number: one.length for one in episodes}
    numbers = ray_data.from_items([{"episode": number} for number in lengths], override_num_blocks=len(lengths))
    given = {"order": travelling, "fingerprint": labeller.fingerprint}
    for row in numbers.map(cast(Any, label_there), fn_kwargs=given, num_cpus=1).iter_rows():
        if row["error"]:
            raise ValueError(row["error"])
        found = Labels.from_row({name: value for name, value in row.items() if name not in ("error", "episode")})
        told(lengths[found.number])
        yield found


def label_there(row: Mapping[str, Any], order: Any, fingerprint: str) -> dict[str, Any]:
    """What a task runs: labels of an episode as plain values. Errors travel as text: Ray would retry what cannot get
    better."""
    number = int(row["episode"])
    empty = {"number": number, "start": 0, "score": 0.0, "picture": b"", "kind": "", "story": ""}
    empty |= {name: [0.0] for name in ("dense", "sparse", "reward")}
    try:
        labeller = _ready(order, fingerprint)
        [found] = labeller([labeller.order.dataset.episode(number)])
        return {"episode": number, "error": "", **found.row()}
    except Exception as error:
        return {"episode": number, "error": plainly(error), **empty}


@functools.lru_cache(maxsize=1)
def _ready(order: Any, fingerprint: str) -> Labeller:
    """Made once in a process, which tasks share."""
    import ray

    given: LabelOrder = ray.get(order)
    dataset = given.dataset
    if not dataset.root.is_dir():
        dataset = find_dataset(dataset.name, dataset.camera)[0]
    made = Labeller(replace(given, dataset=dataset))
    if made.fingerprint != fingerprint:
        raise ValueError(
            "a machine of the cluster sees other videos, or encodes with other weights or another engine, so its "
            "labels would not be the same; make all machines alike, or name --engine."
        )
    return made
