"""Settings of the reward of a whole clip; `--set NAME=VALUE` of a run."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, final

from orcalign.checks import require
from orcalign.encoders.clips.protocol import MOST


@final
@dataclass(frozen=True)
class ClipSettings:
    """What embeds clips.

    >>> ClipSettings(frames=1)
    Traceback (most recent call last):
    ...
    ValueError: frames is 1; it must be at least 2.
    """

    network: str = "i3d"
    """i3d, s3d, or a video model of transformers as org/name or ./folder."""
    frames: int = MOST
    """Of a longer clip, so many are seen, drawn evenly."""
    seed: int = 0
    """Of the run; nothing is drawn by lot."""

    def __post_init__(self) -> None:
        require("frames", self.frames, at_least=2)

    def plain(self) -> dict[str, Any]:
        """For a description."""
        return dataclasses.asdict(self)
