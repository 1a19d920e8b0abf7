"""A run is a folder: what is in it, and how it is read."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from orcalign import __version__
from orcalign.files import write_file
from orcalign.rewards.demos import as_demos
from orcalign.training.config import TrainConfig
from orcalign.video import Demo, DemoSet

PACKAGES = ("torch", "numpy", "numba", "openvino", "gymnasium", "mujoco", "metaworld")


class RunFolder:
    """The places of a run.

    Args:
        path: the folder of a run; it must have been made by `RunFolder.create`.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if not self.config_file.is_file():
            raise FileNotFoundError(
                f"{str(self.path)!r} is not a run: it has no config.yaml; give the folder that `orcalign train` wrote."
            )
        self.config = read_config(self.config_file)
        self.facts: dict[str, Any] = _read_json(self.path / "run.json")

    @classmethod
    def create(
        cls, path: str | os.PathLike[str], config: TrainConfig, demos: tuple[Demo, ...], **facts: Any
    ) -> RunFolder:
        """Make the folder of a new run; one that is in use is never written into."""
        folder = Path(path)
        cls.require_free(folder)
        for name in ("episodes", "checkpoints", "evaluations", "videos"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        DemoSet(demos).save(folder / "demo")
        about = {"versions": versions(), "machine": f"{platform.system()} {platform.machine()}", **facts}
        _write_json(folder / "run.json", about)
        # Last: a folder with a config is a whole run.
        write_file(folder / "config.yaml", config.to_yaml().encode())
        return cls(folder)

    @staticmethod
    def require_free(folder: Path) -> None:
        """Refuse a folder that is in use."""
        if (folder / "config.yaml").exists():
            raise FileExistsError(
                f"{str(folder)!r} holds a run already; go on with it: orcalign train --resume {folder}, "
                "or choose another --out."
            )
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise FileExistsError(f"{str(folder)!r} exists and is not an empty folder; choose another --out.")

    def add_facts(self, **facts: Any) -> None:
        """Add to `run.json` what is found out while the run is set up."""
        if any(self.facts.get(name) != value for name, value in facts.items()):
            self.facts = {**self.facts, **facts}
            _write_json(self.path / "run.json", self.facts)

    @property
    def config_file(self) -> Path:
        """The effective config."""
        return self.path / "config.yaml"

    @property
    def metrics_file(self) -> Path:
        """One JSON object a line."""
        return self.path / "metrics.jsonl"

    @property
    def demo_folder(self) -> Path:
        """The demos, `demo-0` and so on."""
        return self.path / "demo"

    def demos(self) -> tuple[Demo, ...]:
        """As they were when the run began."""
        return as_demos(str(self.demo_folder))

    def records(self, kind: str | None = None) -> Iterator[dict[str, Any]]:
        """The metrics so far, of one kind or of all; a last line that is still being written is left out."""
        if not self.metrics_file.exists():
            return
        for line in self.metrics_file.read_text("utf-8").split("\n")[:-1]:
            record = json.loads(line)
            if kind is None or record.get("kind") == kind:
                yield record


class MetricsLog:
    """Appends to `metrics.jsonl`; what a killed run wrote after its last checkpoint is cut off and written again.

    Args:
        path: the file.
        position: bytes to keep, as the checkpoint says.
    """

    def __init__(self, path: Path, position: int = 0) -> None:
        there = path.stat().st_size if path.exists() else 0
        if there < position:
            raise ValueError(
                f"{str(path)!r} has {there} bytes, and the checkpoint was made when it had {position}; "
                "metrics were lost. Put the file back, or begin a new run."
            )
        self._file = path.open("ab")
        self._file.truncate(position)
        self._file.seek(position)

    def write(self, record: dict[str, Any]) -> None:
        """One line."""
        self._file.write(json.dumps(record, allow_nan=False).encode() + b"\n")
        self._file.flush()

    def settle(self) -> int:
        """Make sure that it is on the disk; bytes so far."""
        self._file.flush()
        os.fsync(self._file.fileno())
        return self._file.tell()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def read_config(path: Path) -> TrainConfig:
    """The config in a YAML file."""
    try:
        return TrainConfig.from_yaml(path.read_text("utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError(f"{str(path)!r} is not YAML ({error}).") from None
    except ValueError as error:
        raise ValueError(f"{str(path)!r}: {error}") from None


def versions() -> dict[str, str]:
    """Of everything that numbers may depend on."""
    found = {"python": platform.python_version(), "platform": sys.platform, "orcalign": __version__}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _write_json(path: Path, values: dict[str, Any]) -> None:
    write_file(path, (json.dumps(values, indent=1) + "\n").encode())


def _read_json(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{str(path)!r} cannot be read ({error}); the run is damaged.") from None
    if not isinstance(values, dict):
        raise ValueError(f"{str(path)!r} is not a JSON object; the run is damaged.")
    return values
