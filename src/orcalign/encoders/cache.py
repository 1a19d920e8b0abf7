"""Features on disk, found by the content of the frames: a clip is encoded once, whoever asks."""

from __future__ import annotations

import contextlib
import hashlib
import io
import logging
import os
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from orcalign.checks import require_count
from orcalign.encoders.protocol import Encoder, Features, Frames, Progress, check_frames
from orcalign.files import write_file

log = logging.getLogger(__name__)

GIB = 1024**3
DIGEST_SIZE = hashlib.sha256().digest_size
STALE_SECONDS = 3600
"""A half-written file this old belongs to a process that was killed."""


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


@dataclass(frozen=True)
class FeatureCache:
    """A folder of ``<key>.npy`` files, at most ``limit_bytes`` in all; the least recently used go first.

    Each file is a plain NumPy array followed by the SHA-256 of its bytes. Any number of processes may use one
    folder: files appear whole, may vanish at any time, and a damaged one counts as absent.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cache = FeatureCache(Path(folder))
    ...     cache.put("ab12", np.ones((2, 3), np.float32))
    ...     cache.get("ab12").tolist(), cache.get("cd34")
    ([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]], None)
    """

    folder: Path = field(default_factory=lambda: cache_dir() / "features")
    limit_bytes: int = 4 * GIB

    def __post_init__(self) -> None:
        require_count(self.limit_bytes, "limit_bytes", at_least=1)

    def get(self, key: str) -> Features | None:
        """The features [T,D] under ``key``, or None."""
        path = self._path(key)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        body = memoryview(data)[:-DIGEST_SIZE]
        if hashlib.sha256(body).digest() != data[-DIGEST_SIZE:]:
            log.warning("The cached features %s are damaged and computed again.", path)
            _remove(path)
            return None
        # Read-only or gone: the entry is then merely older than it should be.
        with contextlib.suppress(OSError):
            os.utime(path)
        features: Features = np.load(io.BytesIO(body), allow_pickle=False)
        return features

    def put(self, key: str, features: Features) -> None:
        """Keep features [T,D] under ``key``, and drop old entries if the folder is too full.

        A full or read-only disk costs the cache, not the caller's work.
        """
        buffer = io.BytesIO()
        np.save(buffer, np.ascontiguousarray(features), allow_pickle=False)
        body = buffer.getbuffer()
        if len(body) + DIGEST_SIZE > self.limit_bytes:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_file(self._path(key), body, hashlib.sha256(body).digest())
            self._shrink()
        except OSError as error:
            log.warning("Features are not cached in %s (%s).", self.folder, error)

    def _path(self, key: str) -> Path:
        if not key or set(key) - set("0123456789abcdef"):
            raise ValueError(f"The cache key {key!r} is not lower-case hex: use a hexdigest().")
        return self.folder / f"{key}.npy"

    def _shrink(self) -> None:
        entries = []
        for path in self.folder.glob("*.npy"):
            try:
                status = path.stat()
            except OSError:
                continue  # another process removed it
            # A hidden file is being written, by us or by another process: never to be counted as an entry.
            if not path.name.startswith("."):
                entries.append((status.st_mtime_ns, status.st_size, path))
            elif time.time() - status.st_mtime > STALE_SECONDS:
                _remove(path)
        total = sum(size for _, size, _ in entries)
        for _, size, path in sorted(entries):
            if total <= self.limit_bytes:
                break
            _remove(path)
            total -= size


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        log.info("%s cannot be removed (%s).", path, error)


class CachedEncoder:
    """An `Encoder` that asks the cache first; the key is the whole clip and the encoder's fingerprint.

    >>> import tempfile
    >>> from orcalign.encoders.resize import Pixels
    >>> frames = np.zeros((3, 8, 8, 3), np.uint8)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     encoder = CachedEncoder(Pixels(size=4), FeatureCache(Path(folder)))
    ...     bool((encoder(frames) == encoder(frames)).all()), len(list(Path(folder).iterdir()))
    (True, 1)
    """

    def __init__(self, encoder: Encoder, cache: FeatureCache) -> None:
        self.encoder, self.cache = encoder, cache
        self.name, self.size, self.spatial = encoder.name, encoder.size, encoder.spatial
        self.dim = encoder.dim
        self.fingerprint = encoder.fingerprint  # the encoder's own: caching changes no number

    def key(self, frames: Frames) -> str:
        """Hex digest of shape, bytes and encoder."""
        digest = hashlib.sha256(f"{self.fingerprint} {frames.shape} ".encode())
        digest.update(np.ascontiguousarray(frames).data)
        return digest.hexdigest()

    def __call__(self, frames: Frames, progress: Progress | None = None) -> Features:
        """Encode uint8 frames [T,H,W,3] into float32 features [T,D], or find them on disk."""
        check_frames(frames)
        key = self.key(frames)
        found = self.cache.get(key)
        if found is not None and found.shape == (len(frames), self.dim) and found.dtype == np.float32:
            if progress is not None:
                progress(len(frames))
            return found
        features = self.encoder(frames, progress)
        self.cache.put(key, features)
        return features
