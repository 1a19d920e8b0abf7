"""Settings of the reward of one sentence; `--set NAME=VALUE` of a run."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, final


@final
@dataclass(frozen=True)
class TextSettings:
    """How a frame is compared with the sentence.

    >>> TextSettings(start="  ").start
    ''
    """

    start: str = ""
    """A sentence that says how things are before: then a frame is projected onto the way from it to the goal."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", " ".join(str(self.start or "").split()))

    def plain(self) -> dict[str, Any]:
        """For a description."""
        return dataclasses.asdict(self)
