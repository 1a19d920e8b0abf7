"""Files and folders that appear whole or not at all."""

import contextlib
import ctypes
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_EXCHANGE = 2
_HERE = -100


def _mode(default: int) -> int:
    mask = os.umask(0)
    os.umask(mask)
    return default & ~mask


def _unwritable(path: Path, error: OSError) -> OSError:
    # An error without a number was raised by this package, about something else, and already explains itself.
    if error.errno is None:
        return error
    reason = (error.strerror or str(error)).lower()
    # PyAV's error types cannot be made from one text.
    kind = type(error) if type(error).__module__ == "builtins" else OSError
    return kind(f"Cannot write {str(path)!r} ({reason}); choose a folder that exists and may be written to.")


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """A temporary file beside `path` to write to; it becomes `path` only if the block ends without error.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_file(Path(folder) / "a.txt") as part:
    ...         _ = part.write_text("whole")
    ...     sorted(p.name for p in Path(folder).iterdir())
    ['a.txt']
    """
    if path.is_dir():
        raise IsADirectoryError(f"Cannot write {str(path)!r}: it is a folder; give a file name.")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.stem[:40]}-", suffix=f".part{path.suffix}", dir=path.parent)
    except OSError as error:
        raise _unwritable(path, error) from None
    os.close(handle)
    part = Path(name)
    try:
        yield part
        os.chmod(part, _mode(0o666))
        _sync(part)
        os.replace(part, path)
        _sync(path.parent)
    except OSError as error:
        raise _unwritable(path, error) from None
    finally:
        part.unlink(missing_ok=True)


def write_file(path: Path, *parts: bytes | memoryview) -> None:
    """Write the parts one after another to `path`, whole or not at all.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_file(Path(folder) / "a", b"one", b"two")
    ...     (Path(folder) / "a").read_bytes(), len(list(Path(folder).iterdir()))
    (b'onetwo', 1)
    """
    with atomic_file(path) as part, part.open("wb") as file:
        for content in parts:
            file.write(content)


def require_writable(path: Path) -> None:
    """Raise OSError now if `path` could not be written later, before the work is done; makes its folder.

    >>> require_writable(Path("/proc/no/report.html"))
    Traceback (most recent call last):
        ...
    FileNotFoundError: Cannot write '/proc/no/report.html' (no such file or directory); choose a folder that ...
    """
    if path.is_dir():
        raise IsADirectoryError(f"Cannot write {str(path)!r}: it is a folder; give a file name.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.stem[:40]}-", suffix=".part", dir=path.parent)
    except OSError as error:
        raise _unwritable(path, error) from None
    os.close(handle)
    Path(name).unlink()


@contextlib.contextmanager
def atomic_folder(path: Path, replace: bool = False) -> Iterator[Path]:
    """A temporary folder beside `path` to fill; it becomes `path` only if the block ends without error.

    The folders above it are made.
    With `replace`, an existing folder is exchanged in one step where the system can (Linux), so that a kill
    at any moment leaves either the old or the new one in place.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_folder(Path(folder) / "demo") as part:
    ...         _ = (part / "a.txt").write_text("whole")
    ...     sorted(p.name for p in Path(folder).iterdir())
    ['demo']
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(prefix=f".{path.name[:40]}-", suffix=".part", dir=path.parent))
    except OSError as error:
        raise _unwritable(path, error) from None
    try:
        yield part
        os.chmod(part, _mode(0o777))
        for file in part.iterdir():
            _sync(file)
        _sync(part)
        if replace and path.exists():
            _replace_folder(part, path)
        else:
            os.rename(part, path)
        _sync(path.parent)
    except OSError as error:
        raise _unwritable(path, error) from None
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _replace_folder(new: Path, old: Path) -> None:
    if _exchange(new, old):
        return
    aside = Path(tempfile.mkdtemp(prefix=f".{old.name[:40]}-", suffix=".old", dir=old.parent))
    try:
        os.rename(old, aside / old.name)
        try:
            os.rename(new, old)
        except OSError:
            os.rename(aside / old.name, old)
            raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _exchange(first: Path, second: Path) -> bool:
    """Swap two folders in one step; False where the system or the file system cannot."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except AttributeError:
        return False
    return bool(rename(_HERE, os.fsencode(first), _HERE, os.fsencode(second), _EXCHANGE) == 0)


def save_arrays(path: Path, arrays: dict[str, Any], about: dict[str, Any]) -> None:
    """Arrays by name and plain values about them in one file: a policy, or what a reward has learned."""
    from safetensors.numpy import save

    write_file(path, save(arrays, {"about": json.dumps(about)}))


def read_arrays(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """What `save_arrays` wrote."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(str(path), "numpy") as file:
            about = json.loads((file.metadata() or {})["about"])
            return {name: file.get_tensor(name) for name in file.keys()}, about  # noqa: SIM118 (no mapping)
    except (SafetensorError, KeyError, ValueError) as error:
        raise ValueError(f"{str(path)!r} is not a file that orcalign wrote ({error}).") from None
