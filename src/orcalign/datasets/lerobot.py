"""LeRobot data sets, v3.0 and v2.1: where the frames of each episode are. Read without LeRobot."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from orcalign.checks import require
from orcalign.datasets.parquet import read_columns, read_table

INFO = "meta/info.json"
VERSIONS = ("v3.0", "v2.1")
ROW = ("index", "episode_index", "frame_index")
"""The columns by which rows of the data, and of everything that is written beside it, are known."""


@dataclass(frozen=True)
class Episode:
    """One episode, seen by one camera."""

    number: int
    """`episode_index`"""
    start: int
    """`index` of its first frame in the whole data set."""
    length: int
    """Frames."""
    video: Path
    """The file that its pictures are in, perhaps with those of others."""
    begins: float
    """Second of that file at which it begins."""


@dataclass(frozen=True)
class DataSet:
    """What `open_dataset` found, for one camera."""

    root: Path
    name: str
    """As it was given: a folder, or org/name."""
    version: str
    fps: float
    camera: str
    episodes: tuple[Episode, ...]
    """In the order of their numbers."""

    @property
    def frames(self) -> int:
        """Of all episodes together."""
        return sum(one.length for one in self.episodes)

    def episode(self, number: int) -> Episode:
        """The one of that number."""
        for one in self.episodes:
            if one.number == number:
                return one
        raise ValueError(
            f"there is no episode {number} in {self.name}; it has {len(self.episodes)}, "
            f"{self.episodes[0].number} to {self.episodes[-1].number}."
        )


def open_dataset(root: Path, camera: str | None = None, name: str | None = None) -> DataSet:
    """Read the tables of a data set, and check that every file they name is there and fits.

    Args:
        root: its folder.
        camera: such as observation.images.front; left out, the only one there is.
        name: how it is called in errors; left out, by its folder.
    """
    name = name or str(root)
    info = read_info(root, name)
    chosen = choose_camera(info, camera, name)
    reader = _episodes_v3 if info["codebase_version"] == "v3.0" else _episodes_v2
    episodes = tuple(sorted(reader(root, info, chosen), key=lambda one: one.number))
    promised = info.get("total_episodes", len(episodes))
    if not episodes or len(episodes) != promised:
        raise ValueError(
            f"{name} has the tables of {len(episodes)} episodes, and {INFO} promises {promised}: a chunk of "
            f"meta/episodes is missing, or nothing was recorded; download or record the data set again."
        )
    for path in sorted({one.video for one in episodes}):
        if not path.is_file():
            raise FileNotFoundError(f"{str(path)!r} is missing, a video of {chosen}; download the data set again.")
    return DataSet(root, name, info["codebase_version"], float(info["fps"]), chosen, episodes)


def read_info(root: Path, name: str) -> dict[str, Any]:
    """meta/info.json, of a version that can be read."""
    path = root / INFO
    if not root.is_dir():
        raise FileNotFoundError(f"{name!r} does not exist; give the folder of a LeRobot data set, or org/name.")
    if not path.is_file():
        raise FileNotFoundError(f"{name!r} is not a LeRobot data set: it has no {INFO}.")
    try:
        info = json.loads(path.read_text(encoding="utf-8"))
        version = info["codebase_version"]
        fps, features = info["fps"], info["features"]
        fine = 0 < float(fps) < 1e4 and isinstance(features, dict)
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        raise ValueError(f"{str(path)!r} is not what LeRobot writes ({error!r}); download it again.") from None
    if not fine:
        raise ValueError(f"{str(path)!r} has fps={fps!r}; it must be a number of frames per second.")
    if version not in VERSIONS:
        raise ValueError(
            f"{name!r} has codebase version {version!r}, and orcalign reads {' and '.join(VERSIONS)}; convert it "
            f"with the scripts that LeRobot brings for this."
        )
    return dict(info)


def cameras(info: Mapping[str, Any]) -> list[str]:
    """Keys of what was filmed.

    >>> cameras({"features": {"observation.images.front": {"dtype": "video"}, "action": {"dtype": "float32"}}})
    ['observation.images.front']
    """
    return [key for key, one in info["features"].items() if isinstance(one, dict) and one.get("dtype") == "video"]


def choose_camera(info: Mapping[str, Any], wanted: str | None, name: str) -> str:
    """The wanted one, or the only one there is."""
    known = cameras(info)
    if not known:
        pictures = [key for key, one in info["features"].items() if isinstance(one, dict) and one["dtype"] == "image"]
        why = f"its cameras ({', '.join(pictures)}) are kept as single images" if pictures else "it has no camera"
        raise ValueError(f"{name!r} has no videos: {why}; record or convert it with videos.")
    if wanted is not None:
        require("camera", wanted, known)
        return wanted
    if len(known) > 1:
        raise ValueError(f"{name!r} has {len(known)} cameras; choose one with --camera: {', '.join(known)}.")
    return known[0]


def _episodes_v3(root: Path, info: Mapping[str, Any], camera: str) -> Iterator[Episode]:
    """Tables of episodes, each with the places of its rows and of its pictures."""
    own = {key: f"videos/{camera}/{key}" for key in ("chunk_index", "file_index", "from_timestamp")}
    plain = ("episode_index", "length", "dataset_from_index", "data/chunk_index", "data/file_index")
    tables = sorted((root / "meta" / "episodes").glob("chunk-*/file-*.parquet"))
    if not tables:
        raise FileNotFoundError(f"{str(root / 'meta' / 'episodes')!r} has no tables; download the data set again.")
    rows: dict[Path, list[tuple[int, int, int]]] = {}
    for path in tables:
        found = read_columns(path, [*plain, *own.values()])
        for k, number in enumerate(found["episode_index"]):
            length, start = int(found["length"][k]), int(found["dataset_from_index"][k])
            places = {"chunk_index": found[own["chunk_index"]][k], "file_index": found[own["file_index"]][k]}
            video = inside(root, info["video_path"], {**places, "video_key": camera})
            places = {"chunk_index": found["data/chunk_index"][k], "file_index": found["data/file_index"][k]}
            rows.setdefault(inside(root, info["data_path"], places), []).append((int(number), start, length))
            yield Episode(int(number), start, length, video, float(found[own["from_timestamp"]][k]))
    for path, episodes in rows.items():
        check_rows(path, episodes)


def _episodes_v2(root: Path, info: Mapping[str, Any], camera: str) -> Iterator[Episode]:
    """A line, a table and a video for each episode; its rows follow those of the episode before."""
    path, start = root / "meta" / "episodes.jsonl", 0
    if not path.is_file():
        raise FileNotFoundError(f"{str(path)!r} is missing; download the data set again.")
    try:
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        episodes = sorted((int(line["episode_index"]), int(line["length"])) for line in lines)
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        raise ValueError(f"{str(path)!r} is not what LeRobot writes ({error!r}); download it again.") from None
    for number, length in episodes:
        places = {"episode_chunk": number // int(info.get("chunks_size", 1000)), "episode_index": number}
        check_rows(inside(root, info["data_path"], places), [(number, start, length)])
        yield Episode(number, start, length, inside(root, info["video_path"], {**places, "video_key": camera}), 0.0)
        start += length


def check_rows(path: Path, episodes: list[tuple[int, int, int]]) -> None:
    """Refuse a table of data whose rows are not those of its episodes (number, first index, length)."""
    table = read_table(path, ROW)
    columns = [table.column(name).to_numpy() for name in ROW]
    order = np.lexsort((columns[0], columns[1]))
    index, numbers, frames = (column[order] for column in columns)
    for number, start, length in episodes:
        rows = slice(*np.searchsorted(numbers, [number, number + 1]).tolist())
        right = [np.array_equal(index[rows], np.arange(start, start + length))]
        right.append(np.array_equal(frames[rows], np.arange(length)))
        if not all(right):
            raise ValueError(
                f"{str(path)!r} does not hold episode {number} as the tables of episodes say it ({length} frames from "
                f"index {start} on); download or record the data set again."
            )


def inside(root: Path, pattern: Any, places: Mapping[str, Any]) -> Path:
    """A path of the data set by its pattern; nothing outside its folder is ever named.

    >>> inside(Path("d"), "videos/{video_key}/file-{file_index:03d}.mp4", {"video_key": "top", "file_index": 7})
    PosixPath('d/videos/top/file-007.mp4')
    """
    if not isinstance(pattern, str):
        raise ValueError(f"{str(root / INFO)!r} has the path {pattern!r}; it must be text, as LeRobot writes it.")

    def place(found: re.Match[str]) -> str:
        value = places.get(found[1])
        return found[0] if value is None else f"{value:0{int(found[2])}d}" if found[2] else str(value)

    text = re.sub(r"\{(\w+)(?::0(\d)d)?\}", place, pattern)
    relative = Path(text)
    if "{" in text or relative.is_absolute() or ".." in relative.parts:
        raise ValueError(f"{str(root / INFO)!r} has the path {pattern!r}, which is none inside the data set.")
    return root / relative
