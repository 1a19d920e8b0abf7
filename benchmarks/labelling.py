"""make bench: what `orcalign label` costs beside decoding and encoding, and what 1,000 hours of video cost.

python -m benchmarks.labelling
"""

from __future__ import annotations

import itertools
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.timing import machine, readable, store
from examples.recorded import drawn_episodes, write_dataset
from orcalign.datasets.labeller import Labeller, LabelOrder, frames_of, read_demo
from orcalign.datasets.labelling import label_dataset
from orcalign.datasets.lerobot import DataSet, open_dataset
from orcalign.encoders import Encoder, encode_stream
from orcalign.report.clips import VideoFrames
from orcalign.video import iter_frames
from orcalign.video.drawn import FPS

EPISODES = 8
PRICE = 0.04
"""Dollars for a core and hour; an assumption, about what clouds ask for a CPU core on demand."""


def decode(dataset: DataSet) -> None:
    for one in dataset.episodes:
        for _ in iter_frames(one.video, frames_of(dataset, one)):
            pass


def decode_and_encode(dataset: DataSet, encoder: Encoder) -> None:
    """Side by side, an episode at a time, as `orcalign score` does."""
    for one in dataset.episodes:
        encode_stream(encoder, VideoFrames(one.video, frames_of(dataset, one)).chunks(), expected=one.length)


def timed(call: Any) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def measure(dataset: DataSet, rounds: int) -> dict[str, float]:
    """Seconds for the whole data set, the best of some rounds that take turns."""
    order = LabelOrder(dataset, read_demo(dataset, "episode:0"), "episode:0")
    labeller = Labeller(order)
    list(labeller(dataset.episodes[:1]))  # kernels are compiled
    best: dict[str, float] = {}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as out:
            parts = {
                "decoding": timed(lambda: decode(dataset)),
                "decoding and encoding": timed(lambda: decode_and_encode(dataset, labeller.encoder)),
                "labelling": timed(lambda: list(labeller(dataset.episodes))),
                "the whole of label": timed(lambda: label_dataset(order, Path(out))),
            }
        best = {name: min(value, best.get(name, value)) for name, value in parts.items()}
    return best


def main(rounds: int = 3) -> None:
    here = machine()
    rows: dict[str, dict[str, float]] = {}
    drawn, _ = drawn_episodes(EPISODES, seed=1, pace=3.0)
    with tempfile.TemporaryDirectory() as name:
        for codec in ("av1", "h264"):
            write_dataset(Path(name) / codec, drawn, codec=codec)
            dataset = open_dataset(Path(name) / codec)
            rows[codec] = {"frames": dataset.frames, **measure(dataset, rounds)}
    lines = [
        "# Labelling data sets: how fast",
        "",
        f"`make bench` on {here['cpu']}, {here['cores']} cores. {EPISODES} drawn episodes of 240x180 pixels at",
        f"{FPS} frames/s (`examples/recorded.py`), four in a file. *Decoding and encoding* is both side by side, an",
        "episode at a time; *labelling* adds the match, its story and a thumbnail, and reads ahead over episodes;",
        "*the whole of label* also makes encoder and reward and writes the tables. Best of several runs. To reach:",
        "labelling within 10% of decoding and encoding. 1,000 hours are extrapolated from the frames/s, at",
        f"{PRICE} dollars for a core and hour (an assumption).",
        "",
        "| video | frames | decoding | decoding and encoding | labelling | beside it | the whole of label | frames/s "
        "| 1,000 hours: core hours | dollars |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for codec, row in rows.items():
        rate = row["frames"] / row["labelling"]
        hours = 1000 * FPS / rate * here["cores"]
        share = row["labelling"] / row["decoding and encoding"] - 1
        times = itertools.islice(row.items(), 1, None)
        decoding, encoding, labelling, whole = (readable(value) for _, value in times)
        lines.append(
            f"| {codec} | {row['frames']} | {decoding} | {encoding} | {labelling} | {share:+.1%} | {whole} "
            f"| {rate:.0f} | {hours:.0f} | {hours * PRICE:.0f} |"
        )
    table = "\n".join(lines) + "\n"
    print(table)
    store("labelling", {"command": "make bench", "machine": here, "rows": rows, "dollars_a_core_hour": PRICE}, table)


if __name__ == "__main__":
    main()
