"""orcalign demo make, import, warp, info, lint"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro
from rich.console import Console
from rich.markup import escape

from orcalign.cli.reading import EncoderChoice, Reading

if TYPE_CHECKING:
    from orcalign.video import Demo, Warp

Video = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="VIDEO")]


def make(
    task: Annotated[str, tyro.conf.Positional, tyro.conf.arg(metavar="TASK")],
    /,
    out: Path,
    misaligned: bool = False,
    random_warp: Literal["fast-low", "fast-high", "slow-low", "slow-high", "mixed"] | None = None,
    variant: int = 0,
    seed: int = 0,
    count: int = 1,
    demo_order: Literal["central", "drawn"] = "central",
    demo_end: Literal["hold", "script"] = "hold",
    render: Literal["fast", "paper"] = "fast",
    size: int | None = None,
    camera: str | None = None,
    states: bool = False,
    overwrite: bool = False,
) -> None:
    """Let a scripted expert do a task, and keep its video as a demo.

    The demo ends in success; where the expert fails, another episode is drawn, and where success is lost all the same,
    the demo ends before that; both are said. Beside the frames and the manifest there is an mp4 to watch. A demo made
    in one render mode is refused for a learner in the other.

    Args:
        task: A name of `orcalign tasks`, or any other Meta-world v3 task.
        out: Folder of the new demo; with --count above 1, of the folders 0, 1, ... of the new demos.
        misaligned: Keep the paper's frames of the task only: its first fifth as it is, the rest sped up.
        random_warp: The paper's random protocol: speed and level; mixed is one of each, of one episode (--count 4).
        variant: Which of the three random warps of that speed and level, 0 to 2; of mixed ones, which draw.
        seed: Number of the first demo.
        count: How many demos of different episodes to make.
        demo_order: How episodes are numbered: as drawn, or (central) those first that begin in the middle of what the
            task has to offer.
        demo_end: What the expert does after its first success: hold what it has, or go on as the script, which may
            undo it.
        render: How frames are drawn: fast, or paper (480 px with shadows, resized to 224).
        size: Side of the frames in pixels; left out, that of the render mode.
        camera: Another camera than the task's.
        states: Keep what the environment observes beside the frames, for recipes that imitate states (gaifo).
        overwrite: Replace demos that are already there.
    """
    from orcalign.envs import make_demos
    from orcalign.video.demo import check_target

    folders = [out] if count == 1 else [out / str(k) for k in range(count)]
    for folder in folders:
        check_target(folder, overwrite)
    console = Console(stderr=True)
    with console.status(f"the expert plays {task}"):
        demos, notes = make_demos(
            task, count, seed, random_warp, misaligned=misaligned, variant=variant, render=render, size=size,
            camera=camera, order=demo_order, end=demo_end, states=states,
        )  # fmt: skip
    for note in notes:
        console.print(f"orcalign: {note}", highlight=False, soft_wrap=True)
    for demo, folder in zip(demos, folders, strict=True):
        folder.parent.mkdir(parents=True, exist_ok=True)
        demo.save(folder, overwrite)
        show_demo(demo, folder)


def import_(
    video: Video,
    /,
    out: Path,
    start: float = 0.0,
    end: float | None = None,
    size: int | None = None,
    mirror: bool = False,
    task: str | None = None,
    reading: Annotated[Reading, tyro.conf.arg(name="")] = Reading(),  # noqa: B008
    overwrite: bool = False,
) -> None:
    """Make a demo out of any video: trimmed, at a frame rate, cropped, resized.

    Writes a folder with the frames (lossless), an mp4 to watch, and a manifest with a content hash. How it was
    rendered is "unknown", which is accepted everywhere.

    Args:
        video: mp4, mov, webm, avi, mkv, gif, a folder of images, or an npz with `frames`.
        out: Folder of the new demo.
        start: Seconds at which it begins.
        end: Seconds at which it ends; left out, at the end of the video.
        size: Side in pixels of the square that pictures are resized to; left out, their own size.
        mirror: Show it from right to left.
        task: Name of the task shown.
        overwrite: Replace a demo that is already there.
    """
    from orcalign.video import Demo
    from orcalign.video.demo import check_target

    check_target(out, overwrite)
    demo = Demo.from_video(video, reading.options(start=start, end=end, size=size, mirror=mirror), task=task)
    demo.save(out, overwrite)
    show_demo(demo, out)


def warp(
    demo: Video,
    /,
    out: Path,
    keep: str | None = None,
    speed_up: int | None = None,
    slow_down: int | None = None,
    pause: tuple[int, int] | None = None,
    segment: tuple[int, int] | None = None,
    paper: str | None = None,
    random: Literal["fast", "slow"] | None = None,
    level: Literal["low", "high"] = "low",
    variant: int = 0,
    success_at: int | None = None,
    seed: int = 0,
    overwrite: bool = False,
) -> None:
    """Change a demo's timing; give one of --keep, --speed-up, --slow-down, --pause, --paper, --random.

    Args:
        demo: A saved demo, or a video.
        out: Folder of the new demo.
        keep: Frames to keep, such as 0-14,31,43,44.
        speed_up: Keep every k-th frame (and the last).
        slow_down: Show each frame k times.
        pause: Frame at which to pause, and for how many frames.
        segment: First frame and one beyond the last, to which --speed-up or --slow-down is limited.
        paper: The paper's fixed misalignment of a Meta-world task, by its name (door-close, ...).
        random: The paper's random protocol: five segments, some of them faster or slower.
        level: How uneven a random warp is: low or high.
        variant: Which of the three random warps of that level, 0 to 2.
        success_at: Frame at which the demo succeeds; a random warp cuts the demo soon after it.
        seed: Of a random warp.
        overwrite: Replace a demo that is already there.
    """
    import numpy as np

    from orcalign import video
    from orcalign.envs.demo_warps import check_variant
    from orcalign.video.demo import check_target

    check_target(out, overwrite)

    def at_random(J: int, speed: Literal["fast", "slow"]) -> Warp:
        six = video.random_misalignments(J, speed, np.random.default_rng(seed), success_at)
        check_variant("variant", variant, f"{speed}-{level}")
        return [one for one in six if one.level == level][variant].warp

    # Each is made of the demo's length and of what was given.
    asked: dict[str, tuple[Any, Callable[[int, Any], Warp]]] = {
        "--keep": (keep, lambda J, frames: video.keep(frames, J)),
        "--speed-up": (speed_up, lambda J, factor: video.speed_up(J, factor, segment)),
        "--slow-down": (slow_down, lambda J, factor: video.slow_down(J, factor, segment)),
        "--pause": (pause, lambda J, where: video.pause(J, *where)),
        "--paper": (paper, lambda J, task: video.paper_misalignment(task, J)),
        "--random": (random, at_random),
    }
    given = [name for name, (value, _) in asked.items() if value is not None]
    if len(given) != 1:
        raise ValueError(f"{' and '.join(given) or 'no warp'} given; give exactly one of {', '.join(asked)}.")
    if segment is not None and speed_up is None and slow_down is None:
        raise ValueError(f"--segment goes with --speed-up or --slow-down, not with {given[0]}.")
    original = video.load_demo(demo)
    value, make_warp = asked[given[0]]
    warped = original.warp(make_warp(len(original), value))
    warped.save(out, overwrite)
    show_demo(warped, out)


def info(demo: Video, /) -> None:
    """Say what a demo is and where it came from.

    Args:
        demo: A saved demo, or a video.
    """
    from orcalign.video import load_demo

    show_demo(load_demo(demo), demo)


def show_demo(demo: Demo, path: Path) -> None:
    """Print what is in a demo."""
    height, width = demo.frames.shape[1:3]
    rows = {
        "demo": str(path),
        "frames": f"{len(demo)} of {width}x{height} pixels, {demo.fps:g} per second ({len(demo) / demo.fps:.1f} s)",
        "from": demo.source,
        "shows": f"frames {demo.index_map.keep_list()} of {demo.original_length}",
        "task": demo.task or "not said",
        "camera": demo.camera or "not said",
        "render": demo.render,
        "success": demo.success_words,
        "states": "none" if demo.states is None else f"{demo.states.shape[1]} numbers in each frame",
        "sha256": demo.sha256,
    }
    for name, value in rows.items():
        print(f"{name:<8}{value}")


def lint(
    demo: Video,
    /,
    pixels_only: bool = False,
    distance: str = "cosine",
    encoder: Annotated[EncoderChoice, tyro.conf.arg(name="")] = EncoderChoice(),  # noqa: B008
) -> None:
    """Look for what makes a demo hard to learn from; exit code 1 if it would not be wise to train on it.

    Says how many frames show success, where the demo knows. Finds a last frame that shows none, long pauses, jumps,
    duplicate and black frames, a last frame that looks like the first, demos too long or too short for the method, and
    frames that the encoder cannot tell apart; each with frame numbers and what to do.

    Args:
        demo: A saved demo, or a video.
        pixels_only: Leave out what needs an encoder.
        distance: cosine or euclidean, as the reward will use.
    """
    from orcalign.rewards import lint_demo, wise_to_train
    from orcalign.video import load_demo

    loaded = load_demo(demo)
    features = None if pixels_only else encoder.make()(loaded.frames)
    findings = lint_demo(loaded, features, distance)
    console = Console(soft_wrap=True, highlight=False)
    colours = {"error": "red", "warning": "yellow", "note": "cyan"}
    for finding in findings:
        text = escape(str(finding).removeprefix(finding.severity))
        console.print(f"[{colours[finding.severity]}]{finding.severity}[/]{text}")
    wise = wise_to_train(findings)
    said = "fit to train on" if wise else "better not train on this"
    console.print(f"{demo}: {said} ({len(findings)} findings); success: {loaded.success_words}")
    if not wise:
        sys.exit(1)
