"""Locks on folders: who works in one keeps others out until it ends, however it ends."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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
    orcalign.locks.FolderInUseError: here is in use by process ...
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
