"""A data set and a demo in, `orcalign_progress.parquet` out: what is there already is not labelled again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from orcalign.datasets.labeller import Labeller, LabelOrder, Told
from orcalign.datasets.labels import PROGRESS, REWARD, Labels, write_progress, write_rewards
from orcalign.datasets.lerobot import Episode
from orcalign.datasets.store import LabelStore
from orcalign.files import require_writable
from orcalign.locks import folder_lock

LOCK = "orcalign_labels.lock"
Work = Callable[[LabelOrder, Labeller, Sequence[Episode], Told], Iterable[Labels]]
"""Who labels the episodes, in any order: `here`, or a cluster."""


@dataclass(frozen=True, eq=False)
class Labelled:
    """What came of it."""

    labels: tuple[Labels, ...]
    """In the order of their episodes."""
    labeller: Labeller
    fresh: int
    """Episodes that had not been labelled before."""
    progress: Path
    reward: Path | None


def here(order: LabelOrder, labeller: Labeller, episodes: Sequence[Episode], told: Told) -> Iterator[Labels]:
    """One after the other in this process."""
    return labeller(episodes, told)


def label_dataset(
    order: LabelOrder,
    out: Path,
    work: Work = here,
    told: Callable[[int, int], None] = lambda done, total: None,
    with_reward: bool = False,
    announce: Callable[[str], None] | None = None,
) -> Labelled:
    """Label what has not been labelled yet, and write the table of all.

    Args:
        order: data set, demo and settings.
        out: the folder that is written to; only files whose names begin with orcalign.
        work: who does it.
        told: frames done so far and in all.
        with_reward: write `next.reward` to a file of its own as well; one that is there is kept up to date.
        announce: told which engine encodes.
    """
    out.mkdir(parents=True, exist_ok=True)
    for name in (PROGRESS, REWARD):
        require_writable(out / name)
    with folder_lock(out / LOCK, str(out)):
        labeller = Labeller(order, announce)
        store = LabelStore(out, labeller.fingerprint)
        missing = [one for one in order.dataset.episodes if one.number not in store.labels]
        total = order.dataset.frames
        done = total - sum(one.length for one in missing)
        told(done, total)

        def more(frames: int) -> None:
            nonlocal done
            done += frames
            told(done, total)

        try:
            for one in work(order, labeller, missing, more) if missing else ():
                store.add(one)
        finally:
            store.flush()
        labels = tuple(store.finish())
        about = {**asdict(order.settings), **labeller.reward.matcher_settings[0], "demo": order.demo_name}
        write_progress(out / PROGRESS, labels, order.model, about)
        with_reward = with_reward or (out / REWARD).exists()
        if with_reward:
            write_rewards(out / REWARD, labels, order.model, about)
    return Labelled(labels, labeller, len(missing), out / PROGRESS, out / REWARD if with_reward else None)


def training_line(dataset: Any, progress: Path) -> str:
    """The line that trains with the labels, for LeRobot 0.4; see `docs/datasets.md` for later ones."""
    root = f" --dataset.root={dataset.root.resolve()}" if dataset.root == Path(dataset.name) else ""
    name = dataset.root.resolve().name if root else dataset.name
    return (
        f"lerobot-train --policy.type=smolvla --dataset.repo_id={name}{root} --use_rabc=true "
        f"--rabc_progress_path={progress.resolve()} --rabc_head_mode=dense"
    )
