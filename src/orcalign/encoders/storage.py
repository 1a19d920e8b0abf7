"""Where caches live, and what is in a file."""

from __future__ import annotations

import hashlib
import os
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


def sha256_of(path: Path) -> str:
    """Hex SHA-256 of a file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a").write_bytes(b"abc")
    ...     sha256_of(Path(folder) / "a")[:8]
    'ba7816bf'
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
