"""orcalign demo-videos"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro


def demo_videos(folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER")], /) -> None:
    """Draw four short videos of one task, to try orcalign without a camera.

    A gripper carries a box over a wall into a tray: demo.mp4 hurries through the second half, good.mp4 does the same at
    an even pace, stalls.mp4 waits over the wall, and skips.mp4 goes to the tray without the box.

    Args:
        folder: To write them to; it is made if it is not there.
    """
    import shlex

    from orcalign.video.drawn import draw_clips

    demo, *attempts = (shlex.quote(str(path)) for path in draw_clips(folder))
    print(f"{1 + len(attempts)} videos in {folder}. Score them, and see why:")
    print(f"  orcalign score {demo} {' '.join(attempts)} --report {shlex.quote(str(folder / 'page.html'))}")
