"""What a task is: a row of data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from orcalign.video import keep

Suite = Literal["metaworld", "nav2d", "gymnasium", "function"]
Difficulty = Literal["easy", "medium", "hard", "unknown"]

UPSIDE_DOWN = ("corner", "corner2", "corner3")
"""Cameras of Meta-world that hang head down."""


@dataclass(frozen=True)
class TaskSpec:
    """A task: which environment, seen how, for how long.

    >>> spec = TaskSpec("door-close", "metaworld", "door-close-v3", "corner", 125, action_repeat=2)
    >>> spec.agent_steps, spec.flip
    (63, True)
    >>> TaskSpec("door-close", "metaworld", "door-close-v3", "corner", 0)
    Traceback (most recent call last):
    ...
    ValueError: task 'door-close' has episode_steps=0; it must be a whole number of at least 1.
    """

    name: str
    suite: Suite
    env_id: str
    """Name of the environment in its suite; for "function" the module:function."""
    camera: str | None = None
    """Camera of a MuJoCo scene; None where the environment has only one view."""
    episode_steps: int = 1000
    """Simulation steps after which the episode is truncated."""
    action_repeat: int = 1
    """Simulation steps for which the agent's action is held."""
    difficulty: Difficulty = "unknown"
    success: str = "as the environment reports it"
    """When info["success"] is true, in one line."""
    misaligned: str | None = None
    """Frames of the aligned demo that make the misaligned one, as `orcalign.video.keep` reads them."""
    expert_stops: bool = False
    """Whether the scripted expert sends zeros once it has succeeded (it would undo its work)."""
    settings: tuple[tuple[str, str | int | float | bool], ...] = ()
    """Keyword arguments of the environment."""

    def __post_init__(self) -> None:
        for name in ("name", "env_id"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name).strip():
                raise ValueError(f"a task has {name}={getattr(self, name)!r}; give a name that is not empty.")
        for name, known in (("suite", get_args(Suite)), ("difficulty", get_args(Difficulty))):
            if getattr(self, name) not in known:
                given = getattr(self, name)
                raise ValueError(
                    f"task {self.name!r} has {name}={given!r}; it must be one of {', '.join(known)}."
                )
        for name in ("episode_steps", "action_repeat"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(
                    f"task {self.name!r} has {name}={value!r}; it must be a whole number of at least 1."
                )
        if self.suite == "metaworld" and self.episode_steps > 500:
            raise ValueError(
                f"task {self.name!r} has episode_steps={self.episode_steps}; Meta-world simulates at most 500."
            )
        if self.suite == "metaworld" and not self.camera:
            raise ValueError(f"task {self.name!r} has no camera; name one, such as 'corner3'.")
        if self.misaligned is not None:
            keep(self.misaligned, self.agent_steps)

    @property
    def agent_steps(self) -> int:
        """Agent steps of a whole episode, the last one cut short where the repeat does not divide it."""
        return -(-self.episode_steps // self.action_repeat)

    @property
    def flip(self) -> bool:
        """Whether the camera's picture has to be turned the right way up."""
        return self.suite == "metaworld" and self.camera in UPSIDE_DOWN
