"""Videos with their rewards and progress as one file for the Rerun viewer, under the names that LeRobot gives them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from orcalign.files import atomic_file, require_writable
from orcalign.matching.match import FloatArray
from orcalign.report.explainer.embedding import encode_pictures
from orcalign.rewards import Story

PICTURES = (320, 75)
"""Longest side and quality."""
CAMERA = "observation.image"


@dataclass(frozen=True, eq=False)
class Track:
    """One video of T frames and what was found for each of them."""

    name: str
    """Put before the names of all it has; "" for none."""
    fps: float
    curves: Mapping[str, FloatArray]
    """[T] each, as `curves_of` names them."""
    frames: npt.NDArray[np.uint8] | None = None
    """[T, H, W, 3], if they are to be seen."""
    camera: str = CAMERA
    start: int = 0
    """`index` of its first frame."""
    episode: int | None = None


def require_rerun(path: Path) -> None:
    """Raise now if no recording could be written to `path` later."""
    import rerun  # noqa: F401  (its absence is told now)

    require_writable(path)


def curves_of(reward: FloatArray, covered: FloatArray, story: Story) -> dict[str, FloatArray]:
    """Reward [T] and progress [T] by the names that LeRobot has for them."""
    return {"next.reward": reward, "progress_sparse": covered, "progress_dense": story.place(covered)}


def write_rrd(path: Path, title: str, tracks: Iterable[Track]) -> None:
    """Write the tracks, whole or not at all; timelines are LeRobot's `index`, `frame_index` and `timestamp`."""
    import rerun as rr

    with atomic_file(path) as part, rr.RecordingStream(f"orcalign: {title}") as stream:
        stream.save(part)
        for track in tracks:
            _log(rr, stream, track)
        stream.flush()


def _log(rr: Any, stream: Any, track: Track) -> None:
    T = len(next(iter(track.curves.values()), track.frames))  # type: ignore[arg-type] # one of them is there
    frames = np.arange(T)
    times = [
        rr.TimeColumn("index", sequence=track.start + frames),
        rr.TimeColumn("frame_index", sequence=frames),
        rr.TimeColumn("timestamp", duration=frames / track.fps),
    ]
    columns = {name: np.asarray(values, np.float64) for name, values in track.curves.items()}
    if track.episode is not None:
        columns["episode_index"] = np.full(T, float(track.episode))
    before = f"{track.name}/" if track.name else ""
    for name, values in columns.items():
        rr.send_columns(f"{before}{name}", times, rr.Scalars.columns(scalars=values), recording=stream)
    if track.frames is not None:
        pictures = encode_pictures(track.frames, PICTURES, "mjpeg")
        kinds = ["image/jpeg"] * T
        seen = rr.EncodedImage.columns(blob=pictures, media_type=kinds)
        rr.send_columns(f"{before}{track.camera}", times, seen, recording=stream)
