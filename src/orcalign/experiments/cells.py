"""The folder of a cell: the run, what came out of it, what went wrong, and who works in it."""

from __future__ import annotations

import json
import os
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
