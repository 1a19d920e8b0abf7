"""The same labels from a cluster: episodes as a Ray Data set, labelled by actors; a node that dies costs its episodes
some time, and nothing else."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from orcalign.datasets.hub import find_dataset
from orcalign.datasets.labeller import Labeller, LabelOrder, Told
from orcalign.datasets.labels import Labels
from orcalign.datasets.lerobot import Episode
from orcalign.training.players import plainly
from orcalign.training.ray_players import connect


def on_ray(order: LabelOrder, labeller: Labeller, episodes: Sequence[Episode], told: Told) -> Iterator[Labels]:
    """As many actors as the cluster has CPUs for, at most one for each episode; labels as they come.

    A folder must be seen by all machines; what comes from the hub is fetched by each.
    """
    ray = connect()
    import ray.data as ray_data

    ray_data.DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    # Kept until the end: an actor that is started again needs it again.
    travelling = ray.put(order)
    actors = max(1, min(len(episodes), int(ray.cluster_resources().get("CPU", 1))))
    lengths = {one.number: one.length for one in episodes}
    numbers = ray_data.from_items([{"episode": number} for number in lengths], override_num_blocks=len(lengths))
    rows = numbers.map(
        RayLabeller, fn_constructor_args=(travelling, labeller.fingerprint), concurrency=(1, actors), num_cpus=1
    )
    for row in rows.iter_rows():
        if row["error"]:
            raise ValueError(row["error"])
        found = Labels.from_row({name: value for name, value in row.items() if name not in ("error", "episode")})
        told(lengths[found.number])
        yield found


class RayLabeller:
    """What an actor runs. Errors travel as text: Ray would retry what cannot get better."""

    def __init__(self, order: Any, fingerprint: str) -> None:
        import ray

        self._order: LabelOrder = ray.get(order) if isinstance(order, ray.ObjectRef) else order
        self._fingerprint = fingerprint
        self._labeller: Labeller | None = None

    def __call__(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Labels of an episode as plain values."""
        number = int(row["episode"])
        empty = {"number": number, "start": 0, "score": 0.0, "picture": b"", "kind": "", "story": ""}
        empty |= {name: [0.0] for name in ("dense", "sparse", "reward")}
        try:
            labeller = self._ready()
            [found] = labeller([labeller.order.dataset.episode(number)])
            return {"episode": number, "error": "", **found.row()}
        except Exception as error:
            return {"episode": number, "error": plainly(error), **empty}

    def _ready(self) -> Labeller:
        if self._labeller is None:
            dataset = self._order.dataset
            if not dataset.root.is_dir():
                dataset = find_dataset(dataset.name, dataset.camera)[0]
            made = Labeller(replace(self._order, dataset=dataset))
            if made.fingerprint != self._fingerprint:
                raise ValueError(
                    "a machine of the cluster sees other videos, or encodes with other weights or another engine, so "
                    "its labels would not be the same; make all machines alike, or name --engine."
                )
            self._labeller = made
        return self._labeller
