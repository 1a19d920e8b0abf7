"""What a collector hands over: one episode, immutable, as a file without pickle; and what several say together."""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from orcalign.envs import episode_return, expert_return, find_suite, find_task, measure_expert_returns
from orcalign.envs.demo_making import FPS
from orcalign.files import write_file
from orcalign.rewards import Evidence, Reward
from orcalign.training.checkpoint import under
from orcalign.video import write_mp4

EVIDENCE = "evidence-"
"""Before the names of its arrays in a file."""
ARRAYS = ("observations", "actions", "success", "env_rewards")
"""The other ones there."""


@dataclass(frozen=True, eq=False)
class PlayedEpisode:
    """An episode of T agent steps; entry t of what follows the actions belongs to the world after action t."""

    number: int
    """Counted from 0 in the run (of an evaluation: its place among the evaluation seeds)."""
    seed: int
    """Of the environment: it plays the episode again, given the same actions."""
    observations: npt.NDArray[Any]
    """[T+1, D] float32, or uint8 single frames [T+1, 3, 84, 84]."""
    actions: npt.NDArray[np.float32]
    """[T, A] from -1 to 1, as the agent meant them."""
    success: npt.NDArray[np.bool_]
    """[T] As the environment reports it; nothing that learns ever sees it."""
    env_rewards: npt.NDArray[np.float64]
    """[T] The environment's own, for the records."""
    terminated: bool
    """Whether the world ended; an episode that was only cut off is bootstrapped at its end."""
    evidence: Evidence
    """What the reward is paid by."""
    frames: npt.NDArray[np.uint8] | None = None
    """[T, H, W, 3] Of shown evaluation episodes; never stored with the episode."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Where the time went; not stored either, so that a file depends on the seed alone."""
    observed: bool = True
    """Whether the reward has seen it: if not, there is no evidence. A stored episode always was."""
    reports: bool = True
    """Whether the environment says anything of success; not stored, for nothing is learned from it."""
    total: float | None = None
    """Its return, as the task's suite counts it. It is not stored either."""

    def __len__(self) -> int:
        return len(self.actions)

    def to_bytes(self) -> bytes:
        """An npz file; the same episode gives the same bytes."""
        header = {"number": self.number, "seed": self.seed, "terminated": self.terminated}
        arrays: dict[str, npt.NDArray[Any]] = {
            "header": np.frombuffer(json.dumps(header).encode(), np.uint8),
            **{name: getattr(self, name) for name in ARRAYS},
            **{f"{EVIDENCE}{name}": array for name, array in self.evidence.arrays.items()},
        }
        buffer = io.BytesIO()
        # np.savez would put the time of day into the file.
        with zipfile.ZipFile(buffer, "w") as archive:
            for name, array in arrays.items():
                part = io.BytesIO()
                np.lib.format.write_array(part, np.ascontiguousarray(array), allow_pickle=False)
                archive.writestr(zipfile.ZipInfo(f"{name}.npy"), part.getvalue())
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> PlayedEpisode:
        """The episode that was written."""
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            header = json.loads(arrays["header"].tobytes())
            stored = {name: arrays[name] for name in ARRAYS}
            evidence = Evidence(len(stored["actions"]), under(EVIDENCE, arrays))
            return cls(**header, **stored, evidence=evidence)


class EpisodeStore:
    """The episodes of a run as files in one folder, with the digest of each.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = EpisodeStore(Path(folder))
    ...     zeros = np.zeros((2, 3))
    ...     digest = store.add(PlayedEpisode(
    ...         0, 7, zeros.astype("f4"), zeros[:1].astype("f4"), np.zeros(1, bool), np.zeros(1), False,
    ...         Evidence(1, {"cost_0": zeros[:1]}),
    ...     ))
    ...     len(store.read(0, digest)), len(digest)
    (1, 64)
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, number: int) -> Path:
        """Where episode `number` is."""
        return self.folder / f"{number:08d}.npz"

    def add(self, episode: PlayedEpisode) -> str:
        """Write the episode and return the digest of its file."""
        data = episode.to_bytes()
        write_file(self.path(episode.number), data)
        return hashlib.sha256(data).hexdigest()

    def read(self, number: int, digest: str) -> PlayedEpisode:
        """Read an episode; a ValueError if it is not the one that was written."""
        path = self.path(number)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise ValueError(f"episode file {str(path)!r} cannot be read ({error.strerror}).") from None
        if hashlib.sha256(data).hexdigest() != digest:
            raise ValueError(f"episode file {str(path)!r} is damaged: its digest is not the one recorded.")
        return PlayedEpisode.from_bytes(data)

    def forget_before(self, number: int) -> None:
        """Delete the files of episodes that no checkpoint needs any more."""
        for name in os.listdir(self.folder):
            stem = name.removesuffix(".npz")
            if stem.isdigit() and int(stem) < number:
                (self.folder / name).unlink(missing_ok=True)


def known_expert_return(task: str, tell: Callable[[str], None] = lambda text: None) -> float | None:
    """What the expert earns on the task; None where there is none to measure, or it earns nothing.

    Where it is not stored with the package, and the suite's tasks have their experts, it is measured, once in a
    process; `tell` is told so.

    >>> known_expert_return("Pendulum-v1") is None
    True
    """
    try:
        return expert_return(task) or None
    except ValueError:
        if not find_suite(find_task(task).suite).all_scripted:
            return None
    return _measured(task, tell) or None


_MEASURED: dict[str, float] = {}


def _measured(task: str, tell: Callable[[str], None]) -> float:
    if task not in _MEASURED:
        tell(f"{task}: measuring what the expert earns in ten episodes, which is not stored for this task")
        (entry,) = measure_expert_returns([task])["tasks"].values()
        _MEASURED[task] = entry["mean"]
    return _MEASURED[task]


def summarise(
    episodes: list[PlayedEpisode],
    reward: Reward,
    task: str,
    expert: float | None,
    others: Sequence[PlayedEpisode] = (),
) -> dict[str, Any]:
    """What an evaluation says: the task tells how a return is counted, the reward how the demo is followed, and
    ``expert`` earns 1. Of an environment that reports no success, return and success are None.

    Return and success are those of ``episodes``, all of them; what the reward says is the mean of those that it has
    observed, among the ``others``, too: ``measured`` is their number, and ``each`` has an entry for each of them.
    """
    counted = [episode for episode in episodes if episode.reports]
    returns = [episode_return(task, one.success) if one.total is None else one.total for one in counted]
    summaries = [reward.summary(episode.evidence) for episode in (*episodes, *others) if episode.observed]
    each = {name: [one[name] for one in summaries] for name in (summaries[0] if summaries else ())}
    mean = float(np.mean(returns)) if counted else None
    own = [float(episode.env_rewards.sum()) for episode in episodes]
    return {
        "episodes": len(episodes),
        "return": mean,
        "normalised": None if expert is None or mean is None else mean / expert,
        "success_rate": float(np.mean([episode.success[-1] for episode in counted])) if counted else None,
        "any_success_rate": float(np.mean([episode.success.any() for episode in counted])) if counted else None,
        "env_return": float(np.mean(own)),
        "measured": len(summaries),
        **{name: float(np.mean(values)) for name, values in each.items()},
        "returns": returns,
        "successes": [bool(episode.success[-1]) for episode in counted],
        "env_returns": own,
        "each": each,
    }


def unreported(record: Mapping[str, Any]) -> bool:
    """Whether an evaluation is of an environment that reports no success.

    >>> unreported({"success_rate": None}), unreported({"success_rate": 0.0}), unreported({})
    (True, False, False)
    """
    return record.get("success_rate", 0.0) is None


def keep_shown(run: Path, step: int, episodes: list[PlayedEpisode]) -> None:
    """Videos and evidence of the episodes that are shown; `read_shown` reads them."""
    shown = [episode for episode in episodes if episode.frames is not None]
    if not shown:
        return
    arrays: dict[str, Any] = {"seeds": np.array([episode.seed for episode in shown])}
    for k, episode in enumerate(shown):
        assert episode.frames is not None
        arrays |= {f"{k}/{EVIDENCE}{name}": array for name, array in episode.evidence.arrays.items()}
        arrays[f"{k}/success"] = episode.success
        write_mp4(run / "videos" / f"{step:010d}-{k}.mp4", episode.frames, FPS)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    write_file(run / "evaluations" / f"{step:010d}.npz", buffer.getvalue())


def read_shown(path: Path) -> list[tuple[Evidence, Any]]:
    """Evidence and success [T] of each episode that an evaluation kept; a ValueError if the file is damaged."""
    try:
        # From memory: NumPy leaves a file open that is no archive.
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as arrays:
            found = [(arrays[f"{k}/success"], under(f"{k}/{EVIDENCE}", arrays)) for k in range(len(arrays["seeds"]))]
    except (zipfile.BadZipFile, EOFError, KeyError) as error:
        raise ValueError(f"{path.name} is damaged: {error}") from None
    return [(Evidence(len(success), kept), success) for success, kept in found]
