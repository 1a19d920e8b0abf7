"""Metrics as scalars: for TensorBoard, and for Weights & Biases for those who have an account there."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

FOLDERS = {"episode": "train", "evaluation": "eval"}
"""Kind of record to the folder of its tags."""
LEFT_OUT = ("kind", "step", "episode", "episodes", "measured")
FLUSH_SECONDS = 20.0


class TensorBoardLog:
    """Writes the numbers of records as scalars: train/reward, eval/normalised, train_time/render, …

    One file a start of the run, by TensorBoard's own format code. Its `EventFileWriter` is not used: it brings in
    TensorFlow where that is installed, and names files so that those of one second are read in any order.
    Of a run that goes on from a checkpoint at `from_step`, later events, which it may have left behind when it was
    killed, are hidden.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = TensorBoardLog(folder)
    ...     log.write({"kind": "evaluation", "step": 500, "normalised": 0.8})
    ...     log.close()
    ...     [path.name[:20] for path in Path(folder).iterdir()]
    ['events.out.tfevents.']
    """

    def __init__(self, folder: str | os.PathLike[str], from_step: int | None = None) -> None:
        try:
            from tensorboard.compat.proto import event_pb2, summary_pb2
            from tensorboard.summary.writer.record_writer import RecordWriter
        except ModuleNotFoundError as error:
            raise _not_installed("TensorBoard events", "tensorboard", error) from error
        self._event, self._summary = event_pb2.Event, summary_pb2.Summary
        # Unbuffered would cost a system call for each part of a record; `flush` decides instead.
        self._file = _next_file(Path(folder)).open("xb")
        self._writer: Any = RecordWriter(self._file)
        self._flushed = time.monotonic()
        self._add(file_version="brain.Event:2")
        if from_step is not None:
            # Readers drop what they have read so far from this step on; the checkpoint's own step is to stay.
            start = event_pb2.SessionLog(status=event_pb2.SessionLog.START)
            self._add(step=from_step + 1, session_log=start)
        self.flush()

    @classmethod
    def of_run(cls, folder: Path) -> TensorBoardLog:
        """Of the run in a folder, from its last checkpoint on."""
        from orcalign.training.checkpoint import Checkpoints

        steps = Checkpoints(folder / "checkpoints").steps()
        return cls(folder / "tensorboard", steps[-1] if steps else None)

    def write(self, record: Mapping[str, Any]) -> None:
        """Add the scalars of an episode or evaluation; other kinds and nested lists are left out."""
        values = [self._summary.Value(tag=tag, simple_value=value) for tag, value in scalars(record)]
        if not values:
            return
        self._add(step=int(record["step"]), summary=self._summary(value=values))
        if record["kind"] == "evaluation" or time.monotonic() - self._flushed > FLUSH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Make what was written visible to TensorBoard."""
        self._writer.flush()
        self._flushed = time.monotonic()

    def close(self) -> None:
        """Write the rest and close the file; closing twice is fine."""
        self._file.close()

    def _add(self, **content: Any) -> None:
        self._writer.write(self._event(wall_time=time.time(), **content).SerializeToString())


def scalars(record: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """The tags and numbers of a record.

    >>> list(scalars({"kind": "episode", "step": 9, "reward": 2, "success": True, "timing": {"render": 0.5}}))
    [('train/reward', 2.0), ('train/success', 1.0), ('train_time/render', 0.5)]
    """
    folder = FOLDERS.get(record["kind"])
    if folder is None:
        return
    for name, value in record.items():
        if name == "timing":
            yield from ((f"{folder}_time/{part}", float(seconds)) for part, seconds in value.items())
        elif name not in LEFT_OUT and isinstance(value, int | float):
            yield f"{folder}/{name}", float(value)


class WandbLog:
    """Sends the same scalars as `TensorBoardLog`, with the run's config; wandb keeps its files in the folder."""

    def __init__(self, config: Mapping[str, Any], folder: str | os.PathLike[str]) -> None:
        try:
            import wandb
        except ModuleNotFoundError as error:
            raise _not_installed("Weights & Biases", "wandb", error) from error
        self._run: Any = wandb.init(project="orcalign", config=dict(config), dir=os.fspath(folder))

    def write(self, record: Mapping[str, Any]) -> None:
        """Send the scalars of an episode or evaluation."""
        if values := dict(scalars(record)):
            self._run.log({**values, "step": int(record["step"])})

    def close(self) -> None:
        """Send the rest."""
        self._run.finish()


def _next_file(folder: Path) -> Path:
    """A name after those that are there: TensorBoard reads files in the order of their names.

    Hiding the end of a killed run depends on that order, also when it is started again in the same second.
    """
    folder.mkdir(parents=True, exist_ok=True)
    start = "events.out.tfevents."
    taken = [path.name.removeprefix(start).split(".")[0] for path in folder.glob(f"{start}*")]
    latest = max((int(number) for number in taken if number.isdigit()), default=0)
    return folder / f"{start}{max(int(time.time()), latest + 1):010d}.orcalign"


def _not_installed(what: str, package: str, error: ModuleNotFoundError) -> ValueError:
    return ValueError(
        f"{what} cannot be written: {error.name} is not installed; install it with: pip install {package}, or leave "
        "it out."
    )
