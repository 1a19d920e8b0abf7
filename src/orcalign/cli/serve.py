"""orcalign serve and watch: live rewards for robots and for a camera of this machine."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro
from rich.console import Console

from orcalign.cli.reading import EncoderChoice, Reading

if TYPE_CHECKING:
    from orcalign.rewards import VideoReward
    from orcalign.rewards.demos import DemoLike
    from orcalign.serving import LiveReward, RewardServer

KEY = "observation/image"


def serve(
    demos: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="DEMO ...")],
    /,
    port: int = 8000,
    host: str = "127.0.0.1",
    token: str | None = None,
    image_key: tuple[str, ...] = (KEY,),
    matcher: str = "bottleneck",
    calibrated: bool = True,
    context: int = 3,
    distance: str = "cosine",
    done: float = 0.5,
    connections: int = 256,
    rerun: bool = False,
    rrd: Path | None = None,
    encoder: Annotated[EncoderChoice, tyro.conf.arg(name="")] = EncoderChoice(),  # noqa: B008
    reading: Annotated[Reading, tyro.conf.arg(name="")] = Reading(),  # noqa: B008
) -> None:
    """Give a robot its reward at every frame, over openpi's WebSocket protocol, and show it on a page.

    Any client of openpi's works unchanged: it sends {"observation/image": uint8 [H,W,3]}, and is told reward, progress,
    coverage, demo_frame and done. Optional in a message: reset (true: an episode begins with this frame) and session (a
    name: each has its own stream). Open http://localhost:8000 to watch.

    Args:
        demos: Videos, folders of images or saved demos: several ways to do it, or one for each camera.
        port: To listen on; 0 for a free one.
        host: Address to listen on. Others than the loopback can be reached from other machines and need a token.
        token: What clients must say (openpi's api_key); 16 letters or more. Better put into ORCALIGN_TOKEN.
        image_key: Where the picture is in a message; several for several cameras, each with its demo, in this order.
        matcher: One of `orcalign matchers` that is known at every step.
        calibrated: Take temperature and floor from the demo itself.
        context: Frames in step over which distances are averaged, those before; 1 for none.
        distance: cosine or euclidean.
        done: The coverage from which a session is done.
        connections: Robots and pages at once.
        rerun: Send the same to a Rerun viewer, which is started unless one is open.
        rrd: Write the same to this file of Rerun's (.rrd).
    """
    from orcalign.serving import RewardServer
    from orcalign.serving.access import Access

    access = Access(host, token or os.environ.get("ORCALIGN_TOKEN") or None)
    live = live_reward(
        demos,
        image_key,
        encoder,
        reading,
        done,
        matcher=matcher,
        calibrated=calibrated,
        context=context,
        distance=distance,
    )
    server = RewardServer(live, access, port, connections)
    with viewed(server, rerun, rrd):
        asyncio.run(_serve(server))


def watch(
    demos: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="DEMO ...")],
    /,
    camera: str = "0",
    port: int = 8000,
    matcher: str = "bottleneck",
    calibrated: bool = True,
    context: int = 3,
    distance: str = "cosine",
    done: float = 0.5,
    rerun: bool = False,
    rrd: Path | None = None,
    encoder: Annotated[EncoderChoice, tyro.conf.arg(name="")] = EncoderChoice(),  # noqa: B008
    reading: Annotated[Reading, tyro.conf.arg(name="")] = Reading(),  # noqa: B008
) -> None:
    """Follow a demo with a camera of this machine: a page shows camera, demo frame, reward and progress live.

    A file in the place of a camera is played at its own pace, and what it reached is printed at its end.

    Args:
        demos: Videos, folders of images or saved demos: several ways to do it.
        camera: Number of the camera, or a video.
        port: Of the page; 0 for a free one.
        matcher: One of `orcalign matchers` that is known at every step.
        calibrated: Take temperature and floor from the demo itself.
        context: Frames in step over which distances are averaged, those before; 1 for none.
        distance: cosine or euclidean.
        done: The coverage from which it is done.
        rerun: Send the same to a Rerun viewer, which is started unless one is open.
        rrd: Write the same to this file of Rerun's (.rrd).
    """
    from orcalign.report.clips import SHOWN
    from orcalign.serving import RewardServer
    from orcalign.serving.cameras import frames_of

    live = live_reward(
        demos,
        (KEY,),
        encoder,
        reading,
        done,
        matcher=matcher,
        calibrated=calibrated,
        context=context,
        distance=distance,
    )
    server = RewardServer(live, None, port)
    frames = frames_of(camera, reading.options(longest=SHOWN))
    console = Console(highlight=False, soft_wrap=True)

    async def follow() -> dict[str, Any] | None:
        async with server.running():
            console.print(f"page: http://127.0.0.1:{server.port}/    stop: Ctrl-C")
            return await server.follow(frames)

    with viewed(server, rerun, rrd):
        told = asyncio.run(follow())
    if told is not None:
        verdict = "done" if told["done"] else "not done"
        console.print(
            f"{told['frames']} frames: progress {told['progress']:.2f}, coverage {told['coverage']:.2f}, {verdict}; "
            f"sum of rewards {told['total']:.4g}"
        )


@contextmanager
def viewed(server: RewardServer, rerun: bool, rrd: Path | None) -> Iterator[None]:
    """Also shown by Rerun, where that is asked for."""
    from orcalign.serving.rerun_viewer import RerunViewer

    viewers = [RerunViewer(server.live, file) for file, asked in ((None, rerun), (rrd, rrd is not None)) if asked]
    server.board.watchers += viewers
    try:
        yield
    finally:
        for viewer in viewers:
            viewer.close()


def live_reward(
    demos: Sequence[Path],
    keys: Sequence[str],
    encoder: EncoderChoice,
    reading: Reading,
    done: float,
    *,
    matcher: str,
    calibrated: bool,
    context: int,
    distance: str,
) -> LiveReward:
    """The reward of the demos: with several keys one for each camera, else all of them of one camera."""
    from orcalign.rewards import VideoReward
    from orcalign.rewards.settings import RewardSettings, calibrates, check_streams
    from orcalign.serving import LiveReward

    if not demos:
        raise ValueError("no demo was given; name at least one video.")
    if len(keys) > 1 and len(keys) != len(demos):
        raise ValueError(
            f"there are {len(keys)} image keys and {len(demos)} demos; give one demo for each camera, in this order."
        )
    each = [[one] for one in demos] if len(keys) > 1 else [list(demos)]
    calibrated = calibrated and calibrates(matcher)
    # What cannot stream is refused before anything is read.
    check_streams(RewardSettings(distance, context, "past", matcher, calibrated), max(map(len, each)))
    model = encoder.make()

    def reward(paths: Sequence[Path]) -> VideoReward:
        return VideoReward(
            read_demos(paths, reading), model, distance, context, "past", matcher=matcher, calibrated=calibrated
        )

    return LiveReward([reward(paths) for paths in each], keys, done, reading.crop)


def read_demos(paths: Sequence[Path], reading: Reading) -> list[DemoLike]:
    """Saved demos as they are, videos as the options say."""
    from orcalign.report.clips import SHOWN
    from orcalign.video import is_demo, read_video

    def saved(path: Path) -> bool:
        return is_demo(path) or (path.is_dir() and any(is_demo(entry) for entry in path.iterdir()))

    return [path if saved(path) else read_video(path, reading.options(longest=SHOWN)) for path in paths]


async def _serve(server: RewardServer) -> None:
    console = Console(highlight=False, soft_wrap=True)
    async with server.running() as running:
        host = server.access.host if ":" not in server.access.host else f"[{server.access.host}]"
        query = "" if server.access.token is None else "?token=…"
        console.print(f"robots: ws://{host}:{server.port}    page: http://{host}:{server.port}/{query}    stop: Ctrl-C")
        await running.serve_forever()
