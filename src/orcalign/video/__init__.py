"""Video files ↔ uint8 frames [T,H,W,3]; demos; time warps as index maps.

Nothing heavy is imported here: PyAV comes in when a file is read or written.
"""

from orcalign.video.demo import Demo, is_demo, load_demo
from orcalign.video.demoset import DemoSet
from orcalign.video.misalign import (
    PAPER_KEEP_LISTS,
    Misalignment,
    change_segments,
    cut_length,
    one_of_each,
    paper_misalignment,
    random_misalignments,
    success_start,
)
from orcalign.video.read import Clip, TimedFrame, count_frames, iter_frames, read_video
from orcalign.video.timeline import VideoOptions
from orcalign.video.warps import Warp, compose, identity, keep, pause, slow_down, speed_up
from orcalign.video.write import encode_mp4_bytes, write_gif, write_mp4

__all__ = [
    "PAPER_KEEP_LISTS",
    "Clip",
    "Demo",
    "DemoSet",
    "Misalignment",
    "TimedFrame",
    "VideoOptions",
    "Warp",
    "change_segments",
    "compose",
    "count_frames",
    "cut_length",
    "encode_mp4_bytes",
    "identity",
    "is_demo",
    "iter_frames",
    "keep",
    "load_demo",
    "one_of_each",
    "paper_misalignment",
    "pause",
    "random_misalignments",
    "read_video",
    "slow_down",
    "speed_up",
    "success_start",
    "write_gif",
    "write_mp4",
]
