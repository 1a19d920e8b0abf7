"""How a run follows its video in state space: the topic of the config that the recipes `follow` need."""

from __future__ import annotations

from dataclasses import dataclass

from orcalign.checks import require
from orcalign.rewards.follow.learner import LEARNERS
from orcalign.rewards.follow.own_frames import OwnSettings
from orcalign.rewards.follow.reward import NOT_BOTH
from orcalign.rewards.follow.settings import FollowSettings

FOLLOW = "follow"
"""Name of the reward."""
EYES = ("posed", "own")
TURNED = ("auto", "always", "never")
ALL = "all"
"""In the place of a file of entities."""


@dataclass(frozen=True)
class FollowConfig:
    """How the video is followed in state space, for --reward follow."""

    eye: str = "posed"
    """What reads the video: an eye that learned from scenes posed in the simulator (posed; made once for a task and
    kept), one that learns from the run's own frames (own), or a file of `orcalign predictor train`."""
    learner: str = "states"
    """What tells where the learner's own things are: its true states, or (pictures) the eye, which has to have learned
    already, from the learner's pictures."""
    entities: str | None = None
    """YAML file that says which numbers of an observation are hand, objects and goal; left out, the task's own.
    `orcalign entities TASK` writes one. all: nothing is known, and all numbers are one place."""
    turned: str = "auto"
    """Whether the policy sees and acts in a world that is turned in every episode so that the goal lies ahead of the
    object: always, never, or (auto) where goals lie in all directions from it and random play shows that actions move
    the hand in straight lines."""
    sees: tuple[str, ...] = FollowSettings().sees
    """What the policy sees beside the observation: relations (of hand, objects and goal), progress (along the demo),
    missing (to the next demo frame)."""
    tolerance: float = FollowSettings().temperature
    """Centimetres beyond the floor at which a demo frame counts as 1/e reached."""
    near: float | None = None
    """Centimetres within which it counts as reached; left out, from the error of the eye."""
    posed_frames: int = 8000
    """Of an eye that learns from posed scenes: how many it sees."""
    posed_updates: int = 4000
    """Updates of 32 of them."""
    eye_frames: int = OwnSettings().frames
    """Of an eye that learns from own frames: frames of each episode that it sees."""
    eye_begin: int = OwnSettings().begin
    """Agent steps of random play before it learns for the first time."""
    eye_episode: int | None = None
    """Agent steps after which an episode of that random play is cut off, so that the eye sees more beginnings; left
    out, none is."""
    eye_updates: int = OwnSettings().updates
    """Updates then."""
    eye_every: int = OwnSettings().every
    """Agent steps from one refit to the next."""
    eye_refit: int = OwnSettings().refit
    """Updates of each."""

    def __post_init__(self) -> None:
        if self.eye not in EYES and not self.eye.endswith(".safetensors"):
            require("eye", self.eye, (*EYES, "FILE.safetensors"))
        require("learner", self.learner, LEARNERS)
        if self.learner == "pictures" and self.eye == "own":
            raise ValueError(NOT_BOTH)
        if self.eye_episode is not None:
            require("eye_episode", self.eye_episode, at_least=1)
        require("turned", self.turned, TURNED)
        for name in ("posed_frames", "posed_updates"):
            require(name, getattr(self, name), at_least=1)
        self.settings()
        self.own(0)

    def settings(self) -> FollowSettings:
        """Those of the reward."""
        return FollowSettings(self.tolerance, self.near, sees=self.sees)

    def own(self, seed: int) -> OwnSettings | None:
        """Those of an eye that learns; None for another."""
        if self.eye != "own":
            return None
        return OwnSettings(
            self.eye_frames, self.eye_begin, self.eye_updates, self.eye_every, self.eye_refit, seed
        )  # fmt: skip
