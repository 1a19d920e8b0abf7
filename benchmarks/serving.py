"""How fast a live server answers: from frame in to reward out, with 1, 4 and 16 robots, beside the encoder alone.

python -m benchmarks.serving [--quick]

The robots are in a process of their own. Each sends a frame, waits for its reward and sends the next.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.timing import machine, store
from orcalign import VideoReward, read_video
from orcalign.serving import LiveReward, RewardServer
from orcalign.serving.live import KEY
from orcalign.serving.messages import pack, unpack
from orcalign.video.drawn import draw_clips

ROBOTS = (1, 4, 16)
ROUNDS = 3
FRAMES = 320
"""Of all robots together in a round."""


async def play(port: int, robots: int, clip: str) -> dict[str, Any]:
    """What so many robots see: seconds of every answer, and of all."""
    from websockets.asyncio.client import connect

    messages = [pack({KEY: frame}) for frame in read_video(clip).frames]

    async def robot(count: int, warm: asyncio.Barrier) -> list[float]:
        spent = []
        async with connect(f"ws://127.0.0.1:{port}", compression=None, max_size=None) as connection:
            await connection.recv()
            for k in range(-5, count):
                if k == 0:
                    await warm.wait()
                start = time.perf_counter()
                await connection.send(messages[k % len(messages)])
                unpack(await connection.recv())  # type: ignore[arg-type]
                if k >= 0:
                    spent.append(time.perf_counter() - start)
        return spent

    warm = asyncio.Barrier(robots + 1)
    playing = [asyncio.create_task(robot(FRAMES // robots, warm)) for _ in range(robots)]
    await warm.wait()
    start = time.perf_counter()
    spent = await asyncio.gather(*playing)
    return {"seconds": time.perf_counter() - start, "answers": [one for each in spent for one in each]}


def measure(clips: Path, rounds: int) -> dict[str, Any]:
    """Rounds in turn, so that a busy moment does not hit one of them alone."""
    attempt, load = str(clips / "good.mp4"), os.getloadavg()[0]
    reward = VideoReward(str(clips / "demo.mp4"), matcher="bottleneck", direction="past", calibrated=True)
    server = RewardServer(LiveReward([reward]), port=0)
    ready, stopping = threading.Event(), []

    async def serve() -> None:
        stop, loop = asyncio.Event(), asyncio.get_running_loop()
        stopping.append(lambda: loop.call_soon_threadsafe(stop.set))
        async with server.running():
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    ready.wait()
    frames = np.concatenate([read_video(attempt).frames] * 4)[:FRAMES]
    reward.encoder(frames[:32])
    alone: list[float] = []
    found: dict[int, list[dict[str, Any]]] = {count: [] for count in ROBOTS}
    try:
        for _ in range(rounds):
            start = time.perf_counter()
            reward.encoder(frames)
            alone.append(len(frames) / (time.perf_counter() - start))
            for count in ROBOTS:
                command = [
                    sys.executable,
                    "-m",
                    "benchmarks.serving",
                    "--robots",
                    str(server.port),
                    str(count),
                    attempt,
                ]
                found[count].append(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))
    finally:
        stopping[0]()
        thread.join()
    return {
        "encoder": reward.encoder.name,
        "load": load,
        "picture": list(frames.shape[1:3]),
        "demo_frames": len(reward.demos[0]),
        "rounds": rounds,
        "frames": FRAMES,
        "encoder_alone": alone,
        "robots": {str(count): summary(each, alone) for count, each in found.items()},
    }


def summary(rounds: list[dict[str, Any]], alone: list[float]) -> dict[str, float]:
    """Milliseconds and frames/s of the fastest round; the share of the encoder is each round's own, at its median."""
    speeds = [len(one["answers"]) / one["seconds"] for one in rounds]
    best = 1000 * np.array(rounds[int(np.argmax(speeds))]["answers"])
    return {
        "p50_ms": float(np.percentile(best, 50)),
        "p99_ms": float(np.percentile(best, 99)),
        "frames_per_second": max(speeds),
        "share": float(np.median(np.array(speeds) / alone)),
    }


def table(found: dict[str, Any], here: dict[str, Any]) -> str:
    """As Markdown."""
    lines = [
        "# Live rewards",
        "",
        f"From frame in to reward out, {found['encoder']}, pictures of {found['picture'][1]}x{found['picture'][0]} "
        f"pixels, a demo of {found['demo_frames']} frames; each robot waits for its reward before it sends the next "
        "frame. Latency and frames/s of the fastest round; share of what the encoder alone does with all at once, "
        f"right before ({max(found['encoder_alone']):.0f} frames/s in its fastest round), the median of "
        f"{found['rounds']} rounds of {found['frames']} frames.",
        "",
        "| robots | p50, ms | p99, ms | frames/s, all together | share of the encoder alone |",
        "|---|---|---|---|---|",
    ]
    for count, row in found["robots"].items():
        lines.append(
            f"| {count} | {row['p50_ms']:.1f} | {row['p99_ms']:.1f} | {row['frames_per_second']:.0f} "
            f"| {100 * row['share']:.0f}% |"
        )
    lines += ["", f"`python -m benchmarks.serving` on {here['cpu']}, {here['cores']} cores, robots included, with "]
    lines[-1] += f"a load of {found['load']:.0f} by other work: on an idle machine all is faster."
    return "\n".join(lines) + "\n"


def main() -> None:
    if "--robots" in sys.argv:
        port, count, clip = sys.argv[-3:]
        print(json.dumps(asyncio.run(play(int(port), int(count), clip))))
        return
    quick = "--quick" in sys.argv
    with tempfile.TemporaryDirectory() as folder:
        draw_clips(Path(folder))
        found = measure(Path(folder), 1 if quick else ROUNDS)
    here = machine()
    text = table(found, here)
    print(text)
    if not quick:
        store("serving", {"command": "python -m benchmarks.serving", "machine": here, **found}, text)


if __name__ == "__main__":
    main()
