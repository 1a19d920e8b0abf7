"""How a run turns its video into a reward: the topic of the config with the most to check."""

from __future__ import annotations

import contextlib
import pkgutil
from dataclasses import dataclass
from typing import Any

from orcalign.checks import Ramp, Scale, near_miss, require, settings_from, share_or_count
from orcalign.matching import MATCHERS
from orcalign.rewards.settings import RewardSettings, calibrates, known_settings
from orcalign.training.follow_config import FOLLOW

VIDEO = "video"
IMITATORS = {
    "gaifo": "orcalign.rewards.adversarial.settings:AdversarialSettings",
    "roboclip": "orcalign.rewards.clip.settings:ClipSettings",
    "text": "orcalign.rewards.text.settings:TextSettings",
}
"""Rewards with settings of their own, which a run gives in `set`: module:class of these."""
POOLS = ("auto", "max", "best")
SAME = Ramp(1.0, 1.0)
FIRST = Scale("first")


@dataclass(frozen=True)
class RewardConfig:
    """How the video becomes a reward."""

    reward: str = VIDEO
    """video; follow, which follows it in state space; gaifo, which a discriminator pays; roboclip, of whole
    clips; text, of one sentence; or module:Class for one of your own. The last four are made with the settings in
    `set`."""
    matcher: str = "orca"
    """One of `orcalign matchers`."""
    distance: str = "cosine"
    """Between features: cosine or euclidean."""
    context: int = 3
    """Frames in step over which distances are averaged; 1 for none."""
    direction: str = "future"
    """Where the context looks: future, as in the paper, or past."""
    calibrated: bool = False
    """Take floor and temperature from the demo itself; --temperature is then a factor on both."""
    calibration_episodes: int = 5
    """Then also from how close the first episodes come to the demo, nothing else of them; 0 for the demo alone."""
    temperature: Ramp = SAME
    """Of matchers that have one; lower is stricter. 1.0:0.25 falls from the first to the second during each stage."""
    floor: float = 0.0
    """Distance below which a frame counts as reached."""
    set: tuple[str, ...] = ()
    """Other settings of the matcher, as name=value; those that a stage's matcher does not have are not used there."""
    progress_in: str = "frames"
    """What orca_progress counts: frames of the demo, or (path) how much they change from one to the next, so that a
    pause is worth nothing and a jump much."""
    pool: str = "auto"
    """Several demos: auto is the matcher's own, max at every step, or all rewards of the best demo."""
    confidence: bool = False
    """Multiply the rewards by how far the predictor is to be believed (--look joints or arms)."""
    stability: float = 0.0
    """Weight of what is paid for standing at every step, where the task can fall; 0 for nothing."""
    scale: Scale = FIRST
    """What rewards are multiplied by: first (the first episode with a reward sums to 10, as in the paper), none, or a
    number."""
    guide: bool = False
    """Let the policy see how far the demo has been followed; for matchers and contexts that do not look ahead."""
    pretrain: str | None = None
    """A matcher to train with first, such as temporal_ot."""
    pretrain_fraction: float = 0.5
    """Share of the steps for which that is done."""
    critic_only: float = 0.0
    """After pretraining, steps for which only the critic learns the new reward; below 1, a share of the stage."""
    keep_replay: bool = False
    """The second stage begins with an empty replay, as in the paper; True relabels what the first one played."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "temperature", Ramp.parse(self.temperature, "temperature"))
        object.__setattr__(self, "scale", Scale.parse(self.scale))
        require("pool", self.pool, POOLS)
        require("stability", self.stability, at_least=0)
        require("pretrain_fraction", self.pretrain_fraction, above=0, below=1)
        share_or_count("critic_only", self.critic_only)
        if self.pretrain is not None:
            require("pretrain", self.pretrain, tuple(MATCHERS))
        given = self.extra_settings()
        if self.reward != VIDEO:
            if self.reward in IMITATORS:
                self.own_settings()
            elif self.reward != FOLLOW and not all(self.reward.partition(":")):
                named = (VIDEO, FOLLOW, *IMITATORS)
                raise ValueError(
                    f"reward is {self.reward!r};{near_miss(self.reward, named)} give {', '.join(named)}, or one of "
                    "your own as module:Class."
                )
            return
        known = {name for matcher in self.matchers for name in known_settings(matcher)}
        for name in given:
            if name not in known:
                raise ValueError(
                    f"no matcher of this run has a setting {name!r};{near_miss(name, known)} "
                    f"Known: {', '.join(sorted(known))}."
                )
        for matcher in self.matchers:
            self.video_settings(matcher)

    @property
    def matchers(self) -> tuple[str, ...]:
        """The matchers of the stages, in order."""
        return (self.matcher,) if self.pretrain is None else (self.pretrain, self.matcher)

    def extra_settings(self) -> dict[str, Any]:
        """The settings given as name=value.

        >>> RewardConfig(matcher="temporal_ot", set=("window=3", "band=blocks")).extra_settings()
        {'window': 3, 'band': 'blocks'}
        """
        return dict(_setting(text) for text in self.set)

    def own_settings(self, **rest: Any) -> Any:
        """Those of a reward of `IMITATORS`, with `rest` where `set` says nothing.

        >>> RewardConfig("gaifo", set=("every=2",)).own_settings(seed=7).plain()["every"]
        2
        """
        kind: Any = pkgutil.resolve_name(IMITATORS[self.reward])
        return settings_from(kind, {**rest, **self.extra_settings()})

    def video_settings(self, matcher: str) -> RewardSettings:
        """Those of the reward of a stage: what its matcher knows nothing of is left out.

        >>> RewardConfig(temperature=Ramp(0.5, 0.5), floor=0.1).video_settings("orca").of_matcher("orca")
        {'temperature': 0.5, 'floor': 0.1}
        """
        known = known_settings(matcher)
        last = matcher == self.matcher
        return RewardSettings(
            self.distance,
            self.context,
            self.direction,
            matcher,
            self.calibrated and (last or calibrates(matcher)),
            self.pool if last else "auto",
            self.progress_in if last or "worth" in known else "frames",
            self.calibration_episodes,
            self.temperature,
            # Calibration finds a floor of its own, and refuses another one.
            None if self.calibrated and not self.floor else self.floor,
            self.guide and last,
            {name: value for name, value in self.extra_settings().items() if name in known},
        )


def plan_stages(config: RewardConfig, steps: int) -> tuple[tuple[int, int], ...]:
    """For each stage of a run of so many steps, the step at which it begins, and that from which its actor learns: its
    critic does not know the new reward at first.

    >>> plan_stages(RewardConfig(pretrain="temporal_ot", critic_only=0.1), 1000)
    ((0, 0), (500, 550))
    """
    if config.reward != VIDEO or config.pretrain is None:
        return ((0, 0),)
    switch = round(steps * config.pretrain_fraction)
    if switch == steps:
        return ((0, 0),)
    return (0, 0), (switch, switch + share_or_count("critic_only", config.critic_only, steps - switch))


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise ValueError(f"set is {text!r}; give name=value, such as window=3.")
    name, value = name.strip(), value.strip()
    known = {"true": True, "false": False, "none": None}
    if value.lower() in known:
        return name, known[value.lower()]
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return name, kind(value)
    return name, value
