"""Write a small LeRobot data set of the drawn task, to try `orcalign label` without a robot.

    python examples/recorded.py FOLDER [EPISODES]

Episode 0 is done well, as a demo; of the others some are done well, some stall and give up, some go to the tray without
the box. `truth.csv` beside the data says which.
"""

import json
import os
import sys
from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from orcalign.video.drawn import FPS, episode

CAMERA = "observation.images.front"
# LeRobot's own are crf 30 and preset 12; with them small pictures of a drawing come out as copies of the one before.
CODECS = {
    "av1": ("libsvtav1", {"preset": "8", "crf": "10", "g": "2", "svtav1-params": "lp=1"}),
    "h264": ("libx264", {"crf": "20", "g": "2"}),
}


def encode(path: Path, frames: Iterable[np.ndarray], fps: int, codec: str = "av1") -> None:
    """Frames [H,W,3] as LeRobot keeps them: AV1 (or H.264), yuv420p, a key frame at every second one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("SVT_LOG", "1")  # errors only
    name, options = CODECS[codec]
    with av.open(str(path), "w") as container:
        stream = None
        for image in frames:
            if stream is None:
                stream = container.add_stream(name, rate=Fraction(fps), options=options)
                stream.height, stream.width, stream.pix_fmt = image.shape[0], image.shape[1], "yuv420p"
            container.mux(stream.encode(av.VideoFrame.from_ndarray(image, "rgb24")))
        container.mux(stream.encode(None))


def write_dataset(
    root: Path,
    episodes: Sequence[np.ndarray],
    fps: int = FPS,
    version: str = "v3.0",
    codec: str = "av1",
    cameras: Sequence[str] = (CAMERA,),
    per_file: int = 4,
) -> None:
    """Episodes [T,H,W,3] as a data set of LeRobot v3.0 (`per_file` of them in a file) or v2.1, with states of zeros."""
    lengths = [len(one) for one in episodes]
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(int)
    v3 = version == "v3.0"
    pattern = "chunk-{chunk_index:03d}/file-{file_index:03d}" if v3 else "chunk-{episode_chunk:03d}"
    features = {key: {"dtype": "video", "shape": [*episodes[0].shape[1:]], "names": None} for key in cameras}
    features |= {"action": {"dtype": "float32", "shape": [2], "names": None}}
    info = {
        "codebase_version": version, "robot_type": "drawn", "total_episodes": len(episodes),
        "total_frames": sum(lengths), "total_tasks": 1, "chunks_size": 1000, "fps": fps, "splits": {},
        "data_path": f"data/{pattern}.parquet" if v3 else f"data/{pattern}/episode_{{episode_index:06d}}.parquet",
        "video_path": f"videos/{{video_key}}/{pattern}.mp4" if v3
        else f"videos/{pattern}/{{video_key}}/episode_{{episode_index:06d}}.mp4",
        "features": features,
    }  # fmt: skip
    (root / "meta").mkdir(parents=True)
    (root / "meta" / "info.json").write_text(json.dumps(info, indent=2))
    rows = [
        {
            "action": [[0.0, 0.0]] * length,
            "timestamp": pa.array(np.arange(length) / fps, pa.float32()),
            "frame_index": np.arange(length),
            "episode_index": np.full(length, number),
            "index": np.arange(start, start + length),
            "task_index": np.zeros(length, int),
        }
        for number, (start, length) in enumerate(zip(starts, lengths, strict=True))
    ]
    task = "put the box into the tray"
    if not v3:
        lines = [{"episode_index": k, "tasks": [task], "length": length} for k, length in enumerate(lengths)]
        (root / "meta" / "episodes.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        (root / "meta" / "tasks.jsonl").write_text(json.dumps({"task_index": 0, "task": task}) + "\n")
        for k, frames in enumerate(episodes):
            store(root / f"data/chunk-000/episode_{k:06d}.parquet", pa.table(rows[k]))
            for key in cameras:
                encode(root / f"videos/chunk-000/{key}/episode_{k:06d}.mp4", frames, fps, codec)
        return
    table = []
    for file, first in enumerate(range(0, len(episodes), per_file)):
        group = range(first, min(first + per_file, len(episodes)))
        store(root / f"data/chunk-000/file-{file:03d}.parquet", pa.concat_tables([pa.table(rows[k]) for k in group]))
        for key in cameras:
            path = root / f"videos/{key}/chunk-000/file-{file:03d}.mp4"
            encode(path, (frame for k in group for frame in episodes[k]), fps, codec)
        begins = 0.0
        for k in group:
            place = {"chunk_index": 0, "file_index": file}
            ends = begins + lengths[k] / fps
            row = {"episode_index": k, "tasks": [task], "length": lengths[k]}
            row |= {"dataset_from_index": int(starts[k]), "dataset_to_index": int(starts[k]) + lengths[k]}
            row |= {f"data/{name}": value for name, value in place.items()}
            for key in cameras:
                seen = {**place, "from_timestamp": begins, "to_timestamp": ends}
                row |= {f"videos/{key}/{name}": value for name, value in seen.items()}
            table.append(row)
            begins = ends
    store(root / "meta/episodes/chunk-000/file-000.parquet", pa.Table.from_pylist(table))
    store(root / "meta/tasks.parquet", pa.table({"task_index": [0], "__index_level_0__": [task]}))


def store(path: Path, table: pa.Table) -> None:
    """A parquet file and its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path)


def drawn_episodes(count: int, seed: int = 0, pace: float = 1.0) -> tuple[list[np.ndarray], list[tuple[bool, int]]]:
    """Episodes, and of each whether it was done and its rank (1 is best); `pace` is how many frames they have."""
    rng = np.random.default_rng(seed)
    episodes, truth = [], []
    for k in range(count):
        start, tray = 50 + 6 * rng.uniform(-1, 1), 190 + 6 * rng.uniform(-1, 1)
        frames = round(pace * rng.integers(70, 110))
        kind = "done" if k == 0 else rng.choice(["done", "done", "stalls", "empty"])
        gives_up = rng.uniform(1.2, 3.4)
        phases = {
            "done": [(0.0, 5.0, frames)],
            "stalls": [(0.0, gives_up, frames // 2), (gives_up, gives_up + 1e-4, frames - frames // 2)],
            "empty": [(0.0, 5.0, frames)],
        }[str(kind)]
        episodes.append(episode(start, tray, phases, holds=bool(kind != "empty")))
        truth.append((bool(kind == "done"), {"done": 1, "stalls": 2, "empty": 3}[str(kind)]))
    return episodes, truth


def main() -> None:
    """Write the data set and its truth."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/recorded")
    episodes, truth = drawn_episodes(int(sys.argv[2]) if len(sys.argv) > 2 else 12)
    write_dataset(root, episodes)
    lines = [f"{k},{int(done)},{rank}" for k, (done, rank) in enumerate(truth)]
    (root / "truth.csv").write_text("\n".join(["episode_index,success,rank", *lines]) + "\n")
    print(f"{root}: {len(episodes)} episodes, {sum(map(len, episodes))} frames")


if __name__ == "__main__":
    main()
