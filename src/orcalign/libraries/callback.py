"""How the demo is followed, in Stable-Baselines3's log; and films of what the learner does."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, final

import numpy as np

from orcalign.checks import require_count
from orcalign.envs.demo_making import FPS
from orcalign.libraries.sb3 import BaseCallback, Image
from orcalign.video import write_mp4

LOGGED = ("progress", "coverage", "success")
"""What is taken of the last step's `info` where it is there."""
STILLS = 8
"""Frames of an episode in its picture."""


@final
class FollowCallback(BaseCallback):
    """Logs, over the episodes since the last line of the log, the mean of their progress, coverage and success at the
    end, and of the environment's own return: `follow/progress`, …

    With a folder, the first environment's first episode, and then one every `every` steps or so, is written to
    `FOLDER/STEP.mp4`, and a strip of its frames is shown by TensorBoard. The environments have to be in `FrameInfo`.

    Args:
        folder: for films; made where it is not there.
        every: steps from one film to the next.
        fps: frames of the film in a second.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None, every: int = 5000, fps: float = FPS) -> None:
        super().__init__()
        self._folder = None if folder is None else Path(folder)
        self._every, self._fps = require_count(every, "every", at_least=1), fps
        self._film: list[Any] | None = []

    def _on_training_start(self) -> None:
        self._returns = np.zeros(self.training_env.num_envs)
        self._film, self._due = [], self.num_timesteps + self._every

    def _on_step(self) -> bool:
        dones, infos = self.locals["dones"], self.locals["infos"]
        for k, (done, info) in enumerate(zip(dones, infos, strict=True)):
            self._returns[k] += info.get("env_reward", 0.0)
            if done:
                for name in LOGGED:
                    if name in info:
                        self.logger.record_mean(f"follow/{name}", float(info[name]))
                if "env_reward" in info:
                    self.logger.record_mean("follow/env_return", self._returns[k])
                self._returns[k] = 0
        if self._folder is not None:
            self._look(self._folder, bool(dones[0]), infos[0].get("frame"))
        return True

    def _look(self, folder: Path, done: bool, frame: Any) -> None:
        """Keep the frame of an episode that is filmed; one begins when it is due."""
        if frame is None:
            raise ValueError("there are no frames to film; wrap the environments in orcalign.envs.FrameInfo.")
        if self._film is not None:
            self._film.append(frame)
            if done:
                frames, self._film = np.stack(self._film), None
                folder.mkdir(parents=True, exist_ok=True)
                write_mp4(folder / f"{self.num_timesteps:010d}.mp4", frames, self._fps)
                at = np.linspace(0, len(frames) - 1, STILLS).round().astype(int)
                strip = np.concatenate(list(frames[at]), axis=1)
                self.logger.record("follow/strip", Image(strip, "HWC"), exclude=("stdout", "log", "json", "csv"))
        if done and self._film is None and self.num_timesteps >= self._due:
            self._film, self._due = [], self.num_timesteps + self._every
