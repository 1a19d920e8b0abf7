"""A run is a folder: what is in it, and how it is read."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import sys
from collections.abc import Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from orcalign import __version__
from orcalign.files import read_arrays, save_arrays, write_file
from orcalign.rewards import Reward, load_reward
from orcalign.rewards.demos import as_demos
from orcalign.rewards.description import FILE, save_description
from orcalign.rewards.follow.experts import EXPERTS
from orcalign.rewards.follow.own_frames import EYE
from orcalign.training.config import TrainConfig
from orcalign.video import Demo, DemoSet

PACKAGES = ("torch", "numpy", "numba", "openvino", "gymnasium", "mujoco", "metaworld")


COMPARISON = "compare.png"
"""A demo that was given beside the environment, as it was seen before the run began."""


class RunFolder:
    """The places of a run; the folder must have been made by `RunFolder.create`."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.config_file, self.metrics_file = self.path / "config.yaml", self.path / "metrics.jsonl"
        if not self.config_file.is_file():
            raise FileNotFoundError(
                f"{str(self.path)!r} is not a run: it has no config.yaml; give the folder that `orcalign train` wrote."
            )
        check_version(self.path)
        self.config = read_config(self.config_file)
        self.facts: dict[str, Any] = _read_json(self.path / "run.json")

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        config: TrainConfig,
        demos: tuple[Demo, ...],
        reward: dict[str, Any],
        files: Mapping[str, bytes],
        **facts: Any,
    ) -> RunFolder:
        """Make the folder of a new run, with its reward's description and the files that it is made from; a folder in
        use is never written into."""
        folder = Path(path)
        cls.require_free(folder)
        for name in ("episodes", "checkpoints", "evaluations", "videos"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        DemoSet(demos).save(folder / "demo")
        for name, content in files.items():
            write_file(folder / name, content)
        save_description(folder, reward)
        about = {"versions": versions(), "machine": f"{platform.system()} {platform.machine()}", **facts}
        write_file(folder / "run.json", (json.dumps(about, indent=1) + "\n").encode())
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
        # A demo that was refused left its picture.
        if folder.exists() and (not folder.is_dir() or any(one.name != COMPARISON for one in folder.iterdir())):
            raise FileExistsError(f"{str(folder)!r} exists and is not an empty folder; choose another --out.")

    def demos(self) -> tuple[Demo, ...]:
        """As they were when the run began."""
        return as_demos(str(self.path / "demo"))

    def reward(self) -> Reward:
        """The reward as the run has come to, to pay and to observe with."""
        return run_reward(self.path)

    def records(self, kind: str | None = None) -> Iterator[dict[str, Any]]:
        """The metrics so far, of one kind or of all; a last line that is still being written is left out."""
        if not self.metrics_file.exists():
            return
        for line in self.metrics_file.read_text("utf-8").split("\n")[:-1]:
            record = json.loads(line)
            if kind is None or record.get("kind") == kind:
                yield record


class MetricsLog:
    """Appends to `metrics.jsonl`; what a killed run wrote after its last checkpoint, beyond `position` bytes, is cut
    off and written again."""

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


REWARD_FILES = ("demo", FILE, EYE, EXPERTS)
"""What of a run's folder its reward is made from."""
STATE = "reward-state.safetensors"


def save_reward_state(folder: Path, reward: Reward) -> None:
    """Keep what the reward has learned, for pages and evaluations; a run that goes on has its checkpoint."""
    plain, arrays = reward.state()
    save_arrays(folder / STATE, arrays, plain)


def run_reward(folder: Path) -> Reward:
    """The reward of a run's folder with what it has learned so far, from `reward.json` alone."""
    reward = load_reward(folder)
    if (folder / STATE).is_file():
        arrays, plain = read_arrays(folder / STATE)
        reward.load_state((plain, arrays))
    return reward


def check_version(folder: Path) -> None:
    """Refuse a run of a version that had no description of its reward yet."""
    if not (folder / FILE).is_file() and (folder / "run.json").is_file():
        made = _read_json(folder / "run.json").get("versions", {}).get("orcalign", "an unknown version")
        raise ValueError(
            f"{str(folder)!r} was made by orcalign {made}, and this is {__version__}, which cannot read its runs; "
            f"use orcalign {made} for it, or train again."
        )


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
    # Its own by what runs: an editable installation may have been made of an earlier one.
    found = {"python": platform.python_version(), "platform": sys.platform, "orcalign": __version__}
    for name in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def _read_json(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{str(path)!r} cannot be read ({error}); the run is damaged.") from None
    if not isinstance(values, dict):
        raise ValueError(f"{str(path)!r} is not a JSON object; the run is damaged.")
    return values
