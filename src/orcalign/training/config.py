"""Everything that decides what a run does: one frozen dataclass a topic, each field with its help.

The same fields are the options of `orcalign train` and the keys of a run's `config.yaml`.
"""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass, field
from typing import Any

from orcalign.agents.settings import AgentSettings
from orcalign.encoders.registry import find_entry
from orcalign.envs import find_task
from orcalign.envs.demo_making import CATEGORIES
from orcalign.envs.making import check_render_choice
from orcalign.matching import MATCHERS
from orcalign.rewards.settings import UNITS, RewardSettings, check_matcher_settings, known_settings
from orcalign.training.ranges import Ramp, require, share_or_count

DEMO_KINDS = ("misaligned", "aligned", *CATEGORIES, "mixed")
LOOKS = ("whole", "square", "change", "object")
PLACES = ("all", "worst")
SCALES = ("first", "best", "none")
AUTO = "auto"
"""Pretraining of which the run itself finds the end."""
POLICY_INPUTS = ("states", "pixels")
NOISES = ("white", "pink")


@dataclass(frozen=True)
class DemoConfig:
    """The video that is imitated."""

    demo: tuple[str, ...] = ()
    """Demo videos or saved demos; left out, the task's scripted expert makes them."""
    demo_kind: str = "misaligned"
    """Of the expert's demos: misaligned (the paper's keep-list), aligned, fast-low, fast-high, slow-low, slow-high, or
    mixed (of the last four in turn)."""
    demos: int = 1
    """How many demos the expert makes."""
    demo_seed: int = 0
    """Number of the expert's first demo; another number, another episode."""

    def __post_init__(self) -> None:
        require("demo_kind", self.demo_kind, DEMO_KINDS)
        require("demos", self.demos, at_least=1)
        require("demo_seed", self.demo_seed, at_least=0)


@dataclass(frozen=True)
class RewardConfig:
    """How the video becomes a reward."""

    matcher: str = "orca"
    """One of `orcalign methods`."""
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
    temperature: str = "1.0"
    """Of methods that have one; lower is stricter. 1.0:0.25 falls from the first to the second during each stage."""
    floor: float = 0.0
    """Distance below which a frame counts as reached."""
    set: tuple[str, ...] = ()
    """Other settings of the method, as name=value; those that a stage's method does not have are not used there."""
    progress_in: str = "frames"
    """What orca_progress counts: frames of the demo, or (path) how much they change from one to the next, so that a
    pause is worth nothing and a jump much."""
    pool: str = "max"
    """Several demos: max at every step, or all rewards of the best demo."""
    scale: str = "first"
    """What rewards are multiplied by: first (the first episode with a reward sums to 10, as in the paper), best (the
    best episodes sum to 10), none, or a number."""
    pretrain: str | None = None
    """A method to train with first, such as temporal_ot; auto is temporal_ot until the agent's ordered coverage of the
    video has not risen for a tenth of the run."""
    pretrain_fraction: float = 0.5
    """Share of the steps for which that is done; with auto, at most."""
    critic_only: float = 0.0
    """After pretraining, steps for which only the critic learns the new reward; below 1, a share of the stage."""
    start_from: str | None = None
    """Another run's folder, whose networks this one begins with."""

    def __post_init__(self) -> None:
        if self.pretrain is not None:
            require("pretrain", self.pretrain, (AUTO, *MATCHERS))
        RewardSettings(self.distance, self.context, self.direction, self.matcher, False, self.pool)
        Ramp.parse("temperature", self.temperature, above=0)
        require("floor", self.floor, at_least=0)
        require("progress_in", self.progress_in, UNITS)
        require("calibration_episodes", self.calibration_episodes, at_least=0)
        require("pretrain_fraction", self.pretrain_fraction, above=0, below=1)
        share_or_count("critic_only", self.critic_only)
        if self.scale not in SCALES:
            self._fixed_scale()
        known = {name for matcher in self.matchers for name in known_settings(matcher)}
        for name in self.extra_settings():
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                hint = f" did you mean {near[0]!r}?" if near else ""
                raise ValueError(
                    f"no method of this run has a setting {name!r};{hint} Known: {', '.join(sorted(known))}."
                )
        for matcher in self.matchers:
            check_matcher_settings(matcher, self.settings_of(matcher), calibrated=False)

    @property
    def matchers(self) -> tuple[str, ...]:
        """The methods of the stages, in order."""
        if self.pretrain is None:
            return (self.matcher,)
        return ("temporal_ot" if self.pretrain == AUTO else self.pretrain, self.matcher)

    @property
    def fixed_scale(self) -> float | None:
        """The scale, if it is a number."""
        return (
            None if self.scale in ("first", "best") else 1.0 if self.scale == "none" else self._fixed_scale()
        )

    def ramp(self) -> Ramp:
        """The temperature over the run."""
        return Ramp.parse("temperature", self.temperature, above=0)

    def extra_settings(self) -> dict[str, Any]:
        """The settings given as name=value.

        >>> RewardConfig(matcher="temporal_ot", set=("window=3", "band=blocks")).extra_settings()
        {'window': 3, 'band': 'blocks'}
        """
        return dict(_setting(text) for text in self.set)

    def settings_of(self, matcher: str, temperature: float | None = None) -> dict[str, Any]:
        """What that method is called with, as far as it knows the settings; without those that calibration finds.

        >>> RewardConfig(temperature="0.5", floor=0.1).settings_of("orca")
        {'temperature': 0.5, 'floor': 0.1}
        """
        known = known_settings(matcher)
        given = self.extra_settings()
        if not self.calibrated:
            given = {"temperature": temperature or self.ramp().start, "floor": self.floor, **given}
        return {name: value for name, value in given.items() if name in known}

    def _fixed_scale(self) -> float:
        try:
            value = float(self.scale)
        except ValueError:
            value = math.nan
        if not 0 < value < math.inf:
            raise ValueError(
                f"scale is {self.scale!r}; it must be one of {', '.join(SCALES)}, or a number above 0."
            )
        return value


@dataclass(frozen=True)
class EncoderConfig:
    """What turns frames into features."""

    encoder: str = "efficientnet-lite0"
    """Name of the encoder; `orcalign doctor` lists them and says which can run here."""
    encoder_size: int | None = None
    """Side in pixels of what it sees; left out, its own."""
    weights: str | None = None
    """File, folder or hub name of its weights, where it needs one."""
    look: str = "whole"
    """What is compared: whole pictures; or (square), the nearer to the demo's end, the more a square of 3/8 of the
    picture that moves with the object; or (change), that and which of the object's pixels have changed; or (object),
    all that and where it has gone, if it is taken away. Where no object is found in the first frames, with several
    demos, and with videos of another size than the drawn frames, it is whole pictures."""
    places: str = "all"
    """Of the object's square: all its places count alike, or (worst) the quarter of them that differs most. With cosine
    distances."""
    engine: str = "auto"
    """auto, openvino, torch, torch-cuda or torch-mps."""
    encoder_threads: int = 1
    """Threads of the encoder in each collector; part of the config because sums round in another order with others."""

    def __post_init__(self) -> None:
        find_entry(self.encoder)
        require("look", self.look, LOOKS)
        require("places", self.places, PLACES)
        require("encoder_threads", self.encoder_threads, at_least=1)


@dataclass(frozen=True)
class CollectConfig:
    """How experience is gathered."""

    policy_input: str = "states"
    """What the policy sees: states, or pixels (three stacked 84x84 frames)."""
    render: str = "fast"
    """How MuJoCo scenes are drawn: fast, or paper."""
    frame_size: int | None = None
    """Side of the drawn frames; left out, that of the render mode."""
    in_flight: int = 1
    """Episodes that are played while the learner still learns from those before: episode k is played with the weights
    after the updates of episode k - 1 - in_flight. 0 waits, as the paper does."""
    random_steps: float = 2000
    """Agent steps with random actions first; below 1, a share of the run."""
    learning_starts: int = 500
    """Agent steps before the first update."""
    updates_per_step: float = 0.5
    """Updates for each agent step."""
    noise: str = "white"
    """Exploration noise: white (independent at every step) or pink (correlated in time: it goes somewhere)."""
    noise_start: float = 0.4
    """Standard deviation of the exploration noise at the beginning; actions are between -1 and 1."""
    noise_end: float = 0.0
    """And at the end, linearly in between."""
    replay: int = 150_000
    """Transitions that are kept; the oldest episodes go first."""
    relabel_every: int = 25
    """Episodes after which rewards follow a changing temperature or scale, for the whole replay."""

    def __post_init__(self) -> None:
        require("policy_input", self.policy_input, POLICY_INPUTS)
        check_render_choice(self.render)
        require("noise", self.noise, NOISES)
        share_or_count("random_steps", self.random_steps)
        for name in ("in_flight", "learning_starts"):
            require(name, getattr(self, name), at_least=0)
        for name in ("replay", "relabel_every"):
            require(name, getattr(self, name), at_least=1)
        require("updates_per_step", self.updates_per_step, above=0)
        for name in ("noise_start", "noise_end"):
            require(name, getattr(self, name), at_least=0)


@dataclass(frozen=True)
class EvaluationConfig:
    """How the policy is judged: deterministic, on seeds that training never sees."""

    eval_every: int = 10_000
    """Agent steps between evaluations; there is one before the first step and one after the last, too."""
    eval_episodes: int = 10
    """Episodes of each."""
    eval_shown: int = 2
    """Of these, how many are kept as videos."""
    eval_choosing: int = 5
    """More episodes, on seeds of their own: the best checkpoint is the one that covers the video best there. With 0 it
    is chosen by the episodes that are reported."""

    def __post_init__(self) -> None:
        require("eval_every", self.eval_every, at_least=1)
        require("eval_episodes", self.eval_episodes, at_least=1)
        for name in ("eval_shown", "eval_choosing"):
            require(name, getattr(self, name), at_least=0)


@dataclass(frozen=True)
class TrainConfig:
    """A run.

    >>> TrainConfig(task="nav2d", steps=300).reward.matcher
    'orca'
    """

    task: str
    """A task of `orcalign tasks`, another Meta-world task, a Gymnasium id, or module:function."""
    steps: int = 1_000_000
    """Agent steps."""
    seed: int = 0
    """Of the run: networks, exploration and training episodes."""
    threads: int = 1
    """Threads of the learner; part of the config because sums round in another order with others."""
    demo: DemoConfig = field(default_factory=DemoConfig)
    reward: RewardConfig = field(default_factory=RewardConfig)
    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    agent: AgentSettings = field(default_factory=AgentSettings)
    collect: CollectConfig = field(default_factory=CollectConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)

    def __post_init__(self) -> None:
        spec = find_task(self.task)
        require("steps", self.steps, at_least=1)
        require("seed", self.seed, at_least=0)
        require("threads", self.threads, at_least=1)
        if not self.demo.demo and spec.misaligned is None and self.demo.demo_kind == "misaligned":
            raise ValueError(
                f"task {self.task!r} has no misaligned demo of its own; give a video with --demo, "
                f"or another --demo-kind: {', '.join(DEMO_KINDS[1:])}."
            )
        if self.encoder.places == "worst":
            for name, value, needed in (
                ("look", self.encoder.look, ("object", "change", "square")),
                ("distance", self.reward.distance, ("cosine",)),
            ):
                if value not in needed:
                    raise ValueError(
                        f"places is 'worst', which picks among the places of the object's square by their cosines, and "
                        f"{name} is {value!r}; use --{name} {needed[0]}, or --places all."
                    )


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip() or not value.strip():
        raise ValueError(f"set is {text!r}; give name=value, such as window=3.")
    known = {"true": True, "false": False, "none": None}
    if value.strip().lower() in known:
        return name.strip(), known[value.strip().lower()]
    for kind in (int, float):
        try:
            return name.strip(), kind(value)
        except ValueError:
            continue
    return name.strip(), value.strip()
