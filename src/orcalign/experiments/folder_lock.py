"""One at a time in a folder. The system lets go of the lock when its holder dies, however it dies."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from pathlib import Path
from types import TracebackType


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


class FolderLock:
    """Held from `with` to its end.

    Args:
        path: the lock file; it stays behind, empty of meaning.
        what: names the folder in errors.
        wait_seconds: how long to wait for another holder; 0 does not.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with FolderLock(Path(folder) / "lock", "here"):
    ...         with FolderLock(Path(folder) / "lock", "here"):
    ...             pass
    Traceback (most recent call last):
    ...
    orcalign.experiments.folder_lock.FolderInUseError: here is in use by process ...
    """

    def __init__(self, path: Path, what: str, wait_seconds: float = 0.0, way_out: str = "") -> None:
        self._path, self._what, self._wait, self._way_out = path, what, wait_seconds, way_out
        self._handle = -1

    def __enter__(self) -> FolderLock:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        until = time.monotonic() + self._wait
        while True:
            try:
                fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= until:
                    holder = self._holder()
                    os.close(self._handle)
                    raise FolderInUseError(
                        f"{self._what} is in use by {holder}; wait for it to end{self._way_out}."
                    ) from None
                time.sleep(min(0.2, max(0.0, until - time.monotonic())))
        os.ftruncate(self._handle, 0)
        os.pwrite(
            self._handle, json.dumps({"process": os.getpid(), "machine": socket.gethostname()}).encode(), 0
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._handle)

    def _holder(self) -> str:
        try:
            about = json.loads(os.pread(self._handle, 4096, 0))
            return f"process {about['process']} on {about['machine']}"
        except (ValueError, KeyError, TypeError):
            return "another process"
