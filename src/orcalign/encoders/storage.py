"""Where caches live, and how a file is written so that it is either whole or absent."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path


def cache_dir() -> Path:
    """The folder of caches: ``$ORCALIGN_CACHE``, ``$XDG_CACHE_HOME/orcalign`` or ``~/.cache/orcalign``.

    >>> cache_dir().is_absolute()
    True
    """
    if chosen := os.environ.get("ORCALIGN_CACHE"):
        return Path(chosen).expanduser().absolute()
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The XDG specification tells us to ignore a relative path.
    return (base if base.is_absolute() else Path.home() / ".cache") / "orcalign"


def write_whole(path: Path, *parts: bytes | memoryview) -> None:
    """Write the parts one after another to ``path``: through a temporary neighbour, synced, then renamed.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder) / "a", b"one", b"two")
    ...     (Path(folder) / "a").read_bytes(), len(list(Path(folder).iterdir()))
    (b'onetwo', 1)
    """
    handle, temporary = tempfile.mkstemp(prefix=".", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def sha256_of(path: Path) -> str:
    """Hex SHA-256 of a file.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a").write_bytes(b"abc")
    ...     sha256_of(Path(folder) / "a")[:8]
    'ba7816bf'
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
