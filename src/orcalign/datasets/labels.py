"""What is known of an episode once it has been labelled, and the files that others read it from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from orcalign.datasets.parquet import write_table

PROGRESS = "orcalign_progress.parquet"
REWARD = "orcalign_reward.parquet"
Curve = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Labels:
    """One episode of T frames, labelled."""

    number: int
    start: int
    """`index` of its first frame."""
    dense: Curve
    """[T] Where in the demo the robot is now, from 0 to 1; it falls where the robot goes back."""
    sparse: Curve
    """[T] What of the demo has been covered in order, from 0 to 1; it never falls."""
    reward: Curve
    """[T]"""
    score: float
    """How well the demo was followed to its end, from 0 to 1; what episodes are ranked by."""
    story: Mapping[str, Any]
    """`quarters` covered at which frame, the longest `stall`, and `words`."""
    picture: bytes
    """The last frame, small, as `kind`."""
    kind: str

    def row(self) -> dict[str, Any]:
        """Plain values by column, to be kept; `from_row` reads them."""
        curves = {name: getattr(self, name).tolist() for name in ("dense", "sparse", "reward")}
        plain = {name: getattr(self, name) for name in ("number", "start", "score", "picture", "kind")}
        return {**plain, **curves, "story": json.dumps(self.story)}

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Labels:
        """What `row` gave."""
        curves = {name: np.asarray(row[name], np.float32) for name in ("dense", "sparse", "reward")}
        return cls(**{**row, **curves, "story": json.loads(row["story"])})


COLUMNS = {
    "number": "int64",
    "start": "int64",
    "score": "double",
    "dense": "list<float>",
    "sparse": "list<float>",
    "reward": "list<float>",
    "story": "string",
    "picture": "binary",
    "kind": "string",
}
"""Of `Labels.row`, as they are kept."""


def ranked(labels: Sequence[Labels]) -> list[Labels]:
    """Failures first."""
    return sorted(labels, key=lambda one: (one.score, one.number))


def write_progress(path: Path, labels: Sequence[Labels], model: str, about: Mapping[str, Any]) -> None:
    """The table that LeRobot's reward-aware training reads, a row for each frame of the data set."""
    columns = {
        **_rows(labels),
        "progress_sparse": ("float", _joined(labels, "sparse")),
        "progress_dense": ("float", _joined(labels, "dense")),
    }
    write_table(path, columns, {"reward_model_path": model, "orcalign": json.dumps(about, sort_keys=True)})


def write_rewards(path: Path, labels: Sequence[Labels], model: str, about: Mapping[str, Any]) -> None:
    """`next.reward` for each frame, in a file of its own."""
    columns = {**_rows(labels), "next.reward": ("float", _joined(labels, "reward"))}
    write_table(path, columns, {"reward_model_path": model, "orcalign": json.dumps(about, sort_keys=True)})


def _rows(labels: Sequence[Labels]) -> dict[str, tuple[str, Any]]:
    """The columns by which LeRobot knows a frame, in its order."""
    lengths = [len(one.dense) for one in labels]
    frames = np.concatenate([np.arange(length) for length in lengths])
    starts: npt.NDArray[np.int64] = np.repeat([one.start for one in labels], lengths)
    numbers: npt.NDArray[np.int64] = np.repeat([one.number for one in labels], lengths)
    return {
        "index": ("int64", starts + frames),
        "episode_index": ("int64", numbers),
        "frame_index": ("int64", frames),
    }


def _joined(labels: Sequence[Labels], name: str) -> Curve:
    joined: Curve = np.concatenate([getattr(one, name) for one in labels])
    return joined
