"""Labels that are kept while a data set is labelled, so that a run that was killed goes on where it was."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable
from pathlib import Path

from orcalign.datasets.labels import COLUMNS, Labels
from orcalign.datasets.parquet import metadata_of, read_table, write_table

EPISODES = "orcalign_episodes.parquet"
"""All labels, once there are all of them."""
PART = "orcalign_part_{:06d}.parquet"
FLUSH_SECONDS = 10.0
"""What a kill costs at most."""


class LabelStore:
    """Labels by the number of their episode, in files of a folder; those of another fingerprint are not seen.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     LabelStore(Path(folder), "a").labels
    {}
    """

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self._folder, self._fingerprint = folder, fingerprint
        self.labels: dict[int, Labels] = {}
        self._fresh: list[Labels] = []
        self._flushed = time.monotonic()
        for path in [folder / EPISODES, *self._parts()]:
            if metadata_of(path).get("fingerprint") == fingerprint:
                # A part that a failing disk has spoilt is labelled again.
                with contextlib.suppress(ValueError):
                    rows = read_table(path, list(COLUMNS)).to_pylist()
                    self.labels.update((one.number, one) for one in map(Labels.from_row, rows))

    def add(self, labels: Labels) -> None:
        """Keep it; on disk at most some seconds later."""
        self.labels[labels.number] = labels
        self._fresh.append(labels)
        if time.monotonic() - self._flushed >= FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Put what is new on disk now."""
        if self._fresh:
            last = max((int(path.stem.rsplit("_", 1)[1]) for path in self._parts()), default=-1)
            self._write(self._folder / PART.format(last + 1), self._fresh)
        self._fresh, self._flushed = [], time.monotonic()

    def finish(self) -> list[Labels]:
        """All labels in the order of their episodes, in one file; parts are no longer needed."""
        labels = [self.labels[number] for number in sorted(self.labels)]
        if self._fresh or metadata_of(self._folder / EPISODES).get("fingerprint") != self._fingerprint or self._parts():
            self._write(self._folder / EPISODES, labels)
        self._fresh = []
        for path in self._parts():
            path.unlink()
        return labels

    def _parts(self) -> list[Path]:
        return sorted(path for path in self._folder.glob(PART.format(0).replace("000000", "[0-9]*")))

    def _write(self, path: Path, labels: Iterable[Labels]) -> None:
        rows = [one.row() for one in labels]
        columns = {name: (kind, [row[name] for row in rows]) for name, kind in COLUMNS.items()}
        write_table(path, columns, {"fingerprint": self._fingerprint})
