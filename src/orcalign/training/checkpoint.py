"""Checkpoints: weights in safetensors, everything else in JSON, whole or not at all."""

from __future__ import annotations

import hashlib
import json
import shutil
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from orcalign.files import atomic_folder

FORMAT = 2
KEEP = 2
"""The last one, and the one before in case the last is damaged."""
Checkpoint = tuple[dict[str, Any], dict[str, Any]]
"""What a run needs to go on as if it had never stopped: plain values, and tensors of torch on the CPU."""


class CheckpointWarning(UserWarning):
    """A checkpoint could not be read, and an older one was taken."""


class Checkpoints:
    """The checkpoints of a run, one folder each, named by their step."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def save(self, step: int, state: dict[str, Any], tensors: dict[str, Any]) -> None:
        """Write it, then let go of the older ones."""
        from safetensors.torch import save

        weights = save(tensors)
        state = {"format": FORMAT, "weights_sha256": hashlib.sha256(weights).hexdigest(), **state}
        with atomic_folder(self._path(step), replace=True) as part:
            (part / "weights.safetensors").write_bytes(weights)
            (part / "state.json").write_text(json.dumps(state))
        for old in self.steps()[:-KEEP]:
            shutil.rmtree(self._path(old))

    def steps(self) -> list[int]:
        """Steps of the checkpoints that are there, oldest first."""
        if not self.folder.is_dir():
            return []
        return sorted(int(entry.name) for entry in self.folder.iterdir() if entry.name.isdigit())

    def latest(self) -> Checkpoint | None:
        """The last one that is whole; None if there is none. Damaged ones are left out with a warning."""
        for step in reversed(self.steps()):
            try:
                return self._load(self._path(step))
            except ValueError as error:
                warnings.warn(f"{error} Going back to the one before.", CheckpointWarning, stacklevel=2)
        return None

    def _path(self, step: int) -> Path:
        return self.folder / f"{step:010d}"

    def _load(self, path: Path) -> Checkpoint:
        from safetensors.torch import load

        try:
            state = json.loads((path / "state.json").read_text("utf-8"))
            weights = (path / "weights.safetensors").read_bytes()
            digest, form = state["weights_sha256"], state["format"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ValueError(f"the checkpoint {str(path)!r} is damaged ({error!r}).") from None
        if form != FORMAT:
            raise ValueError(
                f"the checkpoint {str(path)!r} has format {form}, and this version of orcalign reads {FORMAT}; "
                "use the version that wrote it (see run.json)."
            )
        if hashlib.sha256(weights).hexdigest() != digest:
            raise ValueError(f"the checkpoint {str(path)!r} is damaged: its weights are not those recorded.")
        return state, load(weights)


def under(prefix: str, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Those whose names begin so, without that.

    >>> under("policy/", {"policy/a": 1, "reward/b": 2})
    {'a': 1}
    """
    return {name.removeprefix(prefix): arrays[name] for name in arrays if name.startswith(prefix)}
