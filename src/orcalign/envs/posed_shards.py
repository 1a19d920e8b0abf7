"""Shards of posed frames: files of whole layouts, and the manifest that lists those that are there."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias, final

import numpy as np
import numpy.typing as npt

from orcalign.envs.posing import Posed
from orcalign.files import write_file

FORMAT = 1
Columns: TypeAlias = dict[str, npt.NDArray[Any]]
"""frames [N,H,W,3], states [N,D], groups [N] and rests [N]."""


@final
class ShardFolder:
    """A folder with `manifest.json`, which is rewritten after each shard: what it does not list is not there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._manifest = path / "manifest.json"

    def check_free(self) -> None:
        """Refuse a place where there is something else."""
        if self._manifest.is_file() or not self.path.exists():
            return
        if not self.path.is_dir() or {entry.name for entry in self.path.iterdir()} - {"lock"}:
            raise ValueError(f"{str(self.path)!r} is there and is no posed data; choose another folder.")

    def begin(self, about: Mapping[str, Any]) -> dict[str, Any]:
        """The manifest: that which is there, if it is of the same scenes, or an empty one."""
        if not self._manifest.is_file():
            return {"format": FORMAT, "about": dict(about), "shards": []}
        manifest = self.read()
        for name, wanted in about.items():
            found = manifest["about"].get(name)
            if found != wanted:
                raise ValueError(
                    f"{str(self.path)!r} holds scenes with {name} {found!r}, and {wanted!r} is wanted; "
                    "choose another folder, or delete that one."
                )
        return manifest

    def read(self) -> dict[str, Any]:
        """The manifest."""
        try:
            manifest = json.loads(self._manifest.read_text("utf-8"))
            found = manifest["format"]
            known = found == FORMAT and all(isinstance(manifest[name], kind) for name, kind in KINDS.items())
        except FileNotFoundError:
            raise ValueError(
                f"{str(self.path)!r} is no posed data (it has no manifest.json); make some with: orcalign predictor "
                "data TASK."
            ) from None
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{str(self._manifest)!r} cannot be read ({error!r}); delete the folder.") from None
        if not known:
            raise ValueError(f"{str(self._manifest)!r} has format {found}, and this version reads {FORMAT}.")
        return dict(manifest)

    def save(self, manifest: Mapping[str, Any]) -> None:
        """From now on its shards are there."""
        write_file(self._manifest, (json.dumps(manifest) + "\n").encode())

    def write(self, number: int, posed: Sequence[Posed]) -> dict[str, Any]:
        """Write a shard, and say what it is for the manifest."""
        columns: Columns = {
            "frames": np.stack([one.frame for one in posed]),
            "states": np.stack([one.state for one in posed]),
            "groups": np.array([one.group for one in posed], np.int64),
            "rests": np.array([one.rest for one in posed], bool),
        }
        name = f"shard-{number:05d}.npz"
        write_file(self.path / name, _packed(columns))
        layouts = [posed[0].group, posed[-1].group + 1]
        return {"file": name, "frames": len(posed), "layouts": layouts, "digests": layout_digests(columns)}

    def shard(self, listed: Mapping[str, Any]) -> Columns:
        """A shard of the manifest, checked."""
        path = self.path / listed["file"]
        try:
            columns = _unpacked(path)
            whole = layout_digests(columns) == listed["digests"]
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise ValueError(f"{str(path)!r} is damaged ({error}); delete the folder and make the data anew.") from None
        if not whole:
            raise ValueError(f"{str(path)!r} is not what was written; delete the folder and make the data anew.")
        return columns


KINDS = {"about": dict, "shards": list}


def layout_digests(columns: Columns) -> list[str]:
    """SHA-256 of each layout's frames and states, in order."""
    groups = columns["groups"].tolist()
    found, start = [], 0
    for _, same in groupby(groups):
        stop = start + len(list(same))
        digest = hashlib.sha256()
        for name in sorted(columns):
            rows = np.ascontiguousarray(columns[name][start:stop])
            digest.update(f"{name} {rows.dtype.str} {rows.shape}".encode())
            digest.update(rows.data)
        found.append(digest.hexdigest())
        start = stop
    return found


def _packed(columns: Columns) -> bytes:
    """An npz in which frames are kept as what differs from the first: a third of the size, a quarter of the time."""
    frames = columns["frames"]
    kept = {**columns, "frames": np.concatenate([frames[:1], frames[1:] - frames[:1]])}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        for name, column in kept.items():
            with packed.open(f"{name}.npy", "w") as part:
                np.lib.format.write_array(part, column, allow_pickle=False)
    return file.getvalue()


def _unpacked(path: Path) -> Columns:
    # A file that np.load opened itself stays open where it is damaged.
    with path.open("rb") as file, np.load(file, allow_pickle=False) as packed:
        columns = {name: packed[name] for name in ("frames", "states", "groups", "rests")}
    columns["frames"][1:] += columns["frames"][:1]
    return columns
