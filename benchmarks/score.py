"""make bench: how near `orcalign score --paper` comes to the encoder alone, and how long two ten-second clips take.

python -m benchmarks.score
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import machine, readable, store
from orcalign.encoders import make_encoder
from orcalign.report.clips import SHOWN, encode_file
from orcalign.report.scoring import ScoreSettings, score_clips
from orcalign.video import VideoOptions, iter_frames, read_video, write_mp4
from orcalign.video.drawn import FPS, episode

SIZES = {"240x180": (180, 240), "640x480": (480, 640), "1280x720": (720, 1280)}
FRAMES = 10 * FPS


def write_clips(folder: Path) -> dict[str, tuple[Path, Path]]:
    """Two clips of ten seconds at every size."""
    clips = {}
    pair = [episode(50, 190, [(0, 5, FRAMES)]), episode(56, 184, [(0, 5, FRAMES)])]
    for label, (height, width) in SIZES.items():
        rows, columns = np.arange(height) * 180 // height, np.arange(width) * 240 // width
        paths = folder / f"demo-{label}.mp4", folder / f"attempt-{label}.mp4"
        for path, frames in zip(paths, pair, strict=True):
            write_mp4(path, (frame[rows][:, columns] for frame in frames), FPS)
        clips[label] = paths
    return clips


def measure(paths: tuple[Path, Path], encoder: Any, rounds: int = 5) -> dict[str, float]:
    """Seconds for the two clips: decoding alone, encoder alone, and what score does with them; best of rounds."""
    options = VideoOptions(longest=SHOWN)
    frames = [read_video(path, options).frames for path in paths]
    best = {"decoding": 1e9, "encoder": 1e9, "reading": 1e9, "score": 1e9}
    for _ in range(rounds):
        start = time.perf_counter()
        for path in paths:
            for _frame in iter_frames(path, options):
                pass
        best["decoding"] = min(best["decoding"], time.perf_counter() - start)
        start = time.perf_counter()
        for clip in frames:
            encoder(clip)
        best["encoder"] = min(best["encoder"], time.perf_counter() - start)
        start = time.perf_counter()
        demo, attempt = (encode_file(path, encoder, options) for path in paths)
        best["reading"] = min(best["reading"], time.perf_counter() - start)
        score_clips(demo, [attempt], ScoreSettings(("orca", "temporal_ot"), paper=True))
        best["score"] = min(best["score"], time.perf_counter() - start)
    return best


def command_seconds(paths: tuple[Path, Path], folder: Path) -> float:
    """The whole command with its page, from a cold process."""
    words = ["score", *map(str, paths), "--paper", "--json", str(folder / "s.json"), "--report", str(folder / "s.html")]
    start = time.perf_counter()
    code = "import sys; from orcalign.cli import main; main(sys.argv[1:])"
    subprocess.run([sys.executable, "-c", code, *words], check=True, capture_output=True)
    return time.perf_counter() - start


def main() -> None:
    encoder = make_encoder()
    here = machine()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        clips = write_clips(folder)
        rows = {label: measure(paths, encoder) for label, paths in clips.items()}
        for label, paths in clips.items():
            rows[label]["command"] = min(command_seconds(paths, folder) for _ in range(2))
        page = (folder / "s.html").stat().st_size
    lines = [
        "# Score: how fast",
        "",
        f"`make bench` on {here['cpu']}, {here['cores']} cores; {encoder.name} at {encoder.size} px, {encoder.engine}.",
        f"Two clips of {FRAMES} frames each (H.264, drawn by orcalign demo-videos). *Encoder alone* has the frames in",
        "memory; *score* decodes, encodes (the two side by side) and then matches by two matchers; *command* is",
        "`orcalign score --paper --json --report` from a cold process. Best of several runs. To reach: score at 90% of",
        "the encoder's frames per second; the command in 30 s.",
        "",
        "| clips | decoding alone | encoder alone | decoded and encoded | frames/s | score | frames/s | command |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for label, row in rows.items():
        times = {key: readable(row[key]) for key in row}
        rates = {key: f"{2 * FRAMES / row[key]:.0f} ({row['encoder'] / row[key]:.0%})" for key in row}
        lines.append(
            f"| {label} | {times['decoding']} | {times['encoder']} | {times['reading']} | {rates['reading']} "
            f"| {times['score']} | {rates['score']} | {times['command']} |"
        )
    lines += ["", f"Percentages are of the encoder alone. The page of the last pair has {page / 1e6:.1f} MB."]
    table = "\n".join(lines) + "\n"
    print(table)
    store("score", {"command": "make bench", "machine": here, "seconds": rows, "page_bytes": page}, table)


if __name__ == "__main__":
    main()
