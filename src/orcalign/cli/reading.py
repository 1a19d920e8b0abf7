"""What the commands that read videos share: options, the encoder, progress."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from orcalign.encoders import Encoder
    from orcalign.report.clips import EncodedClip
    from orcalign.report.scoring import ScoreSettings, ScoreSheet
    from orcalign.video import VideoOptions


USUAL = "efficientnet-lite0"
"""The encoder, where no other goes with the settings."""


@dataclass(frozen=True)
class Reading:
    """How videos are read; the same for the demo and the attempts."""

    fps: float | None = None
    """Frames per second to look at; left out, every frame."""
    crop: bool = False
    """Cut the largest centred square out of each picture."""
    max_frames: int = 3000
    """Most frames to keep of one video."""
    allow_truncated: bool = False
    """Take the frames before the damage of a cut-off or corrupt file."""

    def options(self, **more: Any) -> VideoOptions:
        """For the readers in `orcalign.video`."""
        from orcalign.video import VideoOptions

        return VideoOptions(
            fps=self.fps,
            centre_crop=self.crop,
            max_frames=self.max_frames,
            allow_truncated=self.allow_truncated,
            **more,
        )


@dataclass(frozen=True)
class EncoderChoice:
    """What turns frames into features."""

    encoder: str | None = None
    """Name of the encoder, if not the one that goes with the settings; `orcalign doctor` lists them and says which can
    run here."""
    weights: str | None = None
    """File, folder or hub name of its weights, where the encoder needs one."""
    size: int | None = None
    """Side in pixels of what the encoder sees; left out, the encoder's own."""
    engine: str = "auto"
    """auto, openvino, torch, torch-cuda or torch-mps."""

    def make(self, usual: str = USUAL, pooled: bool | None = None) -> Encoder:
        """Ready to run, the usual one if none was named; which engine was chosen is said once, on stderr."""
        from orcalign.encoders import make_encoder

        console = Console(stderr=True, style="dim", highlight=False)
        return make_encoder(
            self.encoder or usual,
            size=self.size,
            pooled=pooled,
            weights=self.weights,
            engine=self.engine,
            announce=console.print,
        )


def encode_all(paths: Sequence[Path], encoder: Encoder, options: VideoOptions) -> list[EncodedClip]:
    """Encode files under one bar with frames done, speed and time left, on stderr; none where nobody looks."""
    from orcalign.report.clips import encode_file
    from orcalign.video import count_frames, is_demo

    counts = [None if is_demo(path) else count_frames(path, options) for path in paths]
    known = [count for count in counts if count is not None]
    clips: list[EncodedClip] = []
    with _bar(sum(known) if len(known) == len(counts) else None) as show:
        for path in paths:
            before = sum(len(clip.frames) for clip in clips)
            clips.append(encode_file(path, encoder, options, _after(before, show)))
    return clips


def judge_all(
    demo: Path, rollouts: Sequence[Path], settings: ScoreSettings, encoder: Encoder, options: VideoOptions
) -> ScoreSheet:
    """Read and judge files under such a bar."""
    from orcalign.report.clips import read_clip
    from orcalign.report.scoring import judge_clips

    shown, *others = [read_clip(path, options) for path in (demo, *rollouts)]
    with _bar(sum(len(clip.frames) for clip in (shown, *others))) as show:
        return judge_clips(shown, others, settings, encoder, show)


def _after(before: int, show: Callable[[int], None]) -> Callable[[int], None]:
    return lambda done: show(before + done)


@contextmanager
def _bar(total: int | None) -> Iterator[Callable[[int], None]]:
    """Told how many frames are done."""
    rate = TextColumn("{task.fields[rate]}")
    columns = (TextColumn("encoding"), BarColumn(), MofNCompleteColumn(), rate, TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as progress:
        task = progress.add_task("", total=total, rate="")

        def show(done: int) -> None:
            speed = progress.tasks[task].speed
            progress.update(task, completed=done, rate=f"{speed:.0f} frames/s" if speed else "")

        yield show
