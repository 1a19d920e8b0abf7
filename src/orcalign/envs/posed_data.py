"""A data set of posed scenes: a folder that is made in any number of sittings, and always the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby
from pathlib import Path
from typing import Any, TypeAlias, final

import numpy as np
import numpy.typing as npt

from orcalign import __version__
from orcalign.checks import require_count
from orcalign.costs.predicted import Entities
from orcalign.envs.making import check_render_choice
from orcalign.envs.posed_shards import ShardFolder
from orcalign.envs.posing import Posed
from orcalign.envs.suite import find_suite
from orcalign.envs.tasks import TaskSpec, find_task
from orcalign.locks import folder_lock

FRAMES = 8000
SHARD = 256
"""Frames after which a shard ends, with its layout."""
SIMULATORS = ("mujoco", "metaworld")
Told: TypeAlias = Callable[[int, int], None]
"""Called with the number of frames that there are and that there will be."""


@final
@dataclass(frozen=True, eq=False)
class PosedData:
    """Frames whose states are known."""

    about: Mapping[str, Any]
    """Plain values: what the frames are of, how they were drawn, and the digest of all of them."""
    frames: npt.NDArray[np.uint8]
    """[N,H,W,3]"""
    states: npt.NDArray[Any]
    """[N,D] What the environment observes, the time 0."""
    groups: npt.NDArray[np.int64]
    """[N] Number of the layout."""
    rests: npt.NDArray[np.bool_]
    """[N] Whether it is what a reset shows."""

    def __len__(self) -> int:
        return len(self.frames)

    @property
    def entities(self) -> Entities:
        """What of a state is where."""
        if self.about["entities"] is None:
            raise ValueError(f"nobody says what the observations of {self.about['task']['name']!r} hold.")
        return Entities.from_plain(self.about["entities"])

    @classmethod
    def load(cls, folder: Path) -> PosedData:
        """The data set in a folder: what is there of it."""
        kept = ShardFolder(folder)
        manifest = kept.read()
        shards = [kept.shard(listed) for listed in manifest["shards"]]
        if not shards:
            raise ValueError(f"{str(folder)!r} has no frames yet; go on with: orcalign predictor data.")
        columns = {name: np.concatenate([shard[name] for shard in shards]) for name in shards[0]}
        return cls({**manifest["about"], "digest": _digest(manifest)}, **columns)


def make_posed_data(
    task: str | TaskSpec,
    folder: Path,
    frames: int = FRAMES,
    seed: int = 0,
    render: str = "fast",
    size: int | None = None,
    camera: str | None = None,
    progress: Told | None = None,
) -> str:
    """Pose scenes of a task until there are so many frames or a layout's more; their digest.

    What is in the folder already is kept, and it goes on from there, however the process that made it ended.

    Args:
        task: a name (see `find_task`), or a `TaskSpec`.
        folder: where the data set is, or will be.
        frames: how many at least; the last layout is not cut.
        seed: of all that is random in the scenes.
        render: "fast" or "paper", as in `make`.
        size: side of the frames in pixels; by default that of the render mode.
        camera: another camera than the task's.
        progress: is told frames done and to do.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     digest = make_posed_data("nav2d", Path(folder) / "data", frames=20)
    ...     data = PosedData.load(Path(folder) / "data")
    >>> data.frames.shape, data.states.shape, data.groups.max(), data.about["digest"] == digest
    ((34, 64, 64, 3), (34, 4), np.int64(1), True)
    """
    require_count(frames, "frames", at_least=1)
    about = describe(task, seed, render, size, camera)
    spec = _spec(task, camera)
    suite = find_suite(spec.suite)
    if not suite.poses:
        suite.pose(spec)  # says why not
    kept = ShardFolder(folder)
    kept.check_free()
    with folder_lock(folder / "lock", f"the data set {str(folder)!r}"):
        manifest = kept.begin(about)
        shards = manifest["shards"]
        done = sum(shard["frames"] for shard in shards)
        pending: list[Posed] = []
        posed = suite.pose(spec, seed, render, size, first=shards[-1]["layouts"][1] if shards else 0)
        layouts = groupby(posed, key=lambda one: one.group)
        while done < frames:
            if progress is not None:
                progress(done + len(pending), frames)
            pending += next(layouts)[1]
            if len(pending) >= SHARD or done + len(pending) >= frames:
                shards.append(kept.write(len(shards), pending))
                kept.save(manifest)
                done, pending = done + len(pending), []
        if progress is not None:
            progress(frames, frames)
        return _digest(manifest)


def describe(
    task: str | TaskSpec, seed: int = 0, render: str = "fast", size: int | None = None, camera: str | None = None
) -> dict[str, Any]:
    """What decides every frame of a data set, as plain values.

    >>> about = describe("nav2d")
    >>> about["task"]["name"], about["render"], about["seed"]
    ('nav2d', 'fast', 0)
    """
    check_render_choice(render)
    spec = _spec(task, camera)
    suite = find_suite(spec.suite)
    entities = suite.labels(spec)
    return {
        "task": json.loads(json.dumps(asdict(spec))),
        "render": render,
        "size": size,
        "camera": spec.camera,
        "seed": require_count(seed, "seed", at_least=0),
        "entities": None if entities is None else entities.plain(),
        "versions": {"orcalign": __version__, "posing": suite.posing, **_versions()},
    }


def _spec(task: str | TaskSpec, camera: str | None) -> TaskSpec:
    spec = find_task(task)
    spec = find_suite(spec.suite).scene(spec)
    return spec if camera is None else replace(spec, camera=camera)


def _versions() -> dict[str, str]:
    found = {}
    for name in SIMULATORS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _digest(manifest: Mapping[str, Any]) -> str:
    """Of all frames and states; it does not depend on how they are divided into shards."""
    digests = [digest for shard in manifest["shards"] for digest in shard["digests"]]
    return hashlib.sha256("".join(digests).encode()).hexdigest()
