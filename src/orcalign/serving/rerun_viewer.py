"""The same for a Rerun viewer, or into its files: pictures and numbers under LeRobot's names."""

from __future__ import annotations

import shutil
import sys
import warnings
from pathlib import Path
from typing import Any, final

from orcalign.files import require_writable
from orcalign.serving.live import LiveReward, Observation

FLUSH = 5.0
"""Seconds to wait for what is on its way."""


@final
class RerunViewer:
    """A `Watcher` that logs every frame, by session: cameras, the demo frame followed, and

    `next.reward`, `next.done`, `progress_sparse` (what has been covered in order) and `progress_dense` (where in the
    demo the robot is now), over LeRobot's timeline `frame_index`.

    Args:
        live: the reward.
        file: an .rrd file; None for a viewer, which is started unless one is open.
    """

    def __init__(self, live: LiveReward, file: Path | None = None) -> None:
        import rerun

        self._rerun, self._live = rerun, live
        self._counts: dict[str, int] = {}
        self._recording: Any = rerun.RecordingStream("orcalign")
        if file is None:
            self._spawn()
        else:
            require_writable(file)
            self._recording.save(str(file))

    def _spawn(self) -> None:
        # Beside this Python, where no PATH may lead.
        beside = shutil.which("rerun", path=str(Path(sys.executable).parent))
        try:
            self._rerun.spawn(executable_path=beside, recording=self._recording)
        except RuntimeError as error:
            reason = str(error).strip().splitlines()[0]
            raise ValueError(f"the Rerun viewer does not start ({reason}); write a file with --rrd instead.") from None

    def show(self, session: str, observation: Observation, reply: dict[str, Any]) -> None:
        """Log a frame and its reply."""
        rerun, recording = self._rerun, self._recording
        # Over all episodes of a session: time does not run backwards in a viewer.
        self._counts[session] = count = self._counts.get(session, -1) + 1
        recording.set_time("frame_index", sequence=count)
        where = f"robot {session}"
        places = reply.get("demo_frames", [reply["demo_frame"]])
        for key, reward, picture, at in zip(
            self._live.keys, self._live.rewards, observation.pictures, places, strict=False
        ):
            name = key.replace("/", ".")
            recording.log([where, name], rerun.Image(picture))
            demo = reward.demos[reply["demo"] if len(reward.demos) > 1 else 0]
            recording.log([where, f"demo.{name}"], rerun.Image(demo.frames[at]))
        demo = self._live.rewards[0].demos[reply["demo"] if len(self._live.rewards[0].demos) > 1 else 0]
        numbers = {
            "next.reward": reply["reward"],
            "next.done": float(reply["done"]),
            "progress_sparse": reply["progress"],
            "progress_dense": places[0] / max(1, len(demo) - 1),
        }
        for name, value in numbers.items():
            recording.log([where, name], rerun.Scalars(value))

    def close(self) -> None:
        """Wait until all has arrived; a viewer that cannot be reached is warned of."""
        try:
            self._recording.flush(timeout_sec=FLUSH)
        except RuntimeError as error:
            reason = str(error).strip().splitlines()[0]
            warnings.warn(f"Rerun did not take all that was sent ({reason}); is there a screen?", stacklevel=2)
        self._recording.disconnect()
