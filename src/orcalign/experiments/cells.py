"""The folder of a cell: the run, what came out of it, what went wrong, and who works in it."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from orcalign import __version__
from orcalign.files import write_file

FORMAT = 1
TAIL = 65_536
"""Bytes from the end of the metrics in which the last whole line is looked for."""


class CellFolder:
    """OUT/cells/KEY: `run/` is the run, `done.json` its result."""

    def __init__(self, out: Path, key: str) -> None:
        self.key = key
        self.path = out / "cells" / key
        self.run = self.path / "run"
        self.done_file = self.path / "done.json"
        self.failed_file = self.path / "failed.json"
        self.log_file = self.path / "log.txt"
        self.lock_file = self.path / "lock"

    def done(self) -> dict[str, Any] | None:
        """The result; None if there is none yet."""
        return _read(self.done_file)

    def failure(self) -> dict[str, Any] | None:
        """What went wrong the last time; None if nothing did."""
        return _read(self.failed_file)

    def started(self) -> bool:
        """Whether there is a run that can go on."""
        return (self.run / "config.yaml").is_file()

    def write_done(self, result: dict[str, Any]) -> None:
        """Keep the result: from now on the cell is done."""
        _write(self.done_file, {"orcalign": __version__, **result})
        self.failed_file.unlink(missing_ok=True)

    def write_failure(self, error: str, attempts: int) -> None:
        """Keep what went wrong."""
        self.path.mkdir(parents=True, exist_ok=True)
        _write(self.failed_file, {"error": error, "attempts": attempts})

    def steps(self) -> int:
        """Agent steps of the run so far, from the last line of its metrics.

        >>> CellFolder(Path("nowhere"), "0").steps()
        0
        """
        try:
            with (self.run / "metrics.jsonl").open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - TAIL))
                lines = file.read().split(b"\n")[:-1]
            return int(json.loads(lines[-1])["step"])
        except (OSError, ValueError, IndexError, KeyError):
            return 0


def check_version(where: Path, version: str | None) -> None:
    """Refuse what another version of orcalign made.

    >>> check_version(Path("runs/mine"), "0.0.1")
    Traceback (most recent call last):
    ...
    ValueError: 'runs/mine' was made by orcalign 0.0.1, and this is ...
    """
    if version != __version__:
        raise ValueError(
            f"{str(where)!r} was made by orcalign {version}, and this is {__version__}: their numbers do not belong "
            "into one table. Choose another --out, delete that folder, or install the version that made it."
        )


def _write(path: Path, values: dict[str, Any]) -> None:
    write_file(path, (json.dumps({"format": FORMAT, **values}) + "\n").encode())


def _read(path: Path) -> dict[str, Any] | None:
    try:
        values = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise ValueError(f"{str(path)!r} cannot be read ({error}); delete it, and it is made again.") from None
    found = values.get("format") if isinstance(values, dict) else None
    if found != FORMAT:
        raise ValueError(
            f"{str(path)!r} has format {found}, and this version of orcalign reads {FORMAT}; "
            "use the version that wrote it, or delete it, and it is made again."
        )
    return dict(values)


class FolderInUseError(OSError):
    """Somebody else works in the folder."""


def is_held(path: Path) -> bool:
    """Whether somebody holds the lock right now; asks without keeping anybody out.

    >>> is_held(Path("no-such-folder/lock"))
    False
    """
    try:
        handle = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


@contextmanager
def folder_lock(path: Path, what: str, wait_seconds: float = 0.0, way_out: str = "") -> Iterator[None]:
    """Held from `with` to its end; the system lets go of it when its holder dies, however it dies.

    Args:
        path: the lock file; it stays behind, empty of meaning.
        what: names the folder in errors.
        wait_seconds: how long to wait for another holder; 0 does not.
        way_out: what else to do, in errors.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with folder_lock(Path(folder) / "lock", "here"):
    ...         with folder_lock(Path(folder) / "lock", "here"):
    ...             pass
    Traceback (most recent call last):
    ...
    orcalign.experiments.cells.FolderInUseError: here is in use by process ...
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        until = time.monotonic() + wait_seconds
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= until:
                    raise FolderInUseError(
                        f"{what} is in use by {_holder(handle)}; wait for it to end{way_out}."
                    ) from None
                time.sleep(min(0.2, max(0.0, until - time.monotonic())))
        os.ftruncate(handle, 0)
        os.pwrite(handle, json.dumps({"process": os.getpid(), "machine": socket.gethostname()}).encode(), 0)
        yield
    finally:
        os.close(handle)


def _holder(handle: int) -> str:
    try:
        about = json.loads(os.pread(handle, 4096, 0))
        return f"process {about['process']} on {about['machine']}"
    except (ValueError, KeyError, TypeError):
        return "another process"
